"""What all figures share: the tables they are drawn from, one style, looks, legends and files."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from math import ceil
from pathlib import Path
from textwrap import fill
from types import MappingProxyType
from typing import Any

import matplotlib.style
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from initmem.analysis.tables import undefined_reason, wholly_scaled
from initmem.files import atomic_write

STYLE = MappingProxyType(
    {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.labelsize": 9,
        "axes.titlesize": 9,
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


@dataclass(frozen=True)
class Tables:
    """A study's tables spread.csv, selected.csv and so on."""

    spreads: pd.DataFrame
    selected: pd.DataFrame
    dynamics: pd.DataFrame
    memory: pd.DataFrame
    forgetting_time: pd.DataFrame


Draw = Callable[[Tables], Figure]


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


def serves(spreads: pd.DataFrame, claim: str) -> pd.Series:
    """Which configurations, rows of spread.csv, are put forward for a claim: bool."""
    return spreads["claims"].map(lambda claims: claim in str(claims).split())


def put_forward(spreads: pd.DataFrame, claim: str) -> pd.DataFrame:
    """The rows of spread.csv, those put forward for a claim before the others."""
    first = serves(spreads, claim)
    return pd.concat([spreads[first], spreads[~first]])


def save(figure: Figure, svg: Path, png: Path) -> None:
    """Write a figure as SVG, the same bytes when drawn anew, and as PNG; whole or not at all."""
    with matplotlib.style.context(("default", STYLE)):
        with atomic_write(svg) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        with atomic_write(png) as file:
            figure.savefig(file, format="png", dpi=200)


def in_style(draw: Draw) -> Draw:
    """Draw in the one style, whatever the settings of the user's matplotlib."""

    @wraps(draw)
    def drawn(tables: Tables) -> Figure:
        with matplotlib.style.context(("default", STYLE)):
            return draw(tables)

    return drawn


def new_figure(height: float) -> Figure:
    """An empty figure of the common width, `height` inches high."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def sentence(text: str) -> Figure:
    """An empty figure that says why it is empty."""
    figure = new_figure(1.2)
    figure.text(0.5, 0.5, fill(text, 44), ha="center", va="center", color="#444444")
    return figure


def why_empty(spreads: pd.DataFrame) -> str:
    """Why there is nothing to draw, as a sentence."""
    runs, missing = int(spreads["n_runs"].sum()), int(spreads["n_missing"].sum())
    diverged = int(spreads["n_diverged"].sum())
    if missing == runs:
        return f"Nothing to draw yet: none of the {runs} planned runs has finished."
    if missing + diverged == runs:
        return f"Nothing to draw: all {diverged} finished runs diverged."
    reasons = dict.fromkeys(undefined_reason(row) for _, row in spreads.iterrows())
    return f"No spread to draw: {', '.join(reasons)}."


def are_named(spreads: pd.DataFrame) -> bool:
    """Whether the configurations that scale all weights are few enough to be named one by one."""
    return len(wholly_scaled(spreads)) <= MOST_NAMED


def looks_of(spreads: pd.DataFrame) -> dict[str, Look]:
    """The look of each configuration: its own while there are few, else that of its optimizer.

    `spreads` is the whole table of the study, so that a regime looks the same in every figure.
    """
    named = are_named(spreads)
    whole = wholly_scaled(spreads)
    ordered = pd.concat([whole, spreads.drop(whole.index)])
    groups = ordered["configuration"] if named else ordered["optimizer"]
    order = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return {
        row["configuration"]: Look(
            str(row["label"] if named else row["optimizer"]),
            COLOURS[order[group] % len(COLOURS)],
            MARKERS[order[group] % len(MARKERS)],
        )
        for (_, row), group in zip(ordered.iterrows(), groups, strict=True)
    }


def clock_axis(axes: Axes, lowest: float, highest: float) -> None:
    """A logarithmic axis of clocks from the lowest to the highest, with room on both sides."""
    axes.set_xscale("log")
    axes.set_xlim(lowest / 3, highest * 3)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlabel("Clock: accumulated regularization (no unit)")


def entry(look: Look, line: bool = True) -> Line2D:
    """A line of the legend that names a regime."""
    style = "-" if line else ""
    return Line2D([], [], linestyle=style, label=fill(look.name, 50), **look.marks(hollow=False))


def note(text: str, marker: str = "o") -> Line2D:
    """A line of the legend that explains a mark instead of naming a regime."""
    return Line2D(
        [], [], linestyle="", marker=marker, color="#444444", markerfacecolor="white", label=text
    )


def legend(figure: Figure, handles: list[Any]) -> None:
    """A legend below the axes, in as many columns as fit; it makes the figure higher."""
    if not handles:
        return
    texts = [handle.get_label().split("\n") for handle in handles]
    longest = max(len(line) for lines in texts for line in lines)
    columns = max(1, min(3, 60 // (longest + 5)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    lines = sum(len(text) for text in texts) / columns
    figure.set_figheight(figure.get_figheight() + 0.2 * ceil(lines))
