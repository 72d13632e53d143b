"""Shared by all tests: one CPU thread, and the data prepared once."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """The prepared digits, made once for each worker."""
    from support import prepared_digits

    return prepared_digits(tmp_path_factory.mktemp("data"))
