"""The tables of a study: planned runs, selected predictors, spread of each configuration."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from initmem.analysis.clocks import clocks
from initmem.analysis.statistics import (
    Layout,
    arrange,
    disagreement,
    image_bootstrap,
    measure_spread,
)
from initmem.errors import UserError
from initmem.files import atomic_write
from initmem.study import outputs
from initmem.study.run import Run
from initmem.study.selection import select_epoch
from initmem.study.study import Study

FITS = 0.995
"""Training accuracy, in evaluation mode at the final epoch, from which a run fits its training set
(claim C1)."""
CONFIGURATION_VALUES = tuple(
    name for name in Run.model_fields if name not in ("init_scale", "seed")
)
"""The columns of spread.csv that hold what makes a configuration."""
LONGER = ("epochs", "eval_every")
"""The values of a configuration in which a longer training of the same may differ (claim C2)."""

Row = dict[str, Any]


def value_columns(run: Run) -> Row:
    """A run's values as columns; arguments of the optimizer as JSON text."""
    values = run.values()
    return values | {"optimizer_args": json.dumps(values["optimizer_args"], sort_keys=True)}


def read_finished(study: Study, runs_folder: Path) -> dict[str, dict[str, Any]]:
    """run.json of each planned run that has one, by id.

    Raises UserError for a file that is unreadable or of another run.
    """
    finished = {}
    for run_id, run in study.runs.items():
        folder = runs_folder / run_id
        if (folder / outputs.RUN).exists():
            summary = outputs.read_run(folder)
            if not outputs.is_of(summary, run):
                raise UserError(
                    f"{folder / outputs.RUN} is of another run ('{summary['id']}') or of other"
                    " defaults; delete it and start the same command again"
                )
            finished[run.id] = summary
    return finished


def runs_table(
    study: Study, finished: Mapping[str, Mapping[str, Any]], runs_folder: Path
) -> pd.DataFrame:
    """runs.csv: each planned run, its values, and its status: done, diverged or missing.

    `weights_kept` says whether the selected predictor's weights are there.
    """
    return pd.DataFrame(
        {
            "run": run_id,
            "configuration": run.configuration,
            **value_columns(run),
            "status": finished[run_id]["status"] if run_id in finished else "missing",
            "weights_kept": (runs_folder / run_id / outputs.WEIGHTS).exists(),
        }
        for run_id, run in study.runs.items()
    )


def selected_table(
    study: Study, finished: Mapping[str, Mapping[str, Any]], runs_folder: Path
) -> pd.DataFrame:
    """selected.csv: for each planned run the validation-selected epoch and its accuracies.

    A missing or diverged run has a row and no numbers. Raises UserError when the selected epoch
    is not the one that the history gives.
    """
    return pd.DataFrame(
        _selected_row(run, finished.get(run_id), runs_folder / run_id)
        for run_id, run in study.runs.items()
    )


def _selected_row(run: Run, summary: Mapping[str, Any] | None, folder: Path) -> Row:
    row: Row = {
        "run": run.id,
        "configuration": run.configuration,
        "init_scale": run.init_scale,
        "seed": run.seed,
        "status": summary["status"] if summary else "missing",
        "selected_epoch": None,
        "val_acc": nan,
        "test_acc": nan,
        "train_acc": nan,
        "train_acc_final": nan,
        "test_acc_final": nan,
        "sigma_w": nan,
    }
    if row["status"] != "done":
        return row
    history = read_history(folder)
    chosen = select_epoch(zip(history["epoch"], history["val_acc"], strict=True))
    if chosen != summary["selected_epoch"]:
        raise UserError(
            f"{folder / outputs.HISTORY} selects epoch {chosen}, run.json says"
            f" {summary['selected_epoch']}; delete {folder} and start the same command again"
        )
    return row | {
        "selected_epoch": chosen,
        "val_acc": summary["selected"]["val_acc"],
        "test_acc": summary["selected"]["test_acc"],
        "train_acc": summary["selected"]["train_acc"],
        "train_acc_final": summary["final"]["train_acc"],
        "test_acc_final": summary["final"]["test_acc"],
        "sigma_w": summary["sigma_w"],
    }


def read_history(folder: Path) -> pd.DataFrame:
    """history.csv of a run. Raises UserError when it is unreadable or lacks a column."""
    path = folder / outputs.HISTORY
    try:
        return pd.read_csv(path)[list(outputs.HISTORY_COLUMNS)]
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); delete it and start the same command again"
        ) from None


def spread_table(study: Study, selected: pd.DataFrame, runs_folder: Path) -> pd.DataFrame:
    """spread.csv: one row for each configuration, in the order of the study."""
    grouped = dict(iter(selected.groupby("configuration", sort=False)))
    return pd.DataFrame(
        _spread_row(study, name, runs, grouped[name], runs_folder)
        for name, runs in study.configurations.items()
    )


