"""The forgetting time: memory relative to C1's, fitted over the logarithm of the clock."""

from math import inf, isnan, nan

import numpy as np
import pandas as pd
import pytest

from initmem.analysis.forgetting import fit_forgetting, forgetting_table, memory_table
from initmem.analysis.statistics import noise_floor, noise_spread, residual_sd
from initmem.analysis.tables import CONFIGURATION_VALUES
from initmem.study.study import Study, Sweep

CLOCKS = np.geomspace(1e-3, 1e3, 25)
REPETITIONS, LEAST_COVERED = 200, 184
"""An interval of 95 % holds the truth 184 times of 200 or oftener, chance allowed for."""


def law(clock: np.ndarray, time: float, steepness: float = 1.0) -> np.ndarray:
    return 1 / (1 + (clock / time) ** steepness)


def spread_row(name: str, **values) -> dict:
    """A row of spread.csv: one seed, so nothing is known of its noise."""
    return {
        **dict.fromkeys(CONFIGURATION_VALUES, "same"),
        "configuration": name,
        "label": name,
        "optimizer": "sgd",
        "scaled": "all",
        "clock": 1e-3,
        "spread_pp": 20.0,
        "noise_floor_pp": nan,
        "n_scales": 5,
        "n_seeds": 1,
    } | values


def study_of(remembering: tuple[str, ...]) -> Study:
    return Study("s", "S", False, (Sweep("a", "a", ("C1",), remembering, ()),), {})


def test_the_fit_finds_the_law_that_memory_follows_exactly():
    fit = fit_forgetting(CLOCKS, 0.05 + 0.9 * law(CLOCKS, 2.0, 2.0))
    assert fit.forgetting_time == pytest.approx(2.0, rel=0.05)
    assert fit.steepness == pytest.approx(2.0, rel=0.1)
    assert fit.upper == pytest.approx(0.95, abs=0.01)
    assert fit.lower == pytest.approx(0.05, abs=0.01)
    assert fit.memory(np.array([fit.forgetting_time]))[0] == pytest.approx(0.5, abs=0.01)


def test_the_forgetting_time_goes_with_the_unit_of_the_clock():
    memory = law(CLOCKS, 2.0) + 0.02 * np.sin(np.arange(len(CLOCKS)))
    once, tenfold = fit_forgetting(CLOCKS, memory), fit_forgetting(10 * CLOCKS, memory)
    for name in ("forgetting_time", "lo", "hi"):
        assert getattr(tenfold, name) == pytest.approx(10 * getattr(once, name))


def measured(seed: int, time: float, steepness: float) -> pd.DataFrame:
    """Rows of spread.csv from noisy accuracies, 5 scales x 3 seeds, that follow a law."""
    random = np.random.default_rng(seed)
    fall_over_scales = -0.26 * np.linspace(0, 1, 5)[:, None]
    rows = []
    for place, memory in enumerate(law(CLOCKS, time, steepness)):
        accuracies = memory * fall_over_scales + 0.01 * random.standard_normal((5, 3))
        rows.append(
            spread_row(
                f"c{place}",
                clock=CLOCKS[place],
                spread_pp=100 * np.ptp(accuracies.mean(axis=1)),
                noise_floor_pp=100 * noise_floor(residual_sd(accuracies), scales=5, seeds=3),
                n_seeds=3,
            )
        )
    return pd.DataFrame(rows)


def test_the_interval_holds_the_true_forgetting_time_as_often_as_it_says():
    covered = 0
    for seed in range(REPETITIONS):
        draws = np.random.default_rng([seed, 1])
        time, steepness = np.exp(draws.uniform(np.log(0.1), np.log(30))), draws.uniform(0.6, 2)
        memory = memory_table(study_of(("c0",)), measured(seed, time, steepness))
        fit = forgetting_table(memory).iloc[0]
        covered += fit["lo"] <= time <= fit["hi"]
    assert covered >= LEAST_COVERED


def test_memory_that_never_falls_bounds_the_forgetting_time_on_neither_side():
    fit = fit_forgetting(CLOCKS, np.where(np.arange(len(CLOCKS)) % 2, 1.0, 0.9))
    assert (fit.lo, fit.hi) == (0.0, inf)


def test_memory_that_rises_is_fitted_by_a_constant():
    fit = fit_forgetting(CLOCKS, 1 - law(CLOCKS, 2.0))
    assert fit.upper == fit.lower


@pytest.mark.parametrize("clock", [CLOCKS[:5], np.full(9, 0.1)])
def test_too_few_configurations_or_equal_clocks_give_no_forgetting_time(clock):
    assert isnan(fit_forgetting(clock, law(clock, 2.0)).forgetting_time)


def test_memory_is_relative_to_that_of_claim_1_in_the_same_setting():
    rows = [
        spread_row("small c1", model="resnet9", spread_pp=20.0),
        spread_row("large c1", model="resnet18", spread_pp=10.0),
        spread_row("small adam", model="resnet9", optimizer="adam", lr=0.1, spread_pp=5.0),
        spread_row("large adam", model="resnet18", optimizer="adam", lr=0.1, spread_pp=5.0),
        spread_row("other data", model="resnet9", dataset="digits", spread_pp=5.0),
    ]
    table = memory_table(study_of(("small c1", "large c1")), pd.DataFrame(rows))
    assert table["relative_memory"].tolist()[:4] == [1.0, 1.0, 0.25, 0.5]
    assert isnan(table["relative_memory"].iloc[4])
    assert table["is_reference"].tolist() == [True, True, False, False, False]


def test_what_noise_alone_spreads_is_no_memory():
    floor = 4.0
    noise = noise_spread(floor, scales=5, seeds=3)
    values = {"n_seeds": 3, "noise_floor_pp": floor}
    rows = [spread_row("c1"), spread_row("forgot", optimizer="adam", spread_pp=noise, **values)]
    table = memory_table(study_of(("c1",)), pd.DataFrame(rows))
    assert table["relative_memory"].tolist() == [1.0, 0.0]


def test_each_optimizer_is_fitted_with_claim_1_beside_it_and_all_are_fitted_together():
    memory = pd.DataFrame(
        {
            "optimizer": ["sgd", "sgd", "adam", "adam"],
            "is_reference": [True, False, False, False],
            "clock": [1e-3, 1.0, 1.0, nan],
            "relative_memory": [1.0, 0.5, 0.5, 0.5],
        }
    )
    table = forgetting_table(memory).set_index("optimizer")
    assert table["n_configurations"].to_dict() == {"all": 3, "sgd": 2, "adam": 2}
    assert table["n_left_out"].to_dict() == {"all": 1, "sgd": 0, "adam": 1}
