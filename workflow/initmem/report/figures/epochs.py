"""Figures over epochs: accuracies, and the weights on their way from the initialization."""

from collections.abc import Sequence
from textwrap import fill

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from initmem.analysis.tables import LONGER, alike
from initmem.report.figures.drawing import (
    Tables,
    in_style,
    legend,
    new_figure,
    note,
    sentence,
    serves,
    why_empty,
)

MOST_FOLLOWED = 6
"""Configurations that get a row of panels each."""
MOST_MARKED = 12
"""Epochs of a line that are marked one by one; more would hide it."""
PANEL_HEIGHT = 1.35
"""Height of a row of panels in inches."""


@in_style
def accuracy_over_epochs(tables: Tables) -> Figure:
    """Accuracy (percent) on training and validation images over epochs, a line per scale.

    Drawn for the first configuration that is put forward as remembering (claim C1), and below it
    for the longer trainings of the same (claim C2); in a study that puts none forward, for the
    first of its configurations.
    """
    spreads = _followed(tables)
    if spreads.empty:
        return sentence(why_empty(tables.spreads))
    if serves(tables.spreads, "C1").any():
        first = spreads[serves(spreads, "C1")].head(1)
    else:
        first = spreads.head(1)
    if first.empty:
        return sentence("No run of a regime put forward as remembering (claim C1) has finished.")
    longer = alike(first.iloc[0], spreads[serves(spreads, "C2")], LONGER)
    chosen = pd.concat([first, longer]).drop_duplicates("configuration")
    figure, panels = _panels(tables, chosen, ("train_acc", "val_acc"), 100)
    for axes, title in zip(panels[0], ("training (%)", "validation (%)"), strict=True):
        axes.set_title(f"Accuracy, {title}")
    return figure


@in_style
def weights_over_epochs(tables: Tables) -> Figure:
    """Norm of the scaled weights and their cosine with the initial ones over epochs, by scale.

    A row of panels for each regime: of every claim (C2 apart, which repeats C1) and optimizer the
    first configuration; without claims the first configurations of the study.
    """
    spreads = _followed(tables)
    if spreads.empty:
        return sentence(why_empty(tables.spreads))
    served = [spreads[serves(spreads, claim)] for claim in ("C1", "C3", "C4")]
    regimes = pd.concat([rows.drop_duplicates("optimizer") for rows in served])
    chosen = spreads if regimes.empty else regimes.drop_duplicates("configuration")
    figure, panels = _panels(tables, chosen, ("weight_norm", "init_overlap"), 1)
    _norm_axis(panels[0][0])
    panels[0][0].set_title("Norm of the weights")
    panels[0][1].set_title("Cosine with initial weights")
    return figure


def _followed(tables: Tables) -> pd.DataFrame:
    """The configurations that some finished run lets follow over epochs."""
    return tables.spreads[tables.spreads["configuration"].isin(tables.dynamics["configuration"])]


def _panels(
    tables: Tables, candidates: pd.DataFrame, columns: Sequence[str], factor: float
) -> tuple[Figure, np.ndarray]:
    """A row of panels for each of the first configurations, a column for each followed quantity."""
    chosen = candidates.head(MOST_FOLLOWED)
    figure = new_figure(0.7 + PANEL_HEIGHT * len(chosen))
    panels = figure.subplots(len(chosen), len(columns), sharex=True, sharey="col", squeeze=False)
    followed = tables.dynamics[tables.dynamics["configuration"].isin(chosen["configuration"])]
    colours = _scale_colours(followed["init_scale"].unique())
    for row, (_, configuration) in zip(panels, chosen.iterrows(), strict=True):
        histories = followed[followed["configuration"] == configuration["configuration"]]
        for axes, column in zip(row, columns, strict=True):
            for scale, history in histories.groupby("init_scale"):
                marker = "." if len(history) <= MOST_MARKED else ""
                axes.plot(
                    history["epoch"], factor * history[column], color=colours[scale], marker=marker
                )
        label = fill(str(configuration["label"]), 18, max_lines=3, placeholder=" …")
        row[0].set_ylabel(label)
    for axes in panels[-1]:
        _epoch_axis(axes, followed["epoch"])
    shown = [Line2D([], [], color=colour, label=f"scale {s:g}") for s, colour in colours.items()]
    if len(candidates) > len(chosen):
        shown.append(note(f"{len(candidates) - len(chosen)} more: not shown", marker=""))
    legend(figure, shown)
    return figure, panels


def _norm_axis(axes: Axes) -> None:
    """A logarithmic axis in powers of two, with plain ticks where norms lie close together."""
    axes.set_yscale("log", base=2)
    low, high = axes.get_ylim()
    if high < 4 * low:
        axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def _epoch_axis(axes: Axes, epochs: pd.Series) -> None:
    """A logarithmic axis with enough ticks even where it spans less than a power of ten."""
    first, last = epochs.min(), epochs.max()
    axes.set_xscale("log")
    if first < last:
        axes.set_xlim(first, last)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if last <= 100 * first else (1,)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("Epoch")


def _scale_colours(scales: Sequence[float]) -> dict[float, str]:
    """A colour for each scale, ascending: the larger the lighter, never too light for paper."""
    palette = seaborn.color_palette("viridis", as_cmap=True)
    shades = np.linspace(0, 0.85, len(scales))
    return {
        scale: to_hex(palette(shade)) for scale, shade in zip(sorted(scales), shades, strict=True)
    }
