"""Spread over init scales, its noise floor and interval (conditional on the test set).

Runs form a two-way layout, K scales x n seeds. A seed shares its draw and its data order over all
scales, so the seed effect is removed; what is left is the residual, with (K - 1)(n - 1) degrees of
freedom. The range of K means then follows Tukey's studentized range.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import nan, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm, studentized_range

from initmem.randomness import stream

LEVEL = 0.95
RESAMPLES = 2000
ROUNDING = 1e-12
"""What is left of a difference of equal accuracies after float64 arithmetic, at most."""


@dataclass(frozen=True)
class Layout:
    """Accuracies, float64 (K scales, n seeds), of the seeds that are valid at every scale shown.

    `unbalanced`: scales that lack a valid run of some planned seed but have one of another.
    `empty`: scales with no valid run at all; they are not part of the layout.
    """

    scales: tuple[float, ...]
    seeds: tuple[int, ...]
    values: np.ndarray
    unbalanced: tuple[float, ...]
    empty: tuple[float, ...]


@dataclass(frozen=True)
class Spread:
    """Largest minus smallest mean over scales, in the unit of the values.

    `lo`, `hi`, `noise_floor` and `p_value` are NaN with one seed; all are with fewer than two
    scales.
    """

    spread: float
    lo: float
    hi: float
    noise_floor: float
    p_value: float


def arrange(
    valid: Mapping[tuple[float, int], float], planned: Iterable[tuple[float, int]]
) -> Layout:
    """Lay out the valid runs, given as (scale, seed) -> value; NaN counts as no run.

    `planned` are all cells that were to be filled. A scale with no valid run is set apart, then
    seeds that lack a run at some remaining scale are left out.
    """
    planned = sorted(set(planned))
    filled = {cell for cell in planned if valid.get(cell, nan) == valid.get(cell, nan)}
    scales = tuple(dict.fromkeys(scale for scale, _ in planned))
    shown = tuple(scale for scale in scales if any(filled_at == scale for filled_at, _ in filled))
    seeds = sorted({seed for _, seed in filled})
    common = tuple(seed for seed in seeds if all((scale, seed) in filled for scale in shown))
    values = np.array([[valid[scale, seed] for seed in common] for scale in shown], dtype=float)
    return Layout(
        shown,
        common,
        values.reshape(len(shown), len(common)),
        tuple(s for s in shown if any(cell[0] == s and cell not in filled for cell in planned)),
        tuple(scale for scale in scales if scale not in shown),
    )


def residual_sd(values: np.ndarray) -> float:
    """Residual standard deviation of a layout (K, n) after scale and seed effects.

    Raises ValueError with fewer than two scales or seeds: nothing is left to judge by.
    """
    scales, seeds = values.shape
    if scales < 2 or seeds < 2:
        raise ValueError(f"a residual needs two scales and two seeds, not {scales} and {seeds}")
    effects = values.mean(1, keepdims=True) + values.mean(0, keepdims=True) - values.mean()
    return sqrt(float(np.square(values - effects).sum()) / ((scales - 1) * (seeds - 1)))


@cache
def _range_quantile(level: float, scales: int, freedom: int) -> float:
    return float(studentized_range.ppf(level, scales, freedom))


def noise_floor(sd: float, scales: int, seeds: int, level: float = LEVEL) -> float:
    """What the spread of `scales` equal means stays under with probability `level`.

    The range of K means of n seeds each, in units of sd / sqrt(n), follows the studentized range
    with (K - 1)(n - 1) degrees of freedom (Tukey; design.md, Statistics). Same unit as `sd`, the
    residual standard deviation.
    """
    return _range_quantile(level, scales, (scales - 1) * (seeds - 1)) * sd / sqrt(seeds)


@cache
def _mean_range(count: int) -> float:
    """The mean range of `count` standard normal draws (Tippett 1925)."""
    above = quad(lambda x: 1 - norm.cdf(x) ** count - norm.sf(x) ** count, -10, 10)
    return float(above[0])


def noise_spread(floor: float, scales: int, seeds: int) -> float:
    """The spread that `scales` equal means show on average, given their noise floor; same unit.

    0 with one scale, and with one seed, whose noise is not known.
    """
    if scales < 2 or seeds < 2:
        return 0.0
    return floor * _mean_range(scales) / _range_quantile(LEVEL, scales, (scales - 1) * (seeds - 1))


def measure_spread(values: np.ndarray) -> Spread:
    """The spread of a layout (K, n) with Tukey's simultaneous bound.

    All K (K - 1) / 2 differences of means lie within one noise floor of the true ones with at
    least 95 %, so spread +- noise_floor, cut at 0, covers the true spread with at least as much.
    """
    scales, seeds = values.shape
    if scales < 2 or seeds < 1:
        return Spread(nan, nan, nan, nan, nan)
    means = values.mean(axis=1)
    spread = float(means.max() - means.min())
    if seeds < 2:
        return Spread(spread, nan, nan, nan, nan)
    sd = residual_sd(values)
    floor = noise_floor(sd, scales, seeds)
    return Spread(
        spread, max(0.0, spread - floor), spread + floor, floor, _p_value(spread, sd, scales, seeds)
    )


def _p_value(spread: float, sd: float, scales: int, seeds: int) -> float:
    """How often equal means would spread at least so far."""
    if sd < ROUNDING:
        return 1.0 if spread < ROUNDING else 0.0
    freedom = (scales - 1) * (seeds - 1)
    return float(studentized_range.sf(spread * sqrt(seeds) / sd, scales, freedom))


def image_bootstrap(correct: np.ndarray, key: int = 0) -> tuple[float, float]:
    """Percentile interval (95 %) of the spread when test images are drawn anew, paired over scales.

    `correct` is bool (K scales, images), of one seed. It tells what other test images would
    change, nothing about other seeds.
    """
    images = correct.shape[1]
    draws = stream(key, "image bootstrap").multinomial(
        images, np.full(images, 1 / images), size=RESAMPLES
    )
    accuracies = draws @ correct.T.astype(float) / images
    lo, hi = np.quantile(np.ptp(accuracies, axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(lo), float(hi)


def disagreement(classes: np.ndarray) -> float:
    """Mean over pairs of rows of the fraction of images on which two predictors differ.

    `classes` is (predictors, images); NaN with fewer than two predictors.
    """
    pairs = [(first != second).mean() for first, second in combinations(classes, 2)]
    return float(np.mean(pairs)) if pairs else nan
