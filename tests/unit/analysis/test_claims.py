"""Verdicts: reproduced, not reproduced, undecided and not run, by rules fixed beforehand."""

from math import isnan, nan

import numpy as np
import pandas as pd
import pytest

from initmem.analysis.claims import CLAIMS, claims_table, served
from initmem.analysis.rules import (
    judge_clock,
    judge_erased,
    judge_forgets,
    judge_remembers,
    judge_trade_off,
    judge_unchanged,
    rank_correlation,
)
from initmem.analysis.tables import CONFIGURATION_VALUES
from initmem.study.study import Study, Sweep


def row(lo: float, hi: float, **values) -> pd.Series:
    """A row of spread.csv with an interval, its middle as the spread, and a fitted training set."""
    base = {
        "configuration": "c",
        "label": "c",
        "spread_pp": (lo + hi) / 2,
        "lo_pp": lo,
        "hi_pp": hi,
        "images_lo_pp": nan,
        "images_hi_pp": nan,
        "min_train_acc_final": 1.0,
        "best_test_acc": 0.9,
        "clock": 1.0,
        "n_runs": 15,
        "n_missing": 0,
        "scales_without_valid_run": nan,
        **dict.fromkeys(CONFIGURATION_VALUES, "same"),
        "epochs": 30,
        "scaled": "all",
    }
    return pd.Series(base | values)


@pytest.mark.parametrize(
    ("lo", "hi", "train_acc", "verdict"),
    [
        (20, 30, 1.0, "reproduced"),
        (10, 30, 0.995, "reproduced"),
        (9.9, 30, 1.0, "undecided"),
        (2, 9.9, 1.0, "not reproduced"),
        (20, 30, 0.994, "undecided"),
        (nan, nan, 1.0, "undecided"),
    ],
)
def test_low_lr_sgd_remembers_if_the_spread_is_large_and_every_scale_fits(
    lo, hi, train_acc, verdict
):
    assert judge_remembers(row(lo, hi, min_train_acc_final=train_acc)).verdict == verdict


@pytest.mark.parametrize(
    ("short", "long", "verdict"),
    [
        ((24, 26), (23, 25), "reproduced"),
        ((20, 30), (20, 30), "undecided"),
        ((24, 26), (10, 12), "not reproduced"),
        ((10, 12), (24, 26), "not reproduced"),
        ((24, 26), (nan, nan), "undecided"),
    ],
)
def test_more_epochs_change_nothing_if_the_whole_interval_of_the_change_is_small(
    short, long, verdict
):
    assert judge_unchanged(row(*short), row(*long)).verdict == verdict


def test_the_change_is_long_minus_short_with_the_far_ends_as_interval():
    judged = judge_unchanged(row(24, 26), row(20, 24))
    assert (judged.measured, judged.lo, judged.hi) == (-3, -6, 0)


def test_no_change_without_a_fit_stays_undecided():
    unfit = row(24, 26, min_train_acc_final=0.9)
    assert judge_unchanged(unfit, row(24, 26)).verdict == "undecided"
    assert "not fitted" in judge_unchanged(unfit, row(24, 26)).note


def test_one_seed_is_said_to_give_no_interval():
    long = row(nan, nan, spread_pp=20.0, images_lo_pp=17.0, images_hi_pp=23.0)
    judged = judge_unchanged(row(24, 26), long)
    assert judged.measured == -5
    assert isnan(judged.lo)
    assert "one seed" in judged.note
    assert "17.0 to 23.0 pp" in judged.note


@pytest.mark.parametrize(
    ("lo", "hi", "verdict"),
    [(0, 6.25, "reproduced"), (5, 7, "undecided"), (7, 9, "not reproduced")],
)
def test_memory_is_erased_below_a_quarter_of_what_is_remembered(lo, hi, verdict):
    assert judge_erased(row(lo, hi), remembered_pp=25).verdict == verdict


@pytest.mark.parametrize(
    ("lo", "hi", "verdict"),
    [(0, 1.5, "reproduced"), (0, 1.6, "undecided"), (1.6, 4, "not reproduced")],
)
def test_sgd_forgets_below_one_and_a_half_points(lo, hi, verdict):
    assert judge_forgets(row(lo, hi)).verdict == verdict


def table(spread, **columns) -> pd.DataFrame:
    rows = [row(s, s, configuration=f"c{i}", label=f"c{i}") for i, s in enumerate(spread)]
    return pd.DataFrame(rows).assign(**columns)


SPREADS = np.arange(20.0)


def test_the_clock_orders_memory_and_epochs_do_not():
    epochs = np.tile([30, 60], 10)
    judged = judge_clock(table(SPREADS, clock=np.exp(-SPREADS), epochs=epochs))
    assert (judged.measured, judged.verdict) == (pytest.approx(-1), "reproduced")


def test_memory_that_grows_with_the_clock_is_the_opposite():
    assert judge_clock(table(SPREADS, clock=1 + SPREADS)).verdict == "not reproduced"


def test_epochs_that_order_memory_as_well_leave_it_undecided():
    judged = judge_clock(table(SPREADS, clock=np.exp(-SPREADS), epochs=-SPREADS))
    assert judged.verdict == "undecided"


