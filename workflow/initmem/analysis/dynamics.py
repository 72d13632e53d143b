"""How accuracies and weights move during training: the table behind the figures over epochs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from initmem.analysis.tables import read_history
from initmem.study.run import Run
from initmem.study.study import Study

FOLLOWED = ("train_acc", "val_acc", "weight_norm", "init_overlap")
"""The columns of a history that the table follows."""
MOST_EPOCHS = 60
"""Epochs kept of a training: more are not told apart on a logarithmic axis."""
COLUMNS: tuple[str, ...] = ("configuration", "init_scale", "epoch", "n_seeds", *FOLLOWED)
"""The columns of dynamics.csv."""


def dynamics_table(
    study: Study, finished: Mapping[str, Mapping[str, Any]], runs_folder: Path
) -> pd.DataFrame:
    """dynamics.csv: means over the finished seeds of each configuration and scale, by epoch.

    Of a long training only some epochs are kept, evenly spaced on a logarithmic axis.
    Accuracies are fractions; `train_acc` is that of the epoch itself, in training mode, as the
    weights moved; `weight_norm` and `init_overlap` are of the scaled weights. A diverged run
    counts as not finished. Raises UserError for a history that is unreadable.
    """
    groups: dict[tuple[str, float], list[Run]] = {}
    for run_id, run in study.runs.items():
        if run_id in finished and finished[run_id]["status"] == "done":
            groups.setdefault((run.configuration, run.init_scale), []).append(run)
    rows = [
        {"configuration": configuration, "init_scale": scale, **row}
        for (configuration, scale), runs in groups.items()
        for row in _mean_history([read_history(runs_folder / run.id) for run in runs])
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _mean_history(histories: Sequence[pd.DataFrame]) -> list[dict[str, Any]]:
    """Rows of the kept epochs: means over histories of the same epochs."""
    kept = log_spaced(histories[0]["epoch"].tolist(), MOST_EPOCHS)
    joined = pd.concat(histories)
    means = joined[joined["epoch"].isin(kept)].groupby("epoch")[list(FOLLOWED)].mean()
    return means.reset_index().assign(n_seeds=len(histories)).to_dict("records")


def log_spaced(epochs: Sequence[int], most: int) -> list[int]:
    """At most `most` of the ascending `epochs`, about evenly spaced on a logarithmic axis.

    The first and the last are always among them.
    """
    if len(epochs) <= most:
        return list(epochs)
    targets = np.geomspace(epochs[0], epochs[-1], most)
    places = np.searchsorted(epochs, targets * (1 - 1e-9))
    return [epochs[place] for place in sorted(set(places.tolist()))]
