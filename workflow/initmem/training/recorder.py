"""What a training has shown so far: its history, its best epoch, and whether it diverged."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan, nan
from typing import Any

import torch

from initmem.study.selection import is_better


class Recorder:
    """The rows of history.csv, and the epoch that validation selects among them.

    `best` holds that epoch, its val_acc and the network's state then; None before the first.
    """

    def __init__(
        self, history: Sequence[dict[str, Any]] = (), best: dict[str, Any] | None = None
    ) -> None:
        self.history, self.best = list(history), best

    def add(
        self, row: Mapping[str, float], copy_weights: Callable[[], dict[str, torch.Tensor]]
    ) -> None:
        """Add the row of an evaluated epoch; where it is the best so far, keep its weights.

        What is not finite becomes NaN, an empty cell of the table.
        """
        self.history.append({k: v if isfinite(v) else nan for k, v in row.items()})
        if self.diverged_epoch is not None:
            return
        if is_better(row["val_acc"], self.best and self.best["val_acc"]):
            self.best = {
                "epoch": row["epoch"],
                "val_acc": row["val_acc"],
                "model": copy_weights(),
            }

    @property
    def diverged_epoch(self) -> int | None:
        """The last epoch, if a loss is not finite there; None otherwise."""
        if not self.history:
            return None
        last = self.history[-1]
        return last["epoch"] if isnan(last["train_loss"]) or isnan(last["val_loss"]) else None
