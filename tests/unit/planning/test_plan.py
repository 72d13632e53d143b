"""The plan: sums by network, what is left, where the times come from."""

import pytest

from fabricated import plan
from initmem.planning.costs import Rates
from initmem.planning.plan import JOB_SECONDS, TAIL_SECONDS, cost_of, plan_text, wall_seconds
from initmem.planning.settings import Setting
from support import small_run

RATES = Rates(train=100, evaluation=1e9, startup=5, memory_mb=None, source="calibration")


def rates_for(runs) -> dict:
    return {Setting.of(run): RATES for run in runs.values()}


def lines_of(study, finished=frozenset(), rates=None) -> list[str]:
    rates = rates_for(study.runs) if rates is None else rates
    return plan_text(study, finished, rates, "CPU", 2).splitlines()


def test_costs_are_sums_over_runs():
    runs = {str(i): small_run(seed=i, epochs=10) for i in range(3)}
    cost = cost_of(runs, rates_for(runs))
    assert (cost.runs, cost.epochs, cost.images) == (3, 30, 3000)
    assert cost.seconds == pytest.approx(3 * (5 + 10), rel=1e-3)


def test_a_cost_without_rates_is_unknown():
    assert cost_of({"a": small_run()}, {}).seconds is None


def test_runs_side_by_side_share_the_time_but_none_is_shorter_than_the_longest():
    runs = {str(i): small_run(seed=i, epochs=10) for i in range(4)}
    alone = 15 + JOB_SECONDS
    rates = rates_for(runs)
    assert wall_seconds(runs, rates, 2) == pytest.approx(2 * alone + TAIL_SECONDS, rel=1e-3)
    assert wall_seconds(runs, rates, 99) == pytest.approx(alone + TAIL_SECONDS, rel=1e-3)


def test_the_page_has_a_line_for_each_network_and_one_for_what_is_left():
    study = plan()
    lines = lines_of(study, finished={next(iter(study.runs))})
    counts = {line.split("  ")[0]: line.split() for line in lines if line}
    assert "4" in counts["digits resnet9 width 2 batch 64"]
    assert "4" in counts["all"]
    assert "3" in counts["still to run"]
    assert any(line.startswith("On this machine, 2 at a time: ") for line in lines)
    assert any(line.startswith("Longest training: ") for line in lines)


def test_a_finished_study_has_nothing_ahead():
    study = plan()
    lines = lines_of(study, finished=study.runs.keys())
    assert "Every training is finished." in lines
    assert not any(line.startswith("Longest") for line in lines)


def test_without_rates_the_page_says_unknown_and_how_to_measure():
    lines = lines_of(plan(), rates={})
    assert lines[3].endswith("unknown")
    assert lines[-1] == "`make calibrate STUDY=tiny` measures them here in a few minutes."
