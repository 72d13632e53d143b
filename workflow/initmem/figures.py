"""The figures of a study, each drawn from its tables alone.

A figure names each configuration while there are few, and groups them by optimizer when there are
many. Whatever it cannot show it says in words.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from math import ceil
from pathlib import Path
from textwrap import fill
from types import MappingProxyType
from typing import Any

import matplotlib.style
import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from initmem.files import atomic_write
from initmem.tables import FITS

STYLE = MappingProxyType(
    {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.labelsize": 9,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "legend.fontsize": 8.5,
        "legend.frameon": False,
        "legend.handletextpad": 0.5,
        "legend.columnspacing": 1.4,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#444444",
        "axes.linewidth": 0.8,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#e6e6e6",
        "grid.linewidth": 0.7,
        "lines.linewidth": 1.5,
        "lines.markersize": 6,
        "lines.markeredgewidth": 1.4,
        # A label is plain text even where it holds a dollar sign.
        "text.parse_math": False,
        # Letters as shapes look the same everywhere; the salt fixes the ids, and so the bytes.
        "svg.fonttype": "path",
        "svg.hashsalt": "initmem",
    }
)
COLOURS = tuple(seaborn.color_palette("colorblind").as_hex()[i] for i in (0, 3, 2, 4, 1, 9, 7, 5))
"""Told apart with the usual kinds of colour blindness; the darkest first."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
"""Their number shares no divisor with that of the colours, so that pairs repeat late."""

WIDTH = 4.7
"""Width of a figure in inches."""
MOST_NAMED = len(COLOURS)
"""Configurations that a figure names one by one; more are grouped by optimizer."""
MOST_ROWS = 40
"""Configurations that get a row each."""

Draw = Callable[[pd.DataFrame, pd.DataFrame], Figure]


@dataclass(frozen=True)
class Look:
    """How a regime is drawn, and the name that the legend gives it."""

    name: str
    colour: str
    marker: str

    def marks(self, hollow: bool, small: bool = False) -> dict[str, Any]:
        """The look as arguments of a marker; a small one stands among many of its kind."""
        face = "white" if hollow else self.colour
        size = {"markersize": 3.5, "markeredgewidth": 0.8, "alpha": 0.75} if small else {}
        return {"marker": self.marker, "color": self.colour, "markerfacecolor": face, **size}


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


def save(figure: Figure, svg: Path, png: Path) -> None:
    """Write a figure as SVG, the same bytes when drawn anew, and as PNG; whole or not at all."""
    with matplotlib.style.context(("default", STYLE)):
        with atomic_write(svg) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        with atomic_write(png) as file:
            figure.savefig(file, format="png", dpi=200)


def _in_style(draw: Draw) -> Draw:
    """Draw in the one style, whatever the settings of the user's matplotlib."""

    @wraps(draw)
    def drawn(spreads: pd.DataFrame, selected: pd.DataFrame) -> Figure:
        with matplotlib.style.context(("default", STYLE)):
            return draw(spreads, selected)

    return drawn


@_in_style
def accuracy_by_scale(spreads: pd.DataFrame, selected: pd.DataFrame) -> Figure:
    """Test accuracy (percent) of the selected predictor against the scale, a line per regime.

    The line goes through the means whose range is the spread. A scale that does not fit the
    training set with every seed is hollow; one without a finished run is a gap.
    """
    done = selected[selected["status"] == "done"].dropna(subset=["test_acc"])
    if done.empty:
        return _sentence(_why_empty(spreads))
    scales = sorted(selected["init_scale"].unique())
    looks = _looks(spreads)
    named = _are_named(spreads)
    shifts = _shifts(looks.values(), scales)
    figure = _figure(2.9)
    axes = figure.subplots()
    centres: dict[Look, list[np.ndarray]] = {}
    any_hollow = False
    for configuration, rows in done.groupby("configuration", sort=False):
        look = looks[configuration]
        means, fits = _means(rows, scales), _fits(rows, scales)
        any_hollow |= not fits[~np.isnan(means)].all()
        centres.setdefault(look, []).append(means)
        if named:
            places = np.array(scales) * shifts[look]
            _seed_points(axes, rows, look, shifts[look])
            _line(axes, places, means, fits, look)
        else:
            axes.plot(scales, means, color=look.colour, linewidth=0.5, alpha=0.3)
    if not named:
        for look, means in centres.items():
            middle = pd.DataFrame(means).median().to_numpy()
            _line(axes, np.array(scales) * shifts[look], middle, np.full(len(scales), True), look)
    _scale_axis(axes, scales)
    axes.set_ylabel("Test accuracy (%)")
    handles = [_handle(look) for look in centres]
    if named and any_hollow:
        handles.append(_note_handle("hollow: not fitted"))
    if not named:
        handles.append(_note_handle("thick: median", marker=""))
    _legend(figure, handles)
    return figure


