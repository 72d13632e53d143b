"""Choosing the validation-selected epoch of a run."""

from collections.abc import Iterable
from math import isnan


def is_better(candidate: float, best: float | None) -> bool:
    """Whether a validation accuracy beats the best so far: NaN never does, a tie neither."""
    return not isnan(candidate) and (best is None or candidate > best)


def select_epoch(history: Iterable[tuple[int, float]]) -> int | None:
    """The epoch with the best validation accuracy, ties to the earliest (paper.md, The setting).

    `history` gives (epoch, validation accuracy) in order. None when no accuracy is a number.
    """
    chosen, best = None, None
    for epoch, accuracy in history:
        if is_better(accuracy, best):
            chosen, best = epoch, accuracy
    return chosen
