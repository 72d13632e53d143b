"""The finding of a study in one sentence, whatever the data say."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import isnan

import pandas as pd

from initmem.analysis.claims import judge_row, served
from initmem.analysis.rules import (
    NOT_REPRODUCED,
    NOT_RUN,
    REMEMBERS_PP,
    REPRODUCED,
    UNDECIDED,
    Judgement,
    judge_remembers,
)
from initmem.analysis.tables import FITS, undefined_reason
from initmem.report import cells
from initmem.study.study import Study

MOST_LISTED = 4
"""Regimes that the finding names one by one; of more it gives the number and the extremes."""


def finding(study: Study, runs: pd.DataFrame, spreads: pd.DataFrame) -> str:
    """The study's finding in one sentence, whatever the data say, complete or not.

    It sets the regimes put forward as remembering (claim C1) against those put forward as
    forgetting (C3, C4), each by the rule of its claim; without such claims it gives the extremes.
    """
    known = spreads.dropna(subset=["spread_pp"])
    counts = Counter(runs["status"])
    if known.empty:
        return _no_finding(counts, spreads)
    remembering = served(study, spreads, "C1")
    parts = _remembering_parts(remembering)
    if not parts:
        parts = [_extremes(known)]
    else:
        parts += _forgetting_parts(study, spreads, remembering)
    sentence = "; ".join(parts) + "."
    if counts["missing"]:
        so_far = (
            f"So far, with {len(runs) - counts['missing']} of {len(runs)} planned runs finished"
        )
        return f"{so_far}: {sentence}"
    return sentence[0].upper() + sentence[1:]


def _no_finding(counts: Mapping[str, int], spreads: pd.DataFrame) -> str:
    planned = sum(counts.values())
    if counts["missing"] == planned:
        return f"There is no finding yet: none of the {planned} planned runs has finished."
    finished = f"{planned - counts['missing']} of {planned} planned runs have finished"
    if not counts["done"]:
        return f"There is no finding: {finished}, and all of them diverged."
    reasons = dict.fromkeys(undefined_reason(row) for _, row in spreads.iterrows())
    return f"There is no finding yet: {finished}, but none gives a spread ({', '.join(reasons)})."


def _remembering_parts(rows: pd.DataFrame) -> list[str]:
    wording = {
        REPRODUCED: "{it} is remembered by {regimes}",
        UNDECIDED: "whether {it} is remembered stays open for {regimes}",
        NOT_REPRODUCED: "{it} is not remembered by {regimes},"
        f" where {REMEMBERS_PP:g} pp would count",
        NOT_RUN: "whether {it} is remembered cannot be said for {regimes}",
    }
    return _by_verdict(rows, judge_remembers, wording, _remembering_words)


def _forgetting_parts(study: Study, spreads: pd.DataFrame, remembering: pd.DataFrame) -> list[str]:
    """The regimes expected to forget, by verdict; bare numbers where nothing is remembered."""
    erased, forgetting = served(study, spreads, "C3"), served(study, spreads, "C4")
    rows = pd.concat([erased, forgetting]).drop_duplicates("configuration")
    verdicts = [judge_row("C1", row, remembering).verdict for _, row in remembering.iterrows()]
    if REPRODUCED not in verdicts:
        expected = _listed(rows, _forgetting_words)
        return [f"the regimes expected to forget it: {expected}"] if len(rows) else []
    of_claim_3 = set(erased["configuration"])

    def judge(row: pd.Series) -> Judgement:
        return judge_row("C3" if row["configuration"] in of_claim_3 else "C4", row, remembering)

    wording = {
        REPRODUCED: "it is largely forgotten by {regimes}",
        NOT_REPRODUCED: "it is not forgotten by {regimes}",
        UNDECIDED: "whether it is forgotten stays open for {regimes}",
        NOT_RUN: "nothing can be said of {regimes}",
    }
    return _by_verdict(rows, judge, wording, _forgetting_words)


def _by_verdict(
    rows: pd.DataFrame,
    judge: Callable[[pd.Series], Judgement],
    wording: Mapping[str, str],
    describe: Callable[[pd.Series], str],
) -> list[str]:
    """A clause for each verdict that some row has, in the order of the wording.

    The first says in full what "it" is.
    """
    verdicts = [
        NOT_RUN if isnan(row["spread_pp"]) else judge(row).verdict for _, row in rows.iterrows()
    ]
    clauses: list[str] = []
    for verdict, clause in wording.items():
        if verdict in verdicts:
            chosen = rows[[given == verdict for given in verdicts]]
            it = "it" if clauses else "the scale of the initialization"
            clauses.append(clause.format(it=it, regimes=_listed(chosen, describe)))
    return clauses


def _listed(rows: pd.DataFrame, describe: Callable[[pd.Series], str]) -> str:
    """Regimes by name with their spreads, or their number and extremes when they are many."""
    if len(rows) > MOST_LISTED:
        known = rows["spread_pp"].dropna()
        extremes = f" (spread {known.min():.1f} to {known.max():.1f} pp)" if len(known) else ""
        return f"{len(rows)} configurations{extremes}"
    names = [f"“{row['label']}” ({describe(row)})" for _, row in rows.iterrows()]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _remembering_words(row: pd.Series) -> str:
    if isnan(row["spread_pp"]):
        return undefined_reason(row)
    words = _spread_words(row)
    if row["min_train_acc_final"] < FITS:
        words += ", but it does not fit the training set at every scale"
    return words


def _spread_words(row: pd.Series) -> str:
    spread = f"spread of test accuracy {row['spread_pp']:.1f} pp"
    if isnan(row["lo_pp"]):
        return f"{spread}, one seed, so no interval"
    return f"{spread}, 95 % interval {cells.interval(row['lo_pp'], row['hi_pp'])} pp"


def _forgetting_words(row: pd.Series) -> str:
    """The same in short, for regimes that are set against one told in full."""
    if isnan(row["spread_pp"]):
        return undefined_reason(row)
    if isnan(row["lo_pp"]):
        return f"{row['spread_pp']:.1f} pp, one seed"
    return f"{row['spread_pp']:.1f} pp, {cells.interval(row['lo_pp'], row['hi_pp'])} pp"


def _extremes(known: pd.DataFrame) -> str:
    largest = known.loc[known["spread_pp"].idxmax()]
    smallest = known.loc[known["spread_pp"].idxmin()]
    first = f"the initialization matters most with “{largest['label']}” ({_spread_words(largest)})"
    if len(known) == 1:
        return f"only “{largest['label']}” has been measured ({_spread_words(largest)})"
    return f"{first} and least with “{smallest['label']}” ({_forgetting_words(smallest)})"
