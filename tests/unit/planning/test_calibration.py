"""A calibration times the trainer itself; a rough guess counts the network's arithmetic."""

import time

import pytest
import torch

from initmem.planning import calibration
from initmem.planning.calibration import calibrate, multiply_adds, rough_rates
from support import ENGINE, small_run


def test_a_calibration_measures_rates_start_up_and_memory(monkeypatch):
    monkeypatch.setattr(calibration, "SECONDS", 0.0)
    measured = calibrate(small_run(), ENGINE, time.monotonic())
    assert measured.pop("device").startswith("CPU")
    assert measured.pop("threads") == 1
    assert len(measured) == 4
    assert all(value >= 0 for value in measured.values())
    assert measured["train_images_per_second"] > 0


def test_multiply_adds_of_resnet9_are_those_of_its_convolutions_and_its_linear_layer():
    width, size, channels, classes = 4, 8, 1, 10
    convolutions = [
        (channels, width, size),
        (width, 2 * width, size),
        *[(2 * width, 2 * width, size // 2)] * 2,
        (2 * width, 4 * width, size // 2),
        (4 * width, 8 * width, size // 4),
        *[(8 * width, 8 * width, size // 8)] * 2,
    ]
    by_hand = sum(9 * inputs * outputs * side**2 for inputs, outputs, side in convolutions)
    assert multiply_adds(small_run(width=width)) == by_hand + 8 * width * classes


def test_twice_the_threads_are_guessed_to_be_twice_as_fast_and_a_gpu_is_not_guessed_at():
    cpu = torch.device("cpu")
    one, two = (rough_rates(small_run(), cpu, threads) for threads in (1, 2))
    assert two.train == pytest.approx(2 * one.train)
    assert rough_rates(small_run(), torch.device("cuda"), 1) is None
