"""Figure of the memory that is left against the clock: do all regimes fall on one curve?"""

from math import isfinite

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from initmem.analysis.clocks import implicit_clock
from initmem.analysis.forgetting import ALL, Fit
from initmem.report.figures.drawing import (
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

PUBLISHED = {epochs: implicit_clock(1e-3, 0.0, 313 * epochs, 128) for epochs in (300, 5000)}
"""The paper's two clocks by epochs, of SGD at lr 1e-3 and batch size 128 (paper.md, C5)."""


@in_style
def memory_by_clock(tables: Tables) -> Figure:
    """Relative memory against the clock, the fitted fall, and the clocks that the paper gives.

    Without a clock above zero a configuration has no place here; how many lack one is said. One
    seed gives a hollow point, whose noise is not known and so not taken off.
    """
    spreads, memory = tables.spreads, tables.memory
    if spreads["spread_pp"].isna().all():
        return sentence(why_empty(spreads))
    known = memory[(memory["clock"] > 0) & memory["relative_memory"].notna()]
    if known.empty:
        return sentence("No memory is known relative to that of low-learning-rate SGD (claim C1).")
    looks = looks_of(spreads)
    small = not are_named(spreads)
    figure = new_figure(3.1)
    axes = figure.subplots()
    _set_axes(axes, known)
    _mark_published(axes)
    one_seed = known["configuration"].isin(spreads["configuration"][spreads["lo_pp"].isna()])
    for (_, row), hollow in zip(known.iterrows(), one_seed, strict=True):
        marks = looks[row["configuration"]].marks(hollow, small)
        axes.plot(row["clock"], row["relative_memory"], linestyle="", zorder=3, **marks)
    named = dict.fromkeys(looks[configuration] for configuration in known["configuration"])
    handles = [entry(look, line=False) for look in named]
    if one_seed.any():
        handles.append(note("hollow: one seed"))
    handles += _draw_fit(axes, _fit_of(tables.forgetting_time))
    left_out = len(memory) - len(known)
    if left_out:
        handles.append(note(f"{left_out} without a memory or a clock", marker=""))
    legend(figure, handles)
    return figure


def _set_axes(axes: Axes, known: pd.DataFrame) -> None:
    """Room for the points and for the published clocks, and what the axes show."""
    lowest = min(known["clock"].min(), *PUBLISHED.values())
    clock_axis(axes, lowest, max(known["clock"].max(), 1))
    axes.set_ylim(0, 1.1 * max(known["relative_memory"].max(), 1))
    axes.set_ylabel("Memory relative to low-lr SGD")


def _mark_published(axes: Axes) -> None:
    for epochs, clock in PUBLISHED.items():
        axes.axvline(clock, color="#777777", linewidth=1, linestyle=(0, (2, 2)), zorder=1)
        axes.annotate(
            f"paper, {epochs:,} epochs",
            (clock, 0),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 6),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="bottom",
            color="#444444",
            fontsize=8.5,
        )


def _draw_fit(axes: Axes, fit: Fit | None) -> list[Artist]:
    """The fitted fall and the interval of its time, where they say something; legend entries."""
    if fit is None:
        return [note("too few for a fit", marker="")]
    if fit.lo == 0 and not isfinite(fit.hi):
        return [note("forgetting time not bounded by these clocks", marker="")]
    left, right = axes.get_xlim()
    places = np.geomspace(left, right, 300)
    axes.axvspan(max(fit.lo, left), min(fit.hi, right), color="#dcdcdc", zorder=0.5)
    axes.plot(places, fit.memory(places), color="#444444", zorder=2)
    return [
        Line2D([], [], color="#444444", label="fit, all together"),
        Patch(color="#dcdcdc", label=f"forgetting time {_time_words(fit)}"),
    ]


def _fit_of(forgetting_time: pd.DataFrame) -> Fit | None:
    """The fit of all optimizers together; None where there is none."""
    row = forgetting_time[forgetting_time["optimizer"] == ALL].iloc[0]
    if pd.isna(row["forgetting_time"]):
        return None
    return Fit(**{name: float(row[name]) for name in Fit.__dataclass_fields__})


def _time_words(fit: Fit) -> str:
    """The forgetting time with its interval, which is bounded on one side at least."""
    if fit.lo == 0:
        return f"below {fit.hi:.2g}"
    if not isfinite(fit.hi):
        return f"above {fit.lo:.2g}"
    return f"{fit.forgetting_time:.2g} ({fit.lo:.2g} to {fit.hi:.2g})"
