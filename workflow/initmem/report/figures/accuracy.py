"""Figures of test accuracy against the initialization scale."""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from initmem.analysis.tables import CONFIGURATION_VALUES, FITS, wholly_scaled
from initmem.report.figures.drawing import (
    COLOURS,
    MARKERS,
    Look,
    Tables,
    are_named,
    entry,
    in_style,
    legend,
    looks_of,
    new_figure,
    note,
    put_forward,
    sentence,
    why_empty,
)

SCALED_NAMES = {
    "all": "all weights",
    "conv": "convolutions only",
    "linear": "last, linear layer only",
}
"""What the legend calls the values of `scaled`."""


@in_style
def accuracy_by_scale(tables: Tables) -> Figure:
    """Test accuracy (percent) of the selected predictor against the scale, a line per regime.

    Regimes in which only a part of the weights is scaled are left out. The line goes through the
    means whose range is the spread. A scale that does not fit the training set with every seed is
    hollow; one without a finished run is a gap.
    """
    if _done(tables.selected).empty:
        return sentence(why_empty(tables.spreads))
    whole = wholly_scaled(tables.spreads)
    selected = tables.selected[tables.selected["configuration"].isin(whole["configuration"])]
    if _done(selected).empty:
        return sentence("No run that scales all weights has finished.")
    looks = looks_of(tables.spreads)
    return _named_lines(selected, looks) if are_named(tables.spreads) else _medians(selected, looks)


@in_style
def what_is_scaled(tables: Tables) -> Figure:
    """Test accuracy (percent) against the scale where all weights or only a part are scaled.

    Drawn for the first configuration of which runs with several values of `scaled` were planned
    and some have finished, one put forward as remembering (claim C1) before others.
    """
    done = _done(tables.selected)
    if done.empty:
        return sentence(why_empty(tables.spreads))
    comparisons = _comparisons(tables.spreads)
    drawable = [c for c in comparisons if c["configuration"].isin(done["configuration"]).any()]
    if drawable:
        return _comparison(drawable[0], tables.selected, len(comparisons) - 1)
    if comparisons:
        return sentence("No run that compares what is scaled has finished.")
    if tables.spreads["scaled"].nunique() == 1:
        return sentence("This study always scales the same weights: there is nothing to compare.")
    return sentence("No two configurations of this study differ in what is scaled only.")


def _comparisons(spreads: pd.DataFrame) -> list[pd.DataFrame]:
    """Groups of configurations that differ in `scaled` only, those put forward for C1 first."""
    values = [column for column in CONFIGURATION_VALUES if column != "scaled"]
    groups = put_forward(spreads, "C1").groupby(values, sort=False, dropna=False)
    return [rows for _, rows in groups if len(rows) > 1]


def _comparison(variants: pd.DataFrame, selected: pd.DataFrame, others: int) -> Figure:
    """One comparison, with a word on how many `others` there are."""
    looks = {
        variant["configuration"]: Look(SCALED_NAMES[variant["scaled"]], colour, marker)
        for (_, variant), colour, marker in zip(variants.iterrows(), COLOURS, MARKERS, strict=False)
    }
    shown = selected[selected["configuration"].isin(looks)]
    unseen = [note(f"{others} more comparisons: not shown", marker="")] if others else []
    figure = _named_lines(shown, looks, unseen)
    label = re.sub(r", scaled \w+|scaled \w+(, )?", "", str(variants.iloc[0]["label"]))
    figure.axes[0].set_title(fill(label.replace(" ()", ""), 60))
    return figure


def _done(selected: pd.DataFrame) -> pd.DataFrame:
    return selected[selected["status"] == "done"].dropna(subset=["test_acc"])