@_in_style
def spread_by_regime(spreads: pd.DataFrame, selected: pd.DataFrame) -> Figure:
    """Spread (pp) of each configuration with its interval and its noise floor, a row for each.

    One seed gives a hollow point and no interval; where there is no spread the row says why.
    """
    if spreads["spread_pp"].isna().all():
        return _sentence(_why_empty(spreads))
    if len(spreads) > MOST_ROWS:
        return _spread_by_optimizer(spreads)
    looks = _looks(spreads)
    largest = spreads[["spread_pp", "hi_pp"]].max(axis=None)
    figure = _figure(0.8 + 0.36 * len(spreads))
    axes = figure.subplots()
    for place, (_, row) in enumerate(spreads.iterrows()):
        look = looks[row["configuration"]]
        axes.barh(place, row["noise_floor_pp"], height=0.62, color="#dcdcdc", zorder=1)
        if pd.isna(row["spread_pp"]):
            _say(axes, 0, place, f"no spread: {undefined_reason(row)}")
            continue
        _spread_point(axes, row, look, place, upright=False)
        if pd.isna(row["lo_pp"]):
            inwards = row["spread_pp"] > largest / 2
            _say(axes, row["spread_pp"], place, "one seed: no interval", leftwards=inwards)
    axes.set_xlim(left=0)
    axes.set_yticks(range(len(spreads)), [fill(str(label), 30) for label in spreads["label"]])
    axes.set_ylim(len(spreads) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("Spread of test accuracy over scales (pp)")
    handles = []
    if spreads["lo_pp"].notna().any():
        handles = [
            Line2D([], [], color="#444444", marker="o", label="spread, 95 % interval"),
            Patch(color="#dcdcdc", label="noise floor"),
        ]
    _legend(figure, handles)
    return figure


def _spread_by_optimizer(spreads: pd.DataFrame) -> Figure:
    """Spread (pp) of many configurations, a dot for each, the optimizers side by side."""
    looks = dict(zip(spreads["optimizer"], _looks(spreads).values(), strict=True))
    figure = _figure(0.8 + 0.8 * len(looks))
    axes = figure.subplots()
    labels = []
    for place, (optimizer, look) in enumerate(looks.items()):
        rows = spreads[spreads["optimizer"] == optimizer]
        known = rows.dropna(subset=["spread_pp"]).sort_values("spread_pp")
        floor = known["noise_floor_pp"].median()
        axes.barh(place, floor, height=0.8, color="#dcdcdc", zorder=1)
        heights = place + 0.34 * _scatter(len(known))
        one_seed = known["lo_pp"].isna().to_numpy()
        for hollow in (False, True):
            chosen = one_seed == hollow
            axes.plot(
                known["spread_pp"].to_numpy()[chosen],
                heights[chosen],
                linestyle="",
                **look.marks(hollow, small=True),
            )
        counted = f"{len(known)} of {len(rows)}" if len(known) < len(rows) else f"{len(rows)}"
        labels.append(f"{look.name}\n{counted} configurations")
    axes.set_xlim(left=0)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("Spread of test accuracy over scales (pp)")
    handles = [
        Line2D([], [], color="#444444", marker="o", linestyle="", label="a configuration"),
        Patch(color="#dcdcdc", label="noise floor, median"),
    ]
    if spreads.dropna(subset=["spread_pp"])["lo_pp"].isna().any():
        handles.append(_note_handle("hollow: one seed"))
    _legend(figure, handles)
    return figure


@_in_style
def spread_by_clock(spreads: pd.DataFrame, selected: pd.DataFrame) -> Figure:
    """Spread (pp) with its interval against the clock of each configuration, a look per regime.

    A logarithmic axis has no zero, so a clock of zero stands apart, as does one not stated.
    """
    known = spreads.dropna(subset=["spread_pp"])
    if known.empty:
        return _sentence(_why_empty(spreads))
    looks = _looks(spreads)
    apart = known[~(known["clock"] > 0)]
    timed = known[known["clock"] > 0]
    figure = _figure(2.9)
    small = not _are_named(spreads)
    widths = [1, 4] if len(apart) and len(timed) else [1]
    panels = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
    if len(apart):
        _apart_panel(panels[0], apart, looks, small)
    if len(timed):
        _clock_panel(panels[-1], timed, looks, small)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("Spread over scales (pp)")
    shown = dict.fromkeys(looks[configuration] for configuration in known["configuration"])
    handles = [_handle(look, line=False) for look in shown]
    if known["lo_pp"].isna().any():
        handles.append(_note_handle("hollow: one seed"))
    unknown = len(spreads) - len(known)
    if unknown:
        handles.append(_note_handle(f"{unknown} without a spread", marker=""))
    _legend(figure, handles)
    return figure


def _clock_panel(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, Look], small: bool) -> None:
    axes.set_xscale("log")
    axes.set_xlim(min(rows["clock"].min(), 1) / 3, max(rows["clock"].max(), 1) * 3)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.axvline(1, color="#777777", linewidth=1, linestyle=(0, (2, 2)), zorder=1)
    for _, row in rows.iterrows():
        _spread_point(axes, row, looks[row["configuration"]], row["clock"], small=small)
    axes.set_xlabel("Clock: accumulated regularization (no unit)")


