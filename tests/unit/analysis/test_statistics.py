"""Spread, noise floor, interval and disagreement against tables that can be worked out by hand."""

from math import isnan, nan, pi, sqrt

import numpy as np
import pytest

from initmem.analysis.statistics import (
    arrange,
    disagreement,
    image_bootstrap,
    measure_spread,
    noise_floor,
    noise_spread,
    residual_sd,
)

# Means 0.8, 0.7, 0.6; the first seed is better by 0.02 on average.
TABLE = np.array([[0.82, 0.78], [0.70, 0.70], [0.61, 0.59]])


def grid(scales: tuple[float, ...], seeds: tuple[int, ...]) -> list[tuple[float, int]]:
    """All cells of a plan that gives every scale the same seeds."""
    return [(scale, seed) for scale in scales for seed in seeds]


def test_the_spread_is_the_range_of_the_means():
    assert measure_spread(TABLE).spread == pytest.approx(0.20)


def test_the_residual_leaves_out_scale_and_seed_effects():
    # Column effects are +-0.01; residuals are +-0.01, -+0.01 and 0, so squares sum to 4e-4, df 2.
    assert residual_sd(TABLE) == pytest.approx(sqrt(4e-4 / 2))


def test_a_pure_seed_effect_leaves_no_noise():
    table = np.array([[0.8, 0.7, 0.9], [0.5, 0.4, 0.6]])
    measured = measure_spread(table)
    assert residual_sd(table) == pytest.approx(0, abs=1e-12)
    assert (measured.lo, measured.hi) == pytest.approx((0.3, 0.3))
    assert measured.p_value == pytest.approx(0)


def test_the_noise_floor_is_the_tabulated_studentized_range():
    # q(0.95; 3, 4) = 5.040 and q(0.95; 5, 8) = 4.886 (any table of the studentized range).
    assert noise_floor(1, scales=3, seeds=3) == pytest.approx(5.040 / sqrt(3), rel=1e-3)
    assert noise_floor(2, scales=5, seeds=3) == pytest.approx(2 * 4.886 / sqrt(3), rel=1e-3)


def test_with_two_scales_and_the_floor_the_p_value_is_five_percent():
    base = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0]])
    floor = measure_spread(base).noise_floor
    at_floor = base - base.mean(axis=1, keepdims=True) + np.array([[floor], [0.0]])
    measured = measure_spread(at_floor)
    assert measured.spread == pytest.approx(measured.noise_floor)
    assert measured.p_value == pytest.approx(0.05, rel=1e-3)


def test_the_interval_is_spread_plus_minus_floor_cut_at_zero():
    measured = measure_spread(TABLE)
    assert measured.hi == pytest.approx(measured.spread + measured.noise_floor)
    assert measured.lo == pytest.approx(max(0, measured.spread - measured.noise_floor))
    flat = measure_spread(np.array([[0.5, 0.6], [0.6, 0.5]]))
    assert (flat.spread, flat.lo) == (0, 0)
    assert flat.p_value == pytest.approx(1)


def test_equal_accuracies_everywhere_are_no_spread_and_no_evidence():
    measured = measure_spread(np.full((3, 3), 0.9))
    found = (measured.spread, measured.lo, measured.hi, measured.p_value)
    assert found == pytest.approx((0, 0, 0, 1))


def test_one_seed_has_a_spread_but_no_floor_no_interval_and_no_p():
    measured = measure_spread(np.array([[0.9], [0.7], [0.8]]))
    assert measured.spread == pytest.approx(0.2)
    undefined = (measured.lo, measured.hi, measured.noise_floor, measured.p_value)
    assert all(isnan(value) for value in undefined)


@pytest.mark.parametrize("shape", [(1, 3), (0, 0), (1, 0), (3, 0)])
def test_fewer_than_two_scales_or_no_seed_have_no_spread(shape):
    assert isnan(measure_spread(np.zeros(shape)).spread)


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_a_residual_needs_two_of_each(shape):
    with pytest.raises(ValueError, match="two scales and two seeds"):
        residual_sd(np.zeros(shape))


def test_a_missing_cell_takes_its_seed_out_and_names_its_scale():
    cells = {(s, k): s + k / 10 for s in (1.0, 2.0, 4.0) for k in (0, 1, 2)}
    del cells[2.0, 1]
    layout = arrange(cells, grid((1.0, 2.0, 4.0), (0, 1, 2)))
    assert layout.seeds == (0, 2)
    assert layout.unbalanced == (2.0,)
    assert layout.empty == ()
    assert layout.values == pytest.approx(np.array([[1, 1.2], [2, 2.2], [4, 4.2]]))