def _named_lines(
    selected: pd.DataFrame, looks: Mapping[str, Look], notes: Sequence[Line2D] = ()
) -> Figure:
    """A line for each configuration, with the points of its seeds; `notes` end the legend."""
    scales = sorted(selected["init_scale"].unique())
    shifts = _shifts(looks.values(), scales)
    figure, axes = _accuracy_axes(scales)
    shown = []
    any_hollow = False
    for configuration, rows in _done(selected).groupby("configuration", sort=False):
        look = looks[configuration]
        means, fits = _means(rows, scales), _fits(rows, scales)
        any_hollow |= not fits[~np.isnan(means)].all()
        shown.append(entry(look))
        _seed_points(axes, rows, look, shifts[look])
        _line(axes, np.array(scales) * shifts[look], means, fits, look)
    if any_hollow:
        shown.append(note("hollow: not fitted"))
    legend(figure, [*shown, *notes])
    return figure


def _medians(selected: pd.DataFrame, looks: Mapping[str, Look]) -> Figure:
    """A thin line for each configuration, a thick one for the median of those of one look."""
    scales = sorted(selected["init_scale"].unique())
    shifts = _shifts(looks.values(), scales)
    figure, axes = _accuracy_axes(scales)
    groups: dict[Look, list[np.ndarray]] = {}
    for configuration, rows in _done(selected).groupby("configuration", sort=False):
        look = looks[configuration]
        means = _means(rows, scales)
        groups.setdefault(look, []).append(means)
        axes.plot(scales, means, color=look.colour, linewidth=0.5, alpha=0.3)
    for look, means in groups.items():
        middle = pd.DataFrame(means).median().to_numpy()
        _line(axes, np.array(scales) * shifts[look], middle, np.full(len(scales), True), look)
    legend(figure, [*(entry(look) for look in groups), note("thick: median", marker="")])
    return figure


def _accuracy_axes(scales: list[float]) -> tuple[Figure, Axes]:
    figure = new_figure(2.9)
    axes = figure.subplots()
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(scales) / 2**0.4, max(scales) * 2**0.4)
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("Initialization scale (factor on the initial weights)")
    axes.set_ylabel("Test accuracy (%)")
    return figure, axes


def _cells(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """A value of finished runs, scale by seed, of the seeds present at all scales shown."""
    table = rows.pivot(index="init_scale", columns="seed", values=value)
    return table.dropna(axis="columns")


def _means(rows: pd.DataFrame, scales: list[float]) -> np.ndarray:
    """Mean test accuracy in percent at each scale; NaN where there is none."""
    return 100 * _cells(rows, "test_acc").mean(axis="columns").reindex(scales).to_numpy()


def _fits(rows: pd.DataFrame, scales: list[float]) -> np.ndarray:
    """Whether each scale fits the training set with every seed that counts."""
    fits = (_cells(rows, "train_acc_final") >= FITS).all(axis="columns")
    return fits.reindex(scales, fill_value=False).to_numpy(bool)


def _shifts(looks: Iterable[Look], scales: list[float]) -> dict[Look, float]:
    """A factor a little off 1 for each look, so that equal accuracies do not hide each other."""
    gap = np.diff(np.log2(scales)).min() if len(scales) > 1 else 1.0
    distinct = list(dict.fromkeys(looks))
    octaves = 0.15 * gap * _spaced(len(distinct))
    return dict(zip(distinct, 2.0**octaves, strict=True))


def _spaced(count: int) -> np.ndarray:
    """Equidistant numbers from -1 to 1; 0 alone."""
    return np.linspace(-1, 1, count) if count > 1 else np.zeros(count)


def _seed_points(axes: Axes, rows: pd.DataFrame, look: Look, shift: float) -> None:
    axes.plot(
        rows["init_scale"] * shift,
        100 * rows["test_acc"],
        linestyle="",
        marker=".",
        markersize=4.5,
        markeredgewidth=0,
        color=look.colour,
        alpha=0.8,
    )


def _line(axes: Axes, places: np.ndarray, means: np.ndarray, fits: np.ndarray, look: Look) -> None:
    axes.plot(places, means, color=look.colour)
    for hollow in (False, True):
        chosen = fits != hollow
        marks = look.marks(hollow) | {"markersize": 5}
        axes.plot(places[chosen], means[chosen], linestyle="", **marks)
