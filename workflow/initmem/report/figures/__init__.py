"""The figures of a study, each drawn from its tables alone.

A figure names each configuration while there are few, and groups them by optimizer, or picks one
by a stated rule, when there are many. Whatever it cannot show it says in words.
"""

from collections.abc import Mapping
from types import MappingProxyType

from initmem.report.figures.accuracy import accuracy_by_scale, what_is_scaled
from initmem.report.figures.drawing import Draw
from initmem.report.figures.epochs import accuracy_over_epochs, weights_over_epochs
from initmem.report.figures.memory import memory_by_clock
from initmem.report.figures.spread import spread_by_clock, spread_by_regime

FIGURES: Mapping[str, Draw] = MappingProxyType(
    {
        "accuracy_by_scale": accuracy_by_scale,
        "spread_by_regime": spread_by_regime,
        "spread_by_clock": spread_by_clock,
        "memory_by_clock": memory_by_clock,
        "accuracy_over_epochs": accuracy_over_epochs,
        "weights_over_epochs": weights_over_epochs,
        "what_is_scaled": what_is_scaled,
    }
)
"""The figures by name, in the order of the catalogue."""
