"""Training: what it leaves behind."""

import csv
import json

import numpy as np
import pytest
import torch

from initmem.data.arrays import load
from initmem.study import outputs
from initmem.study.outputs import HISTORY_COLUMNS, RUN_FILES
from initmem.study.selection import select_epoch
from initmem.training.trainer import Trainer
from support import bytes_of, small_run, summary, train_here


def history(folder) -> list[dict]:
    with (folder / "history.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_finished_run_leaves_its_files_and_nothing_else(digits, tmp_path):
    folder = train_here(small_run(), digits, tmp_path / "run")
    assert {path.name for path in folder.iterdir()} == set(RUN_FILES)


def test_the_history_has_a_row_for_each_epoch_with_the_stated_columns(digits, tmp_path):
    rows = history(train_here(small_run(), digits, tmp_path))
    assert tuple(rows[0]) == HISTORY_COLUMNS
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert [row["step"] for row in rows] == ["2", "4", "6"]
    assert {row["lr"] for row in rows} == {"0.05"}


def test_validation_comes_every_few_epochs_and_at_the_last(digits, tmp_path):
    rows = history(train_here(small_run(epochs=5, eval_every=2), digits, tmp_path))
    assert [row["epoch"] for row in rows] == ["2", "4", "5"]


def test_how_often_is_evaluated_does_not_change_the_training(digits, tmp_path):
    often = history(train_here(small_run(epochs=4), digits, tmp_path / "a"))
    rarely = history(train_here(small_run(epochs=4, eval_every=4), digits, tmp_path / "b"))
    assert often[-1] == rarely[-1]


def test_the_selected_epoch_is_the_validation_best_and_its_accuracies_are_those(digits, tmp_path):
    folder = train_here(small_run(epochs=6), digits, tmp_path)
    rows, found = history(folder), summary(folder)
    chosen = select_epoch((int(row["epoch"]), float(row["val_acc"])) for row in rows)
    assert found["selected_epoch"] == chosen
    assert found["selected"]["val_acc"] == float(rows[chosen - 1]["val_acc"])
    assert found["final"]["val_acc"] == float(rows[-1]["val_acc"])


def test_accuracies_are_those_of_the_classes_that_are_kept(digits, tmp_path):
    folder = train_here(small_run(), digits, tmp_path)
    classes, found = outputs.read_predictions(folder), summary(folder)
    for which in ("selected", "final"):
        for part, name in (("validation", "val_acc"), ("test", "test_acc")):
            right = classes[f"{which}_{part}"] == classes[f"{part}_labels"]
            assert right.mean() == pytest.approx(found[which][name], abs=1e-12)
    assert classes["selected_test"].dtype == np.uint8


def test_run_json_spells_out_all_values(digits, tmp_path):
    run = small_run(optimizer="adam")
    found = summary(train_here(run, digits, tmp_path))
    assert found["id"] == run.id
    assert found["values"] == json.loads(json.dumps(run.values()))
    assert found["steps"] == 6


def test_timing_tells_seconds_memory_device_versions_and_threads(digits, tmp_path):
    found = json.loads((train_here(small_run(), digits, tmp_path) / "timing.json").read_text())
    assert {"seconds_startup", "seconds_training", "seconds_evaluation"} <= set(found)
    assert found["threads"] == 1
    assert 100 < found["peak_memory_mb"] < 100_000
    assert found["torch"] == torch.__version__


def test_scales_of_a_seed_start_from_the_same_draw(digits):
    data = load(digits, small_run())
    trainers = [Trainer(small_run(init_scale=s), data, torch.device("cpu")) for s in (1, 4)]
    assert torch.equal(4 * trainers[0].initial, trainers[1].initial)
    assert trainers[0].sigma_w == trainers[1].sigma_w


def test_the_overlap_is_the_cosine_with_the_initial_weights(digits, tmp_path):
    frozen = train_here(small_run(lr=1e-12, weight_decay=0), digits, tmp_path)
    assert float(history(frozen)[-1]["init_overlap"]) == pytest.approx(1, abs=1e-9)


def test_divergence_is_a_result(digits, tmp_path):
    run = small_run(lr=1e30, epochs=50)
    found = summary(train_here(run, digits, tmp_path))
    assert found["status"] == "diverged"
    assert found["diverged_epoch"] < 50
    assert found["selected_epoch"] is None
    assert set(found["selected"].values()) == {None}
    assert outputs.is_finished(tmp_path, run)
    assert len(outputs.read_predictions(tmp_path)["selected_test"]) == 0
    assert "nan" not in (tmp_path / "history.csv").read_text()


def test_a_diverged_run_has_the_same_bytes_every_time(digits, tmp_path):
    run = small_run(lr=1e30, epochs=50)
    first = bytes_of(train_here(run, digits, tmp_path / "a"))
    assert bytes_of(train_here(run, digits, tmp_path / "b")) == first


def test_weights_are_kept_on_request_and_change_nothing_else(digits, tmp_path):
    plain = bytes_of(train_here(small_run(), digits, tmp_path / "a"))
    folder = train_here(small_run(), digits, tmp_path / "b", keep_weights=True)
    assert bytes_of(folder) == plain
    assert "linear.weight" in torch.load(folder / "weights.pt", weights_only=True)


@pytest.mark.parametrize("scaled", ["conv", "linear"])
def test_what_is_scaled_is_a_value_of_the_run(digits, tmp_path, scaled):
    both = train_here(small_run(init_scale=8), digits, tmp_path / "all")
    part = train_here(small_run(init_scale=8, scaled=scaled), digits, tmp_path / scaled)
    assert history(both) != history(part)
