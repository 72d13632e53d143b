"""The record of a training: its best epoch so far, and its divergence."""

from math import inf, isnan, nan

import pytest

from initmem.training.recorder import Recorder


def record(*rows: tuple[float, float, float]) -> Recorder:
    """A record of epochs 1, 2, ... with these train_loss, val_loss, val_acc; weights are epochs."""
    recorder = Recorder()
    for epoch, (train_loss, val_loss, val_acc) in enumerate(rows, start=1):
        row = {"epoch": epoch, "train_loss": train_loss, "val_loss": val_loss, "val_acc": val_acc}
        recorder.add(row, lambda epoch=epoch: {"epoch": epoch})
    return recorder


def test_the_weights_kept_are_those_of_the_best_epoch_and_of_the_earliest_of_equals():
    best = record((1, 1, 0.5), (1, 1, 0.7), (1, 1, 0.7), (1, 1, 0.6)).best
    assert best == {"epoch": 2, "val_acc": 0.7, "model": {"epoch": 2}}


@pytest.mark.parametrize("losses", [(nan, 1), (1, nan), (inf, 1), (1, inf)])
def test_an_epoch_whose_loss_is_not_finite_diverged_and_is_never_the_best(losses):
    recorder = record((1, 1, 0.5), (*losses, 0.9))
    assert recorder.diverged_epoch == 2
    assert recorder.best["epoch"] == 1
    assert isnan(recorder.history[-1]["train_loss"]) or isnan(recorder.history[-1]["val_loss"])


def test_while_every_loss_is_finite_nothing_diverged():
    assert Recorder().diverged_epoch is None
    assert record((1, 1, 0.5), (2, 2, 0.5)).diverged_epoch is None
