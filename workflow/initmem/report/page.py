"""The report: one page, readable offline and without having read the paper.

It is built from the tables of a study and its figures; the words that depend on the data are made
here, the rest stands in the template.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from initmem.analysis.claims import (
    FORGETS_PP,
    NOT_REPRODUCED,
    NOT_RUN,
    REMEMBERS_PP,
    REPRODUCED,
    UNDECIDED,
    Judgement,
    judge_remembers,
    judge_row,
    served,
)
from initmem.analysis.tables import FITS, undefined_reason
from initmem.files import atomic_write, read_json
from initmem.study.run import Run
from initmem.study.study import Study
from initmem.wording import duration

MARKS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", UNDECIDED: "?", NOT_RUN: "○"}
"""A sign for each verdict, beside its words and its colour."""
MOST_LISTED = 4
"""Regimes that the finding names one by one; of more it gives the number and the extremes."""
NONE = "–"
"""What an empty cell of a table shows."""
ALTERNATIVES = {
    "accuracy_by_scale": "Line chart of test accuracy in percent against initialization scale",
    "spread_by_regime": "Dot chart of the spread in percentage points of each regime",
    "spread_by_clock": "Scatter chart of the spread in percentage points against the clock",
    "memory_by_clock": "Scatter chart of the memory relative to that of low-learning-rate SGD"
    " against the clock, with a falling fitted curve",
    "accuracy_over_epochs": "Line charts of training and validation accuracy in percent over"
    " epochs, a line for each initialization scale, a row of panels for each length of training",
    "weights_over_epochs": "Line charts of the weights' norm and of their cosine with the initial"
    " weights over epochs, a line for each initialization scale, a row of panels for each regime",
    "what_is_scaled": "Line chart of test accuracy in percent against initialization scale, a line"
    " for each part of the network that is scaled",
}
"""What each figure is, for those who do not see it; the tables give its numbers."""
ANALYSIS_PACKAGES = ("numpy", "pandas", "scipy", "matplotlib")


def write_report(
    page: Path,
    study: Study,
    runs: pd.DataFrame,
    spreads: pd.DataFrame,
    claims: pd.DataFrame,
    figures: Mapping[str, Path],
    timings: Iterable[Path],
    template: Path,
) -> None:
    """Write the page of a study: one HTML file that loads nothing, whole or not at all.

    `figures` maps names to SVG files; a caption is read from `<name>.rst` beside the template. A
    figure or timing file that does not exist is said to be missing. Raises UserError for a timing
    file that is unreadable.
    """
    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template(template.name).render(
        title=study.title,
        name=study.name,
        counts=dict(Counter(runs["status"])),
        n_runs=len(runs),
        finding=_unbroken(finding(study, runs, spreads)),
        claims=[_claim(row) for _, row in claims.iterrows()],
        figures=[_figure(name, path, template.parent) for name, path in figures.items()],
        configurations=[_configuration(row) for _, row in spreads.iterrows()],
        one_seed=[_one_seed(row) for _, row in spreads[spreads["n_seeds"] == 1].iterrows()],
        gaps={status: gaps(study, runs, status) for status in ("missing", "diverged")},
        data=_data(study),
        effort=effort(timings),
        analysis=[(package, version(package)) for package in ANALYSIS_PACKAGES],
        fits=f"{FITS:.1%}",
        remembers_pp=f"{REMEMBERS_PP:g}",
        forgets_pp=f"{FORGETS_PP:g}",
    )
    with atomic_write(page) as file:
        file.write(html.encode())


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


def _unbroken(text: str) -> str:
    """A text whose numbers stay on one line with their units."""
    return text.replace(" pp", "\u00a0pp").replace(" %", "\u00a0%")


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
    return f"{spread}, 95 % interval {_interval(row['lo_pp'], row['hi_pp'])} pp"


def _forgetting_words(row: pd.Series) -> str:
    """The same in short, for regimes that are set against one told in full."""
    if isnan(row["spread_pp"]):
        return undefined_reason(row)
    if isnan(row["lo_pp"]):
        return f"{row['spread_pp']:.1f} pp, one seed"
    return f"{row['spread_pp']:.1f} pp, {_interval(row['lo_pp'], row['hi_pp'])} pp"


def _extremes(known: pd.DataFrame) -> str:
    largest = known.loc[known["spread_pp"].idxmax()]
    smallest = known.loc[known["spread_pp"].idxmin()]
    first = f"the initialization matters most with “{largest['label']}” ({_spread_words(largest)})"
    if len(known) == 1:
        return f"only “{largest['label']}” has been measured ({_spread_words(largest)})"
    return f"{first} and least with “{smallest['label']}” ({_forgetting_words(smallest)})"


def _claim(row: pd.Series) -> dict[str, Any]:
    unit = "pp" if str(row["unit"]).startswith("pp") else ""
    decimals = 1 if unit else 2
    return {
        **{key: _text(row[key]) for key in ("id", "claim", "text", "paper_value", "unit", "rule")},
        "measured": _number(row["measured"], decimals, unit),
        "interval": _with_unit(_interval(row["lo"], row["hi"], decimals), unit),
        "verdict": row["verdict"],
        "kind": str(row["verdict"]).replace(" ", "-"),
        "mark": MARKS[row["verdict"]],
        "note": _text(row["note"]),
        "n_runs": int(row["n_runs"]),
        "n_missing": int(row["n_missing"]),
    }


def _figure(name: str, path: Path, captions: Path) -> dict[str, str | None]:
    """A figure as a data address: ids inside one SVG cannot clash with those of another."""
    caption = captions / f"{name}.rst"
    source = None
    if path.exists():
        source = f"data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode()}"
    return {
        "name": name,
        "source": source,
        "alternative": ALTERNATIVES.get(name, name.replace("_", " ")),
        "caption": " ".join(caption.read_text(encoding="utf-8").split()),
    }


def _configuration(row: pd.Series) -> dict[str, Any]:
    """A row of the table of configurations, as texts without units; the head names these."""
    return {
        "label": str(row["label"]),
        "id": row["configuration"],
        "n_scales": int(row["n_scales"]),
        "n_seeds": int(row["n_seeds"]),
        "spread": _number(row["spread_pp"], 1),
        "reason": undefined_reason(row),
        "interval": _interval(row["lo_pp"], row["hi_pp"]),
        "noise_floor": _number(row["noise_floor_pp"], 1),
        "p_value": _p_value(row["p_value"]),
        "n_interpolating": int(row["n_interpolating"]),
        "spread_interpolating": _number(row["spread_interpolating_pp"], 1),
        "min_train_acc": _number(100 * row["min_train_acc_final"], 1),
        "mean_test_acc": _number(100 * row["mean_test_acc"], 1),
        "best_test_acc": _number(100 * row["best_test_acc"], 1),
        "disagreement": _number(100 * row["disagreement"], 1),
        "disagreement_seeds": _number(100 * row["disagreement_seeds"], 1),
        "clock": _clock(row),
        "unbalanced": _scales(row["scales_unbalanced"]),
        "empty": _scales(row["scales_without_valid_run"]),
    }


def _clock(row: pd.Series) -> str:
    """A clock may need what a finished run tells; beyond that, some optimizers have none stated."""
    if isnan(row["clock"]):
        return "not stated" if row["n_scales"] else NONE
    return f"{row['clock']:.2g}"


def _one_seed(row: pd.Series) -> dict[str, str]:
    return {
        "label": str(row["label"]),
        "spread": _number(row["spread_pp"], 1),
        "images": _interval(row["images_lo_pp"], row["images_hi_pp"]),
    }


def gaps(study: Study, runs: pd.DataFrame, status: str) -> list[str]:
    """The runs of a status (`missing`, `diverged`) by name: a line for each configuration."""
    lines = []
    for configuration, planned in runs.groupby("configuration", sort=False):
        having = planned[planned["status"] == status]
        if having.empty:
            continue
        label = study.label(configuration)
        if len(having) == len(planned):
            lines.append(f"{label}: all {len(planned)} runs")
            continue
        cells = [
            f"scale {scale:g} (seed {', '.join(str(seed) for seed in rows['seed'])})"
            for scale, rows in having.groupby("init_scale")
        ]
        lines.append(f"{label}: {'; '.join(cells)}")
    return lines


def _data(study: Study) -> list[dict[str, Any]]:
    """The prepared data sets that the runs read, each once."""
    used: dict[str, Run] = {run.dataset_id: run for run in study.runs.values()}
    return [
        {
            "id": name,
            "size": run.dataset_facts.image_size,
            "channels": run.dataset_facts.channels,
            "classes": run.dataset_facts.classes,
            "train": run.train_size,
            "validation": run.dataset_facts.validation,
            "split": run.split,
            "sha256": run.values()["data_sha256"],
        }
        for name, run in used.items()
    ]


def effort(timings: Iterable[Path]) -> dict[str, Any]:
    """What the study's runs took, summed, on what, and with which versions; no host is named.

    Runs are shared by studies, so the sum also counts runs that were trained for another one.
    """
    paths = list(timings)
    records = [read_json(path) for path in paths if path.exists()]
    parts = ("startup", "training", "evaluation")
    seconds = {part: sum(record[f"seconds_{part}"] for record in records) for part in parts}
    rates = [record["samples_per_second"] for record in records]
    return {
        "n_records": len(records),
        "n_without": len(paths) - len(records),
        **{part: duration(seconds[part]) for part in parts},
        "total": duration(sum(seconds.values())),
        "rate": _rate(rates),
        "used": {
            name: _distinct(records, key)
            for name, key in (
                ("Device", "device"),
                ("Threads of a run", "threads"),
                ("Python", "python"),
                ("torch", "torch"),
                ("NumPy", "numpy"),
                ("Commit of the code (+: changed since)", "commit"),
            )
        },
    }


def _distinct(records: Sequence[Mapping[str, Any]], key: str) -> str:
    """The values of a key; how many runs had each, where they differ."""
    counts = Counter("unknown" if record[key] is None else str(record[key]) for record in records)
    if len(counts) < 2:
        return next(iter(counts), NONE)
    return ", ".join(f"{value} ({count} runs)" for value, count in counts.most_common())


def _rate(rates: Sequence[float]) -> str:
    if not rates:
        return NONE
    return f"{pd.Series(rates).median():,.0f} (from {min(rates):,.0f} to {max(rates):,.0f})"


def _number(value: float, decimals: int, unit: str = "") -> str:
    if isnan(value):
        return NONE
    # Adding zero turns a rounded -0.0 into 0.0.
    return _with_unit(f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−"), unit)


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit and text != NONE else text


def _interval(lo: float, hi: float, decimals: int = 1) -> str:
    if isnan(lo) or isnan(hi):
        return NONE
    return f"{_number(lo, decimals)} to {_number(hi, decimals)}"


def _p_value(value: float) -> str:
    if isnan(value):
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _text(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _scales(value: Any) -> str:
    """Scales as listed in spread.csv, where a single one reads back as a number."""
    return ", ".join(f"{float(scale):g}" for scale in _text(value).split())
