"""The rules by which a claim is judged (paper.md, fixed before any run): from numbers to verdicts.

Verdicts: reproduced; not reproduced (the opposite is shown); undecided (the interval straddles the
rule); not run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from initmem.analysis.statistics import LEVEL, RESAMPLES
from initmem.analysis.tables import FITS
from initmem.randomness import stream

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"

REMEMBERS_PP = 10.0
"""C1: the spread that counts as remembering."""
UNCHANGED_PP = 5.0
"""C2: the change of the spread that counts as none."""
ERASED_SHARE = 0.25
"""C3: the share of C1's spread below which memory counts as erased."""
FORGETS_PP = 1.5
"""C4: the spread below which SGD counts as forgetting."""
LEAST_CONFIGURATIONS = 4
"""C5, C6: a rank correlation over fewer configurations says nothing."""


@dataclass(frozen=True)
class Judgement:
    """What was measured for a claim, its interval (NaN: none), the verdict, and remarks on it."""

    measured: float
    lo: float
    hi: float
    verdict: str
    note: str = ""


def judge_remembers(row: pd.Series) -> Judgement:
    """C1 for one configuration."""
    verdict = _by_bounds(row["lo_pp"] >= REMEMBERS_PP, row["hi_pp"] < REMEMBERS_PP)
    return _judgement(row, verdict, [*_unfit(row), *_gaps(row)])


def judge_unchanged(short: pd.Series, long: pd.Series) -> Judgement:
    """C2: the spread after the long training minus that after the short one.

    The interval of the difference takes the far ends of the two 95 % intervals and so holds with
    at least 90 %. With one seed on a side there is none, so nothing is decided; the note then
    tells what test images alone say.
    """
    change = long["spread_pp"] - short["spread_pp"]
    lo = long["lo_pp"] - short["hi_pp"]
    hi = long["hi_pp"] - short["lo_pp"]
    inside = lo >= -UNCHANGED_PP and hi <= UNCHANGED_PP
    verdict = _by_bounds(inside, lo > UNCHANGED_PP or hi < -UNCHANGED_PP)
    doubts = [*_unfit(short), *_unfit(long), *_gaps(short), *_gaps(long)]
    notes = [f"spread {short['spread_pp']:.1f} pp, then {long['spread_pp']:.1f} pp", *doubts]
    if isnan(lo) or isnan(hi):
        notes.append("one seed gives no interval over seeds, so this stays undecided")
    else:
        notes.append("the interval holds with at least 90 %")
    if not isnan(long["images_lo_pp"]):
        images = f"{long['images_lo_pp']:.1f} to {long['images_hi_pp']:.1f} pp"
        notes.append(f"other test images alone would give the long run {images}")
    return Judgement(change, lo, hi, _doubted(verdict, doubts), "; ".join(notes))


def judge_erased(row: pd.Series, remembered_pp: float) -> Judgement:
    """C3 for one configuration, given C1's spread."""
    bound = ERASED_SHARE * remembered_pp
    return _judgement(row, _by_bounds(row["hi_pp"] <= bound, row["lo_pp"] > bound), _gaps(row))


def judge_forgets(row: pd.Series) -> Judgement:
    """C4 for one configuration."""
    verdict = _by_bounds(row["hi_pp"] <= FORGETS_PP, row["lo_pp"] > FORGETS_PP)
    return _judgement(row, verdict, _gaps(row))


def _unfit(row: pd.Series) -> list[str]:
    """A doubt where some scale does not fit the training set."""
    lowest = row["min_train_acc_final"]
    return [] if lowest >= FITS else [f"lowest training accuracy {lowest:.2%}: not fitted"]


def _gaps(row: pd.Series) -> list[str]:
    """A doubt where a planned scale has no valid run: what it would do is not known."""
    empty = row["scales_without_valid_run"]
    return [] if pd.isna(empty) or empty == "" else [f"no valid run at scale {empty}"]


def _doubted(verdict: str, doubts: list[str]) -> str:
    """A doubt keeps a claim from being shown, never its opposite."""
    return UNDECIDED if doubts and verdict == REPRODUCED else verdict


def judge_clock(table: pd.DataFrame) -> Judgement:
    """C5: correlation with the clock; lo and hi are of its strength beyond that with epochs."""
    rows = table.dropna(subset=["spread_pp", "clock"])
    if len(rows) < LEAST_CONFIGURATIONS:
        return _too_few(len(rows))
    spread, clock, epochs = (rows[c].to_numpy(float) for c in ("spread_pp", "clock", "epochs"))

    def excess(chosen: np.ndarray) -> float:
        with_clock = rank_correlation(spread[chosen], clock[chosen])
        return -with_clock - abs(rank_correlation(spread[chosen], epochs[chosen]))

    lo, hi = configuration_bootstrap(excess, len(rows))
    measured = rank_correlation(spread, clock)
    notes = [f"{len(rows)} configurations", "the interval is of its strength beyond epochs'"]
    doubts = [] if np.ptp(epochs) else ["all have the same epochs, so nothing is to be compared"]
    verdict = _doubted(_by_bounds(measured < 0 and lo > 0, hi < 0), doubts)
    return Judgement(measured, lo, hi, verdict, "; ".join([*notes, *doubts]))


def judge_trade_off(table: pd.DataFrame) -> Judgement:
    """C6: correlation of spread with the best test accuracy over scales."""
    rows = table.dropna(subset=["spread_pp", "best_test_acc"])
    if len(rows) < LEAST_CONFIGURATIONS:
        return _too_few(len(rows))
    spread, best = (rows[c].to_numpy(float) for c in ("spread_pp", "best_test_acc"))
    lo, hi = configuration_bootstrap(lambda i: rank_correlation(spread[i], best[i]), len(rows))
    verdict = _by_bounds(hi < 0, lo > 0)
    return Judgement(rank_correlation(spread, best), lo, hi, verdict, f"{len(rows)} configurations")


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation; 0 where one side does not vary, since it then orders nothing."""
    first, second = rankdata(first), rankdata(second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def configuration_bootstrap(
    statistic: Callable[[np.ndarray], float], count: int
) -> tuple[float, float]:
    """Percentile interval (95 %) of a statistic of indices when configurations are drawn anew."""
    draws = stream(0, "configuration bootstrap").integers(0, count, size=(RESAMPLES, count))
    values = [statistic(chosen) for chosen in draws]
    lo, hi = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(lo), float(hi)


def _by_bounds(shown: bool, opposite_shown: bool) -> str:
    if shown:
        return REPRODUCED
    return NOT_REPRODUCED if opposite_shown else UNDECIDED


def _judgement(row: pd.Series, verdict: str, doubts: list[str]) -> Judgement:
    verdict = _doubted(verdict, doubts)
    return Judgement(row["spread_pp"], row["lo_pp"], row["hi_pp"], verdict, "; ".join(doubts))


def not_run(reason: str) -> Judgement:
    """Nothing to judge; the note says why."""
    return Judgement(nan, nan, nan, NOT_RUN, reason)


def _too_few(count: int) -> Judgement:
    return not_run(f"{count} configurations with a spread; {LEAST_CONFIGURATIONS} are needed")