def test_a_cell_that_was_never_planned_is_no_gap():
    cells = {(1.0, 0): 0.5, (2.0, 0): 0.4, (2.0, 1): 0.6}
    layout = arrange(cells, list(cells))
    assert (layout.seeds, layout.unbalanced, layout.empty) == ((0,), (), ())


def test_nan_counts_as_no_run():
    cells = {(1.0, 0): 0.5, (1.0, 1): float("nan"), (2.0, 0): 0.4, (2.0, 1): 0.6}
    assert arrange(cells, grid((1.0, 2.0), (0, 1))).seeds == (0,)


def test_a_scale_with_no_valid_run_is_set_apart_and_the_rest_is_used():
    cells = {(s, k): s for s in (1.0, 2.0) for k in (0, 1)}
    layout = arrange(cells, grid((1.0, 2.0, 8.0), (0, 1)))
    assert (layout.scales, layout.empty) == ((1.0, 2.0), (8.0,))
    assert measure_spread(layout.values).spread == 1


def test_without_any_valid_run_there_is_an_empty_layout_and_no_spread():
    layout = arrange({}, grid((1.0, 2.0), (0, 1)))
    assert (layout.scales, layout.seeds, layout.empty) == ((), (), (1.0, 2.0))
    assert isnan(measure_spread(layout.values).spread)


def test_scales_without_a_seed_in_common_have_no_spread():
    layout = arrange({(1.0, 0): 0.5, (2.0, 1): 0.5}, grid((1.0, 2.0), (0, 1)))
    assert (layout.scales, layout.seeds, layout.unbalanced) == ((1.0, 2.0), (), (1.0, 2.0))
    assert isnan(measure_spread(layout.values).spread)


@pytest.mark.parametrize("true_spread", [0, 0.3, 5, 25])
def test_the_interval_covers_the_true_spread(true_spread):
    """1,000 simulated layouts of 5 scales and 3 seeds, noise 1 pp, means spaced evenly."""
    rng = np.random.default_rng(2605)
    means = np.linspace(0, true_spread, 5)[:, np.newaxis]
    covered = 0
    for _ in range(1000):
        table = means + rng.normal(size=(1, 3)) + rng.normal(size=(5, 3))
        floor = noise_floor(residual_sd(table), scales=5, seeds=3)
        spread = np.ptp(table.mean(axis=1))
        covered += max(0, spread - floor) <= true_spread <= spread + floor
    assert covered / 1000 >= 0.94


def test_disagreement_is_the_mean_over_pairs_of_differing_images():
    classes = np.array([[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 5, 4]], dtype=np.uint8)
    assert disagreement(classes) == pytest.approx((1 / 4 + 2 / 4 + 1 / 4) / 3)


def test_equal_predictors_do_not_disagree_and_one_alone_cannot():
    assert disagreement(np.zeros((3, 5), np.uint8)) == 0
    assert isnan(disagreement(np.zeros((1, 5), np.uint8)))


def test_the_image_bootstrap_holds_the_spread_and_is_repeatable():
    rng = np.random.default_rng(0)
    correct = rng.random((3, 500)) < np.array([[0.9], [0.8], [0.7]])
    lo, hi = image_bootstrap(correct)
    assert lo < np.ptp(correct.mean(axis=1)) < hi
    assert image_bootstrap(correct) == (lo, hi)


def test_the_image_bootstrap_is_paired_over_scales():
    correct = np.tile(np.arange(100) < 70, (3, 1))
    assert image_bootstrap(correct) == (0, 0)


def test_noise_alone_spreads_on_average_by_the_mean_range_of_normal_draws():
    # Two normal draws lie 2 / sqrt(pi) apart on average, five span 2.326 (Tippett 1925).
    for scales, mean_range in ((2, 2 / sqrt(pi)), (5, 2.32593)):
        floor = noise_floor(sd=0.3, scales=scales, seeds=4)
        expected = mean_range * 0.3 / sqrt(4)
        assert noise_spread(floor, scales, seeds=4) == pytest.approx(expected, rel=1e-5)


def test_with_one_seed_or_one_scale_no_spread_is_put_down_to_noise():
    assert noise_spread(nan, scales=5, seeds=1) == noise_spread(nan, scales=1, seeds=5) == 0
