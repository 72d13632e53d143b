"""Trainings in tests use one CPU thread: the golden runs and the comparisons of bytes need it."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)