def _spread_row(
    study: Study, name: str, runs: list[Run], rows: pd.DataFrame, runs_folder: Path
) -> Row:
    done = rows[rows["status"] == "done"].set_index(["init_scale", "seed"])
    planned = [(run.init_scale, run.seed) for run in runs]
    layout = arrange(done["test_acc"].to_dict(), planned)
    used = done.loc[[(s, k) for s in layout.scales for k in layout.seeds]]
    spread = measure_spread(layout.values)
    means = layout.values.mean(axis=1) if layout.seeds else np.full(1, nan)
    values = value_columns(runs[0])
    del values["init_scale"], values["seed"]
    return {
        "configuration": name,
        "label": study.label(name),
        "sweeps": " ".join(sweep.name for sweep in study.sweeps_of(name)),
        "claims": " ".join(study.claims_of(name)),
        **values,
        "n_scales": len(layout.scales),
        "n_seeds": len(layout.seeds),
        "n_runs": len(runs),
        "n_missing": int((rows["status"] == "missing").sum()),
        "n_diverged": int((rows["status"] == "diverged").sum()),
        "scales_without_valid_run": _names(layout.empty),
        "scales_unbalanced": _names(layout.unbalanced),
        "spread_pp": 100 * spread.spread,
        "lo_pp": 100 * spread.lo,
        "hi_pp": 100 * spread.hi,
        "noise_floor_pp": 100 * spread.noise_floor,
        "p_value": spread.p_value,
        **_interpolating(layout, used),
        "min_train_acc_selected": used["train_acc"].min(),
        "min_train_acc_final": used["train_acc_final"].min(),
        "mean_test_acc": float(means.mean()),
        "best_test_acc": float(means.max()),
        **_agreement(layout, used, runs_folder),
        **_clock_columns(runs[0], max(scale for scale, _ in planned), done["sigma_w"].mean()),
    }


def _names(scales: Iterable[float]) -> str:
    return " ".join(f"{scale:g}" for scale in scales)


def _interpolating(layout: Layout, used: pd.DataFrame) -> Row:
    """How many scales fit the training set with every seed, and the spread over those only."""
    fitting = [
        index
        for index, scale in enumerate(layout.scales)
        if layout.seeds and (used.loc[scale]["train_acc_final"] >= FITS).all()
    ]
    return {
        "n_interpolating": len(fitting),
        "spread_interpolating_pp": 100 * measure_spread(layout.values[fitting]).spread,
    }


def _agreement(layout: Layout, used: pd.DataFrame, runs_folder: Path) -> Row:
    """Disagreement over scales and over seeds; with one seed the bootstrap over test images."""
    row: Row = {
        "disagreement": nan,
        "disagreement_seeds": nan,
        "images_lo_pp": nan,
        "images_hi_pp": nan,
    }
    if not layout.seeds:
        return row
    folders = used["run"].map(lambda run: runs_folder / run)
    loaded = [outputs.read_predictions(folder) for folder in folders]
    shape = (len(layout.scales), len(layout.seeds), -1)
    classes = np.stack([arrays["selected_test"] for arrays in loaded]).reshape(shape)
    row["disagreement"] = float(np.mean([disagreement(seed) for seed in classes.swapaxes(0, 1)]))
    row["disagreement_seeds"] = float(np.mean([disagreement(scale) for scale in classes]))
    if len(layout.seeds) == 1 and len(layout.scales) > 1:
        lo, hi = image_bootstrap(classes[:, 0] == loaded[0]["test_labels"])
        row |= {"images_lo_pp": 100 * lo, "images_hi_pp": 100 * hi}
    return row


def _clock_columns(run: Run, largest_scale: float, sigma_w: float) -> Row:
    parts = clocks(run, largest_scale, sigma_w)
    return {"clock": parts.total} | {f"clock_{name}": v for name, v in asdict(parts).items()}


def alike(row: pd.Series, candidates: pd.DataFrame, but: Iterable[str]) -> pd.DataFrame:
    """The candidates, rows of spread.csv, that equal `row` in all values but those named."""
    same = pd.Series(True, index=candidates.index)
    for column in CONFIGURATION_VALUES:
        if column not in but:
            values = candidates[column]
            same &= values.isna() if pd.isna(row[column]) else values == row[column]
    return candidates[same]


def wholly_scaled(spreads: pd.DataFrame) -> pd.DataFrame:
    """The rows of spread.csv in which the scale multiplies every weight; all rows if none does.

    Where only a part is scaled a small spread tells of a smaller perturbation, not of forgetting.
    """
    whole = spreads[spreads["scaled"] == "all"]
    return spreads if whole.empty else whole


def undefined_reason(row: pd.Series) -> str:
    """Why a configuration, a row of spread.csv, has no spread; '' where it has one."""
    if pd.notna(row["spread_pp"]):
        return ""
    if row["n_missing"] == row["n_runs"]:
        return "not run"
    if row["n_diverged"] == row["n_runs"]:
        return "all runs diverged"
    if row["n_scales"] == 0:
        return "no finished run"
    if row["n_seeds"] == 0:
        return "no seed finished at every scale"
    return "one scale only"


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, whole or not at all."""
    with atomic_write(path) as file:
        file.write(table.to_csv(index=False).encode())


def read_table(path: Path) -> pd.DataFrame:
    """A table as written, empty cells as NaN. Raises UserError when it is unreadable."""
    try:
        return pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); delete it and start the same command again"
        ) from None