def _apart_panel(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, Look], small: bool) -> None:
    """Configurations whose clock has no place on a logarithmic axis."""
    kinds = rows["clock"].map(lambda clock: "zero" if clock == 0 else "not\nstated")
    names = [name for name in ("zero", "not\nstated") if (kinds == name).any()]
    for place, name in enumerate(names):
        chosen = rows[kinds == name]
        for shift, (_, row) in zip(0.3 * _scatter(len(chosen)), chosen.iterrows(), strict=True):
            look = looks[row["configuration"]]
            _spread_point(axes, row, look, place + shift, small=small)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("Clock")


FIGURES: Mapping[str, Draw] = MappingProxyType(
    {
        "accuracy_by_scale": accuracy_by_scale,
        "spread_by_regime": spread_by_regime,
        "spread_by_clock": spread_by_clock,
    }
)
"""The figures by name: each takes spread.csv and selected.csv as tables and gives a figure."""


def _figure(height: float) -> Figure:
    return Figure(figsize=(WIDTH, height), layout="constrained")


def _sentence(text: str) -> Figure:
    """An empty figure that says why it is empty."""
    figure = _figure(1.2)
    figure.text(0.5, 0.5, fill(text, 44), ha="center", va="center", color="#444444")
    return figure


def _why_empty(spreads: pd.DataFrame) -> str:
    runs, missing = int(spreads["n_runs"].sum()), int(spreads["n_missing"].sum())
    diverged = int(spreads["n_diverged"].sum())
    if missing == runs:
        return f"Nothing to draw yet: none of the {runs} planned runs has finished."
    if missing + diverged == runs:
        return f"Nothing to draw: all {diverged} finished runs diverged."
    reasons = dict.fromkeys(undefined_reason(row) for _, row in spreads.iterrows())
    return f"No spread to draw: {', '.join(reasons)}."


def _are_named(spreads: pd.DataFrame) -> bool:
    return len(spreads) <= MOST_NAMED


def _looks(spreads: pd.DataFrame) -> dict[str, Look]:
    """The look of each configuration: its own while there are few, else that of its optimizer."""
    named = _are_named(spreads)
    groups = spreads["configuration"] if named else spreads["optimizer"]
    order = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return {
        row["configuration"]: Look(
            str(row["label"] if named else row["optimizer"]),
            COLOURS[order[group] % len(COLOURS)],
            MARKERS[order[group] % len(MARKERS)],
        )
        for (_, row), group in zip(spreads.iterrows(), groups, strict=True)
    }


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


def _scatter(count: int) -> np.ndarray:
    """Numbers in [-1, 1] whose neighbours lie apart: the golden ratio's multiples, no chance."""
    return 2 * (np.arange(count) * 0.6180339887 % 1) - 1 if count > 1 else np.zeros(count)


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


def _scale_axis(axes: Axes, scales: list[float]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(scales) / 2**0.4, max(scales) * 2**0.4)
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("Initialization scale (factor on the initial weights)")


def _spread_point(
    axes: Axes,
    row: pd.Series,
    look: Look,
    place: float,
    upright: bool = True,
    small: bool = False,
) -> None:
    """A spread with its interval; hollow without one. `upright`: the spread is the height."""
    hollow = pd.isna(row["lo_pp"])
    value = row["spread_pp"]
    bounds = None if hollow else [[value - row["lo_pp"]], [row["hi_pp"] - value]]
    where = {"x": place, "y": value, "yerr": bounds}
    if not upright:
        where = {"x": value, "y": place, "xerr": bounds}
    marks = look.marks(hollow, small)
    if not hollow:
        # Two marks at one place both stay visible.
        marks["markerfacecolor"] = (look.colour, 0.75)
    width = 0.7 if small else 1.5
    axes.errorbar(**where, linestyle="", elinewidth=width, zorder=3, **marks)


def _say(axes: Axes, x: float, y: float, text: str, leftwards: bool = False) -> None:
    """A few words beside a place."""
    axes.annotate(
        text,
        (x, y),
        xytext=(-8 if leftwards else 8, 0),
        textcoords="offset points",
        ha="right" if leftwards else "left",
        va="center",
        fontsize=8.5,
        color="#444444",
    )


def _handle(look: Look, line: bool = True) -> Line2D:
    style = "-" if line else ""
    return Line2D([], [], linestyle=style, label=fill(look.name, 50), **look.marks(hollow=False))


def _note_handle(text: str, marker: str = "o") -> Line2D:
    """A line of the legend that explains a mark instead of naming a regime."""
    return Line2D(
        [], [], linestyle="", marker=marker, color="#444444", markerfacecolor="white", label=text
    )


def _legend(figure: Figure, handles: list[Any]) -> None:
    """A legend below the axes, in as many columns as fit; it makes the figure higher."""
    if not handles:
        return
    texts = [handle.get_label().split("\n") for handle in handles]
    longest = max(len(line) for lines in texts for line in lines)
    columns = max(1, min(3, 60 // (longest + 5)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    lines = sum(len(text) for text in texts) / columns
    figure.set_figheight(figure.get_figheight() + 0.2 * ceil(lines))
