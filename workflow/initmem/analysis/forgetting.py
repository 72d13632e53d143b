"""The forgetting time: where on the clock half of the memory is lost, with an interval.

Relative memory is a configuration's spread over that of the low-learning-rate SGD (claim C1) in
the same setting. Over the logarithm of the clock it is fitted by a logistic curve.
"""

from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import f as f_distribution

from initmem.analysis.claims import REGIME, reference_for, served
from initmem.analysis.statistics import LEVEL, noise_spread
from initmem.analysis.tables import CONFIGURATION_VALUES, wholly_scaled
from initmem.study.study import Study

ALL = "all"
"""The group of all optimizers together."""
LEAST_FITTED = 6
"""Configurations below which a curve of four parameters says nothing."""
TIMES, STEEPNESSES = 201, np.geomspace(0.25, 8, 31)
"""The grid that is searched: forgetting times within the clocks seen, and steepnesses."""
PARAMETERS = 4
VARIED = (*REGIME, "batch_size")
"""The values in which a configuration may differ from the one of C1 that it is compared with."""
SETTING = tuple(name for name in CONFIGURATION_VALUES if name not in VARIED)


@dataclass(frozen=True)
class Fit:
    """A logistic fall of memory over the clock's logarithm.

    memory = lower + (upper - lower) / (1 + (clock / forgetting_time)^steepness)

    `lo` and `hi` bound the forgetting time with 95 %; `lo` is 0 or `hi` infinite where the clocks
    seen do not bound it on that side.
    """

    forgetting_time: float
    lo: float
    hi: float
    steepness: float
    upper: float
    lower: float

    def memory(self, clock: np.ndarray) -> np.ndarray:
        """The fitted relative memory at some clocks."""
        return self.lower + (self.upper - self.lower) * _fall(
            np.log(clock), np.log(self.forgetting_time), self.steepness
        )


NO_FIT = Fit(nan, nan, nan, nan, nan, nan)


def fit_forgetting(clock: np.ndarray, memory: np.ndarray) -> Fit:
    """The least-squares logistic fall of `memory` over log `clock`, float64 (configurations,).

    Both plateaus are fitted: the upper since C1's spread is itself measured with noise, the lower
    since the range of equal means is not zero. The interval holds the times whose best curve is
    not significantly worse (profile likelihood: the excess of squares follows F with 1 and n - 4
    degrees of freedom). NO_FIT with fewer than six configurations or clocks all the same.
    """
    if len(clock) < LEAST_FITTED or np.ptp(clock) == 0:
        return NO_FIT
    places = np.log(clock)
    times = np.linspace(places.min(), places.max(), TIMES)
    falls = _fall(places, times[:, None, None], STEEPNESSES[:, None])
    squares, lower, upper = _best_plateaus(falls, memory)
    profile, steepest = squares.min(axis=1), squares.argmin(axis=1)
    least = int(profile.argmin())
    freedom = len(clock) - PARAMETERS
    allowed = profile[least] * (1 + f_distribution.ppf(LEVEL, 1, freedom) / freedom)
    inside = np.flatnonzero(profile <= allowed)
    first, last = inside[0], inside[-1]
    best = (least, steepest[least])
    return Fit(
        float(np.exp(times[least])),
        0.0 if first == 0 else float(np.exp(times[first - 1])),
        inf if last == TIMES - 1 else float(np.exp(times[last + 1])),
        float(STEEPNESSES[best[1]]),
        float(upper[best]),
        float(lower[best]),
    )


def _fall(
    places: np.ndarray, time: np.ndarray | float, steepness: np.ndarray | float
) -> np.ndarray:
    return expit(-steepness * (places - time))


def _best_plateaus(
    falls: np.ndarray, memory: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each curve (..., n): its least squares, lower and upper plateau, each (...).

    A curve that would have to rise is a constant instead: memory is lost, never gained.
    """
    middles = falls.mean(axis=-1)
    around = memory - memory.mean()
    covariation = np.maximum(falls @ around, 0)
    variation = np.square(falls).sum(axis=-1) - len(memory) * np.square(middles)
    height = covariation / np.where(variation > 0, variation, 1)
    squares = np.square(around).sum() - height * covariation
    lower = memory.mean() - height * middles
    return np.maximum(squares, 0), lower, lower + height


def memory_table(study: Study, spreads: pd.DataFrame) -> pd.DataFrame:
    """memory.csv: each configuration that scales all weights, its clock and its relative memory.

    Equal means too show a spread, by noise; its mean is taken off both spreads in quadrature. The
    memory is NaN where a spread, or that of C1 in the same setting, is not known.
    """
    remembering = served(study, spreads, "C1")
    rows = wholly_scaled(spreads)
    reference = pd.Series(nan, index=rows.index)
    for _, alike in rows.groupby(list(SETTING), dropna=False, sort=False):
        found = reference_for(alike.iloc[0], remembering, VARIED)
        if found is not None:
            reference[alike.index] = _without_noise(found)
    # A reference that spreads by nothing has no memory to compare with.
    reference = reference.where(reference > 0)
    return pd.DataFrame(
        {
            "configuration": rows["configuration"],
            "label": rows["label"],
            "optimizer": rows["optimizer"],
            "is_reference": rows["configuration"].isin(remembering["configuration"]),
            "clock": rows["clock"],
            "spread_pp": rows["spread_pp"],
            "relative_memory": rows.apply(_without_noise, axis=1) / reference,
        }
    ).reset_index(drop=True)


def _without_noise(row: pd.Series) -> float:
    """The spread (pp) of a row of spread.csv, less what noise alone gives; NaN stays NaN."""
    noise = noise_spread(row["noise_floor_pp"], row["n_scales"], row["n_seeds"])
    return float(np.sqrt(np.maximum(row["spread_pp"] ** 2 - noise**2, 0)))


def forgetting_table(memory: pd.DataFrame) -> pd.DataFrame:
    """forgetting_time.csv: the fit over all optimizers together, then for each of them.

    C1's configurations belong to every group: they are what all memory is measured against.
    `n_left_out` counts configurations without a memory or a positive clock.
    """
    groups = {ALL: pd.Series(True, index=memory.index)} | {
        name: (memory["optimizer"] == name) | memory["is_reference"]
        for name in dict.fromkeys(memory["optimizer"])
    }
    return pd.DataFrame(_group_row(name, memory[chosen]) for name, chosen in groups.items())


def _group_row(name: str, rows: pd.DataFrame) -> dict[str, float | str]:
    usable = rows[(rows["clock"] > 0) & rows["relative_memory"].notna()]
    fit = fit_forgetting(usable["clock"].to_numpy(float), usable["relative_memory"].to_numpy(float))
    return {
        "optimizer": name,
        "n_configurations": len(usable),
        "n_left_out": len(rows) - len(usable),
        **vars(fit),
    }
