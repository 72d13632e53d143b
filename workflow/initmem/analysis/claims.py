"""The paper's claims: what each says, the rows of spread.csv that bear on it, and its verdict.

Each claim is judged from the configurations that a study's sweeps put forward for it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan

import pandas as pd

from initmem.analysis.rules import (
    FORGETS_PP,
    NOT_REPRODUCED,
    NOT_RUN,
    REMEMBERS_PP,
    REPRODUCED,
    UNCHANGED_PP,
    UNDECIDED,
    Judgement,
    judge_clock,
    judge_erased,
    judge_forgets,
    judge_remembers,
    judge_trade_off,
    judge_unchanged,
    not_run,
)
from initmem.analysis.tables import FITS, LONGER, alike, wholly_scaled
from initmem.study.study import Study

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
        return not_run("no spread was measured for it in this study")
    remembering = served(study, spreads, "C1")
    judgements = [judge_row(claim, row, remembering) for _, row in rows.iterrows()]
    return _combine(judgements, list(rows["label"]))


def judge_row(claim: str, row: pd.Series, remembering: pd.DataFrame) -> Judgement:
    """A claim of C1 to C4 for one configuration; `remembering` are the rows put forward for C1."""
    if isnan(row["spread_pp"]):
        return not_run("no spread was measured")
    if claim == "C1":
        return judge_remembers(row)
    if claim == "C4":
        return judge_forgets(row)
    reference = reference_for(row, remembering, LONGER if claim == "C2" else REGIME)
    if reference is None:
        return not_run("C1 was not measured in the same setting, so there is no comparison")
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
