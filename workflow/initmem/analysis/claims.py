"""The paper's claims and the rules by which they are judged (paper.md, fixed before any run).

Each claim is judged from the rows of spread.csv that a study's sweeps put forward for it. Verdicts:
reproduced; not reproduced (the opposite is shown); undecided (the interval straddles the rule);
not run.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from initmem.analysis.statistics import LEVEL, RESAMPLES
from initmem.analysis.tables import FITS, LONGER, alike, wholly_scaled
from initmem.randomness import stream
from initmem.study.study import Study

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
MOST_NOTED = 6
"""Configurations that the note to a claim names one by one; of more it counts the verdicts."""
REGIME = (
    "optimizer",
    "optimizer_args",
    "momentum",
    "lr",
    "weight_decay",
    "decayed",
    "epochs",
    "eval_every",
)
"""C3: the values in which a regime may differ from the one of C1 that it is compared with."""
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


@dataclass(frozen=True)
class Claim:
    """A claim of the paper: its short name, what it says, the paper's figure, and our rule."""

    id: str
    name: str
    text: str
    paper_value: str
    unit: str
    rule: str


CLAIMS = (
    Claim(
        "C1",
        "remembers",
        "Low-learning-rate SGD fits the training set at every scale and still remembers the scale.",
        "26.5",
        "pp of spread",
        f"lo ≥ {REMEMBERS_PP:g} pp and every scale fits (training accuracy ≥ {FITS:.1%})",
    ),
    Claim(
        "C2",
        "not undertraining",
        "Training many times longer leaves the memory essentially unchanged.",
        "about 0 (26 and 26.5)",
        "pp of change in spread",
        f"both fit, and the interval of the change lies within ±{UNCHANGED_PP:g} pp",
    ),
    Claim(
        "C3",
        "Adam forgets",
        "Optimizers of the Adam family largely erase the memory.",
        "no figure known",
        "pp of spread, the largest of them",
        "for each of them hi ≤ a quarter of C1's spread",
    ),
    Claim(
        "C4",
        "SGD can forget",
        "SGD forgets too when a larger learning rate meets explicit L2.",
        "0.3",
        "pp of spread",
        f"hi ≤ {FORGETS_PP:g} pp",
    ),
    Claim(
        "C5",
        "time scale",
        "The clock of forgetting is accumulated regularization, not epochs.",
        "a sign",
        "rank correlation of spread with the clock",
        "over the configurations that scale all weights: negative, and stronger than with epochs"
        " (interval of the difference above 0)",
    ),
    Claim(
        "C6",
        "trade-off",
        "Regularizers that generalize best erase the memory.",
        "a sign",
        "rank correlation of spread with the best test accuracy over scales",
        "over the configurations that scale all weights: interval below 0",
    ),
)


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


def claims_table(study: Study, spreads: pd.DataFrame) -> pd.DataFrame:
    """claims.csv: each claim with its rule, what was measured, the verdict, the runs behind it."""
    table = []
    for claim in CLAIMS:
        rows = served(study, spreads, claim.id)
        judgement = _judge(claim.id, study, spreads)
        table.append(
            {
                "id": claim.id,
                "claim": claim.name,
                "text": claim.text,
                "paper_value": claim.paper_value,
                "unit": claim.unit,
                "measured": judgement.measured,
                "lo": judgement.lo,
                "hi": judgement.hi,
                "rule": claim.rule,
                "verdict": judgement.verdict,
                "note": judgement.note,
                "n_runs": int(rows["n_runs"].sum()),
                "n_missing": int(rows["n_missing"].sum()),
            }
        )
    return pd.DataFrame(table)


def served(study: Study, spreads: pd.DataFrame, claim: str) -> pd.DataFrame:
    """The rows that bear on a claim: those its sweeps name.

    For a claim about the whole study (C5, C6) these are all that scale every weight.
    """
    if claim in ("C5", "C6"):
        return wholly_scaled(spreads)
    return spreads[spreads["configuration"].isin(study.serving(claim))]


def reference_for(row: pd.Series, candidates: pd.DataFrame, but: Iterable[str]) -> pd.Series | None:
    """The first candidate with a spread that equals `row` in data, model and the like, or None.

    `but` names the values of a configuration in which they may differ.
    """
    found = alike(row, candidates.dropna(subset=["spread_pp"]), but)
    return None if found.empty else found.iloc[0]


def _judge(claim: str, study: Study, spreads: pd.DataFrame) -> Judgement:
    if claim == "C5":
        return judge_clock(served(study, spreads, claim))
    if claim == "C6":
        return judge_trade_off(served(study, spreads, claim))
    rows = served(study, spreads, claim)
    if rows.empty or rows["spread_pp"].isna().all():
        return _not_run("no spread was measured for it in this study")
    remembering = served(study, spreads, "C1")
    judgements = [judge_row(claim, row, remembering) for _, row in rows.iterrows()]
    return _combine(judgements, list(rows["label"]))


def judge_row(claim: str, row: pd.Series, remembering: pd.DataFrame) -> Judgement:
    """A claim of C1 to C4 for one configuration; `remembering` are the rows put forward for C1."""
    if isnan(row["spread_pp"]):
        return _not_run("no spread was measured")
    if claim == "C1":
        return judge_remembers(row)
    if claim == "C4":
        return judge_forgets(row)
    reference = reference_for(row, remembering, LONGER if claim == "C2" else REGIME)
    if reference is None:
        return _not_run("C1 was not measured in the same setting, so there is no comparison")
    if claim == "C2":
        return judge_unchanged(reference, row)
    return judge_erased(row, reference["spread_pp"])


def _combine(judgements: list[Judgement], labels: list[str]) -> Judgement:
    """A claim about several configurations holds when it holds for each; the worst is shown."""
    order = (NOT_REPRODUCED, UNDECIDED, NOT_RUN, REPRODUCED)
    worst = min(judgements, key=lambda j: (order.index(j.verdict), -_finite(j.measured)))
    if len(judgements) == 1:
        return worst
    if len(judgements) > MOST_NOTED:
        counts = Counter(judgement.verdict for judgement in judgements)
        each = ", ".join(f"{counts[verdict]} {verdict}" for verdict in order if counts[verdict])
        each = f"{len(judgements)} configurations: {each}"
    else:
        each = "; ".join(
            f"{label}: {_pp(judgement.measured)}, {judgement.verdict}"
            for label, judgement in zip(labels, judgements, strict=True)
        )
    return Judgement(worst.measured, worst.lo, worst.hi, worst.verdict, each)


def _pp(value: float) -> str:
    return "no spread" if isnan(value) else f"{value:.1f} pp"


def _finite(value: float) -> float:
    return 0.0 if isnan(value) else value


def _by_bounds(shown: bool, opposite_shown: bool) -> str:
    if shown:
        return REPRODUCED
    return NOT_REPRODUCED if opposite_shown else UNDECIDED


def _judgement(row: pd.Series, verdict: str, doubts: list[str]) -> Judgement:
    verdict = _doubted(verdict, doubts)
    return Judgement(row["spread_pp"], row["lo_pp"], row["hi_pp"], verdict, "; ".join(doubts))


def _not_run(reason: str) -> Judgement:
    return Judgement(nan, nan, nan, NOT_RUN, reason)


def _too_few(count: int) -> Judgement:
    return _not_run(f"{count} configurations with a spread; {LEAST_CONFIGURATIONS} are needed")
