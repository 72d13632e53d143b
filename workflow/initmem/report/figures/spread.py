"""Figures of the spread: by regime, and against the clock."""

from collections.abc import Mapping
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from initmem.analysis.tables import undefined_reason, wholly_scaled
from initmem.report.figures.drawing import (
    Look,
    Tables,
    are_named,
    clock_axis,
    entry,
    in_style,
    legend,
    looks_of,
    new_figure,
    note,
    sentence,
    why_empty,
)

MOST_ROWS = 40
"""Configurations that get a row each."""


@in_style
def spread_by_regime(tables: Tables) -> Figure:
    """Spread (pp) of each configuration with its interval and its noise floor, a row for each.

    One seed gives a hollow point and no interval; where there is no spread the row says why.
    """
    spreads = tables.spreads
    if spreads["spread_pp"].isna().all():
        return sentence(why_empty(spreads))
    if len(spreads) > MOST_ROWS:
        return _spread_by_optimizer(spreads)
    looks = looks_of(spreads)
    largest = spreads[["spread_pp", "hi_pp"]].max(axis=None)
    figure = new_figure(0.8 + 0.36 * len(spreads))
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
    legend(figure, handles)
    return figure


def _spread_by_optimizer(spreads: pd.DataFrame) -> Figure:
    """Spread (pp) of many configurations, a dot for each, the optimizers side by side."""
    by_configuration = looks_of(spreads)
    looks = {
        row["optimizer"]: by_configuration[row["configuration"]] for _, row in spreads.iterrows()
    }
    figure = new_figure(0.8 + 0.8 * len(looks))
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
        labels.append(f"{optimizer}\n{counted} configurations")
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
        handles.append(note("hollow: one seed"))
    legend(figure, handles)
    return figure


@in_style
def spread_by_clock(tables: Tables) -> Figure:
    """Spread (pp) with its interval against the clock of each configuration, a look per regime.

    Regimes in which only a part of the weights is scaled are left out. A logarithmic axis has no
    zero, so a clock of zero stands apart, as does one not stated.
    """
    spreads = wholly_scaled(tables.spreads)
    known = spreads.dropna(subset=["spread_pp"])
    if tables.spreads["spread_pp"].isna().all():
        return sentence(why_empty(tables.spreads))
    if known.empty:
        return sentence("No regime that scales all weights has a spread yet.")
    looks = looks_of(tables.spreads)
    apart = known[~(known["clock"] > 0)]
    timed = known[known["clock"] > 0]
    figure = new_figure(2.9)
    small = not are_named(tables.spreads)
    widths = [1, 4] if len(apart) and len(timed) else [1]
    panels = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
    if len(apart):
        _apart_panel(panels[0], apart, looks, small)
    if len(timed):
        _clock_panel(panels[-1], timed, looks, small)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("Spread over scales (pp)")
    shown = dict.fromkeys(looks[configuration] for configuration in known["configuration"])
    handles = [entry(look, line=False) for look in shown]
    if known["lo_pp"].isna().any():
        handles.append(note("hollow: one seed"))
    unknown = len(spreads) - len(known)
    if unknown:
        handles.append(note(f"{unknown} without a spread", marker=""))
    legend(figure, handles)
    return figure


def _clock_panel(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, Look], small: bool) -> None:
    clock_axis(axes, min(rows["clock"].min(), 1), max(rows["clock"].max(), 1))
    axes.axvline(1, color="#777777", linewidth=1, linestyle=(0, (2, 2)), zorder=1)
    for _, row in rows.iterrows():
        _spread_point(axes, row, looks[row["configuration"]], row["clock"], small=small)


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


def _scatter(count: int) -> np.ndarray:
    """Numbers in [-1, 1] whose neighbours lie apart: the golden ratio's multiples, no chance."""
    return 2 * (np.arange(count) * 0.6180339887 % 1) - 1 if count > 1 else np.zeros(count)


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
