"""The report: one page, readable offline and without having read the paper.

It is built from the tables of a study and its figures; the words that depend on the data are made
here, the rest stands in the template.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from initmem.analysis.rules import (
    FORGETS_PP,
    NOT_REPRODUCED,
    NOT_RUN,
    REMEMBERS_PP,
    REPRODUCED,
    UNDECIDED,
)
from initmem.analysis.tables import FITS, undefined_reason
from initmem.files import atomic_write
from initmem.report import cells
from initmem.report.effort import effort
from initmem.report.finding import finding
from initmem.study.run import Run
from initmem.study.study import Study

MARKS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", UNDECIDED: "?", NOT_RUN: "○"}
"""A sign for each verdict, beside its words and its colour."""
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
CLAIM_TEXTS = ("id", "claim", "text", "paper_value", "unit", "rule")
"""The columns of claims.csv that the page shows as they are."""
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


def _unbroken(text: str) -> str:
    """A text whose numbers stay on one line with their units."""
    return text.replace(" pp", "\u00a0pp").replace(" %", "\u00a0%")


def _claim(row: pd.Series) -> dict[str, Any]:
    unit = "pp" if str(row["unit"]).startswith("pp") else ""
    decimals = 1 if unit else 2
    return {
        **{
            key: cells.text(row[key])
            for key in ("id", "claim", "text", "paper_value", "unit", "rule")
        },
        "measured": cells.number(row["measured"], decimals, unit),
        "interval": cells.with_unit(cells.interval(row["lo"], row["hi"], decimals), unit),
        "verdict": row["verdict"],
        "kind": str(row["verdict"]).replace(" ", "-"),
        "mark": MARKS[row["verdict"]],
        "note": cells.text(row["note"]),
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
        "spread": cells.number(row["spread_pp"], 1),
        "reason": undefined_reason(row),
        "interval": cells.interval(row["lo_pp"], row["hi_pp"]),
        "noise_floor": cells.number(row["noise_floor_pp"], 1),
        "p_value": cells.p_value(row["p_value"]),
        "n_interpolating": int(row["n_interpolating"]),
        "spread_interpolating": cells.number(row["spread_interpolating_pp"], 1),
        "min_train_acc": cells.number(100 * row["min_train_acc_final"], 1),
        "mean_test_acc": cells.number(100 * row["mean_test_acc"], 1),
        "best_test_acc": cells.number(100 * row["best_test_acc"], 1),
        "disagreement": cells.number(100 * row["disagreement"], 1),
        "disagreement_seeds": cells.number(100 * row["disagreement_seeds"], 1),
        "clock": _clock(row),
        "unbalanced": cells.scales(row["scales_unbalanced"]),
        "empty": cells.scales(row["scales_without_valid_run"]),
    }


def _clock(row: pd.Series) -> str:
    """A clock may need what a finished run tells; beyond that, some optimizers have none stated."""
    if isnan(row["clock"]):
        return "not stated" if row["n_scales"] else cells.NONE
    return f"{row['clock']:.2g}"


def _one_seed(row: pd.Series) -> dict[str, str]:
    return {
        "label": str(row["label"]),
        "spread": cells.number(row["spread_pp"], 1),
        "images": cells.interval(row["images_lo_pp"], row["images_hi_pp"]),
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
        lacking = [
            f"scale {scale:g} (seed {', '.join(str(seed) for seed in rows['seed'])})"
            for scale, rows in having.groupby("init_scale")
        ]
        lines.append(f"{label}: {'; '.join(lacking)}")
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
