"""The files of a run, which all later stages read: written by the trainer, checked by readers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from initmem.errors import UserError
from initmem.files import atomic_write, csv_bytes, json_bytes, read_json
from initmem.study.catalogue import RUN_FILES
from initmem.study.run import Run

HISTORY, PREDICTIONS, TIMING, RUN = RUN_FILES
WEIGHTS = "weights.pt"
"""The selected predictor's weights, kept on request only and no part of a finished run."""

HISTORY_COLUMNS = (
    "epoch",
    "step",
    "lr",
    "train_loss",
    "train_acc",
    "val_loss",
    "val_acc",
    "weight_norm",
    "init_overlap",
)


@dataclass(frozen=True)
class Predictions:
    """Classes, uint8 (n,), that a predictor gives to the validation and the test images."""

    validation: np.ndarray
    test: np.ndarray


def no_predictions() -> Predictions:
    """What a diverged run predicts: nothing."""
    return Predictions(np.zeros(0, np.uint8), np.zeros(0, np.uint8))


@dataclass(frozen=True)
class Outcome:
    """What a training leaves behind. `selected` and `final` hold accuracies, {} if diverged."""

    status: str
    history: Sequence[Mapping[str, Any]]
    selected_epoch: int | None
    diverged_epoch: int | None
    selected: Mapping[str, float]
    final: Mapping[str, float]
    selected_predictions: Predictions
    final_predictions: Predictions
    sigma_w: float


def is_finished(folder: Path, run: Run) -> bool:
    """Whether the folder holds all files of this very run."""
    if not all((folder / name).exists() for name in RUN_FILES):
        return False
    try:
        return is_of(read_run(folder), run)
    except UserError:
        return False


def is_of(summary: Mapping[str, Any], run: Run) -> bool:
    """Whether run.json is of this run: its id, and each value that both of them know.

    The values are compared too, since the id leaves out defaults, and one might be redefined.
    """
    values = json.loads(json_bytes(run.values()))
    common = values.keys() & summary["values"].keys()
    return summary["id"] == run.id and all(summary["values"][k] == values[k] for k in common)


def write_run(
    folder: Path,
    run: Run,
    outcome: Outcome,
    labels: Predictions,
    timing: Mapping[str, Any],
    permit: Callable[[], None],
) -> None:
    """Write the four files of a finished run, run.json last; `permit` may raise before each.

    `labels` are the true classes, kept beside the predicted ones so that later stages need no
    data. All but timing.json have the same bytes whenever the run is repeated on a CPU.
    """
    with atomic_write(folder / HISTORY, permit) as file:
        file.write(csv_bytes(outcome.history, HISTORY_COLUMNS))
    with atomic_write(folder / PREDICTIONS, permit) as file:
        np.savez_compressed(
            file,
            validation_labels=labels.validation,
            test_labels=labels.test,
            selected_validation=outcome.selected_predictions.validation,
            selected_test=outcome.selected_predictions.test,
            final_validation=outcome.final_predictions.validation,
            final_test=outcome.final_predictions.test,
        )
    with atomic_write(folder / TIMING, permit) as file:
        file.write(json_bytes(timing))
    with atomic_write(folder / RUN, permit) as file:
        file.write(json_bytes(_summary(run, outcome)))


def _summary(run: Run, outcome: Outcome) -> dict[str, Any]:
    parts = ("train_acc", "val_acc", "test_acc")
    return {
        "id": run.id,
        "status": outcome.status,
        "selected_epoch": outcome.selected_epoch,
        "diverged_epoch": outcome.diverged_epoch,
        "selected": {part: outcome.selected.get(part) for part in parts},
        "final": {part: outcome.final.get(part) for part in parts},
        "steps": run.steps,
        "sigma_w": outcome.sigma_w,
        "values": run.values(),
    }


def read_run(folder: Path) -> dict[str, Any]:
    """run.json of a run. Raises UserError when it is unreadable or lacks a key."""
    path = folder / RUN
    summary = read_json(path)
    keys = {"id", "status", "selected_epoch", "selected", "final", "sigma_w", "values"}
    if not isinstance(summary, dict) or not keys <= set(summary):
        raise UserError(f"{path} is incomplete; delete it and start the same command again")
    return summary


def read_predictions(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of predictions.npz. Raises UserError when the file is unreadable."""
    path = folder / PREDICTIONS
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:
        raise UserError(
            f"{path} cannot be read ({error}); delete it and start the same command again"
        ) from None