def test_regularizers_that_generalize_best_erase_memory():
    assert judge_trade_off(table(SPREADS, best_test_acc=-SPREADS)).verdict == "reproduced"
    assert judge_trade_off(table(SPREADS, best_test_acc=SPREADS)).verdict == "not reproduced"
    assert judge_trade_off(table(SPREADS, best_test_acc=np.tile([0, 1], 10))).verdict == "undecided"


@pytest.mark.parametrize("key", range(5))
def test_without_other_epochs_to_compare_with_the_clock_is_undecided(key):
    noise = np.random.default_rng(key)
    judged = judge_clock(table(noise.random(12), clock=noise.random(12)))
    assert judged.verdict != "reproduced"
    assert "same epochs" in judged.note


def test_a_scale_without_a_valid_run_keeps_a_claim_from_being_shown():
    gap = {"scales_without_valid_run": "8"}
    judged = [
        judge_remembers(row(20, 30, **gap)),
        judge_unchanged(row(24, 26), row(24, 26, **gap)),
        judge_erased(row(0, 1, **gap), remembered_pp=25),
        judge_forgets(row(0, 1, **gap)),
    ]
    assert {judgement.verdict for judgement in judged} == {"undecided"}
    assert all("no valid run at scale 8" in judgement.note for judgement in judged)
    assert judge_erased(row(8, 9, **gap), remembered_pp=25).verdict == "not reproduced"


def test_correlations_over_few_or_undefined_configurations_are_not_run():
    for judge in (judge_clock, judge_trade_off):
        assert judge(table(SPREADS[:3])).verdict == "not run"
        assert judge(table(SPREADS).assign(spread_pp=nan)).verdict == "not run"


def test_rank_correlation_takes_mean_ranks_for_ties_and_is_zero_without_order():
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2, 2, 3], [4, 3, 3, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 3], [5, 5, 5]) == 0


def study(**claims: tuple[str, ...]) -> Study:
    """A study of one sweep for each given configuration, with the claims that it serves."""
    sweeps = tuple(Sweep(name, name, served, (name,), ()) for name, served in claims.items())
    return Study("s", "S", False, sweeps, {})


def verdicts(plan: Study, rows: list[pd.Series]) -> dict[str, str]:
    judged = claims_table(plan, pd.DataFrame(rows))
    assert judged["id"].tolist() == [claim.id for claim in CLAIMS]
    return dict(zip(judged["id"], judged["verdict"], strict=True))


def named(name: str, lo: float, hi: float, **values) -> pd.Series:
    return row(lo, hi, configuration=name, label=name, **values)


def test_a_claim_about_several_holds_only_if_it_holds_for_each():
    plan = study(sgd=("C1",), adam=("C3",), adamw=("C3",))
    base = [named("sgd", 20, 30), named("adam", 0, 5)]
    assert verdicts(plan, [*base, named("adamw", 0, 6)])["C3"] == "reproduced"
    assert verdicts(plan, [*base, named("adamw", 3, 9)])["C3"] == "undecided"
    assert verdicts(plan, [*base, named("adamw", 8, 9)])["C3"] == "not reproduced"


def test_what_no_sweep_serves_or_has_no_result_is_not_run():
    plan = study(sgd=("C1",), long=("C2",))
    nothing = named("sgd", nan, nan, spread_pp=nan, n_missing=15)
    found = claims_table(plan, pd.DataFrame([nothing, named("long", 1, 2)])).set_index("id")
    assert set(found["verdict"]) == {"not run"}
    assert found.loc["C1", ["n_runs", "n_missing"]].tolist() == [15, 15]
    assert found.loc["C3", ["n_runs", "n_missing"]].tolist() == [0, 0]


def test_the_long_run_is_compared_with_the_short_one_of_the_same_setting():
    plan = study(other=("C1",), sgd=("C1",), long=("C2",))
    rows = [
        named("other", 11, 12, model="another"),
        named("sgd", 24, 26),
        named("long", 23, 25, epochs=150),
    ]
    assert verdicts(plan, rows)["C2"] == "reproduced"
    rows[2]["lr"] = "another"
    assert verdicts(plan, rows)["C2"] == "not run"


def test_an_optimizer_is_compared_with_what_is_remembered_in_the_same_setting():
    plan = study(small=("C1",), large=("C1",), adam=("C3",))
    rows = [
        named("small", 12, 14, width=8),
        named("large", 38, 42, width=64),
        named("adam", 6, 8, width=64, optimizer="adam", lr=0.1),
    ]
    assert verdicts(plan, rows)["C3"] == "reproduced"
    rows[2]["width"] = 8
    assert verdicts(plan, rows)["C3"] == "not reproduced"


def test_claims_about_the_whole_study_leave_out_what_scales_only_a_part():
    rows = pd.DataFrame([row(8, 10, configuration="a"), row(0, 1, scaled="linear")])
    study = Study("s", "S", False, (), {})
    for claim in ("C5", "C6"):
        assert served(study, rows, claim)["configuration"].tolist() == ["a"]
        assert len(served(study, rows[1:], claim)) == 1
