"""A change of what a training computes goes with a raised `protocol`, and the other way round."""

import json

import numpy as np
import pytest

from golden import FILE, RUNS, compute
from initmem.study.run import PROTOCOL

RECORDED = json.loads(FILE.read_text())

RELATIVE = 2e-3
"""Other processors sum in another order: the last bits differ, and a few steps enlarge that."""


@pytest.fixture(scope="module")
def computed(digits, tmp_path_factory):
    return compute(digits, tmp_path_factory.mktemp("golden"))


def test_the_golden_runs_are_of_this_protocol():
    assert RECORDED["protocol"] == PROTOCOL, "record them anew: make golden"


@pytest.mark.parametrize("name", RUNS)
def test_trainings_compute_what_they_did_under_this_protocol(computed, name):
    found, recorded = np.array(computed[name]), np.array(RECORDED["histories"][name])
    message = "results moved: if on purpose, raise PROTOCOL in study/run.py, then make golden"
    np.testing.assert_allclose(found, recorded, rtol=RELATIVE, err_msg=message)
