"""Costs: exact sums from measured rates, of the same device only."""

import json

import pytest

from fabricated import fake, plan
from initmem.analysis.tables import read_finished
from initmem.planning.costs import Rates, evaluated_images, rates_of_calibrations, rates_of_finished
from initmem.planning.settings import Setting, settings_of
from initmem.study import outputs
from support import small_run

DEVICE = ("CPU", 1)


def timing(**values) -> dict:
    base = {
        "seconds_startup": 2.0,
        "seconds_training": 10.0,
        "seconds_evaluation": 4.0,
        "samples_per_second": 100.0,
        "device": "CPU",
        "threads": 1,
    }
    return base | values


def write_timing(root, run, **values) -> None:
    (root / run.id / outputs.TIMING).write_text(json.dumps(timing(**values)))


def test_evaluated_images_are_those_of_each_validation_and_of_the_two_judgements():
    run = small_run(epochs=5, eval_every=2)
    assert evaluated_images(run) == 3 * 400 + 2 * (100 + 400 + 697)
    assert evaluated_images(run, judged=1) == 3 * 400 + 100 + 400 + 697


def test_a_run_takes_its_start_its_training_and_its_evaluations():
    run = small_run(epochs=3)
    rates = Rates(train=50, evaluation=100, startup=7, memory_mb=None, source="calibration")
    assert rates.seconds(run) == pytest.approx(7 + 3 * 100 / 50 + evaluated_images(run) / 100)


def test_scale_seed_and_learning_rate_share_a_setting_and_the_optimizer_does_not():
    runs = [small_run(), small_run(init_scale=1, seed=3, lr=0.1), small_run(optimizer="adam")]
    names = ["digits_resnet9-w2_sgd_b64", "digits_resnet9-w2_adam_b64"]
    assert list(settings_of(runs)) == names


def test_rates_are_the_medians_of_finished_runs(tmp_path):
    study = plan()
    for run, rate in zip(study.runs.values(), (10, 40, 60, 1000), strict=True):
        fake(tmp_path, run, 0.9)
        write_timing(tmp_path, run, samples_per_second=rate, peak_memory_mb=rate)
    (rates,) = rates_of_finished(
        study.runs, read_finished(study, tmp_path), tmp_path, *DEVICE
    ).values()
    assert (rates.train, rates.startup, rates.memory_mb) == (50, 2.0, 1000)
    run = next(iter(study.runs.values()))
    assert rates.evaluation == pytest.approx(evaluated_images(run, judged=1) / 4)


@pytest.mark.parametrize("other", [{"device": "another"}, {"threads": 2}, None])
def test_runs_of_another_device_or_without_a_timing_tell_nothing(tmp_path, other):
    study = plan()
    for run in study.runs.values():
        fake(tmp_path, run, 0.9)
        write_timing(tmp_path, run, **other or {})
        if other is None:
            (tmp_path / run.id / outputs.TIMING).unlink()
    finished = read_finished(study, tmp_path)
    assert rates_of_finished(study.runs, finished, tmp_path, *DEVICE) == {}


def test_calibrations_count_on_their_own_device_only(tmp_path):
    settings = settings_of([small_run()])
    measured = {
        "train_images_per_second": 5.0,
        "evaluation_images_per_second": 15.0,
        "seconds_startup": 3.0,
        "peak_memory_mb": 500.0,
        "device": "CPU",
        "threads": 1,
    }
    assert rates_of_calibrations(settings, tmp_path, *DEVICE) == {}
    (tmp_path / "digits_resnet9-w2_sgd_b64.json").write_text(json.dumps(measured))
    assert rates_of_calibrations(settings, tmp_path, "GPU", 1) == {}
    found = rates_of_calibrations(settings, tmp_path, *DEVICE)
    assert found == {Setting.of(small_run()): Rates(5.0, 15.0, 3.0, 500.0, "calibration")}
