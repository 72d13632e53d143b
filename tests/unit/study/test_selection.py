"""The validation-selected epoch: best accuracy, ties to the earliest, NaN never."""

from math import inf, nan

import pytest

from initmem.study.selection import is_better, select_epoch


@pytest.mark.parametrize(
    ("accuracies", "chosen"),
    [
        ([0.1, 0.5, 0.3], 2),
        ([0.5, 0.5, 0.5], 1),
        ([0.4, 0.5, 0.5], 2),
        ([nan, 0.5, 0.9], 3),
        ([0.5, nan, 0.9], 3),
        ([0.9, 0.5, nan], 1),
        ([nan, nan], None),
        ([], None),
        ([0.0], 1),
        ([-inf, 0.2], 2),
    ],
)
def test_the_best_epoch_is_chosen(accuracies, chosen):
    assert select_epoch(enumerate(accuracies, start=1)) == chosen


def test_epochs_keep_their_own_numbers():
    assert select_epoch([(5, 0.1), (10, 0.3), (15, 0.3)]) == 10


def test_nan_is_never_better_and_everything_else_is_better_than_nothing():
    assert not is_better(nan, None)
    assert not is_better(nan, 0.1)
    assert is_better(0.0, None)
    assert not is_better(0.5, 0.5)
