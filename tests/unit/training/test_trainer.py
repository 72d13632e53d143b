"""Training: what it leaves behind, and that an interruption anywhere changes no byte of it."""

import csv
import json
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
import torch

from initmem.data.arrays import load
from initmem.errors import Interrupted, UserError
from initmem.study import outputs
from initmem.study.catalogue import OPTIMIZERS
from initmem.study.outputs import HISTORY_COLUMNS, RUN_FILES
from initmem.study.selection import select_epoch
from initmem.training import resume, trainer
from initmem.training.lease import LEASE_NAME
from initmem.training.trainer import DEADLINE_MARGIN, Sitting, Trainer, train
from support import ENGINE, small_run, train_here

FORK = multiprocessing.get_context("fork")
REPRODUCIBLE = ("history.csv", "predictions.npz", "run.json")


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def history(folder) -> list[dict]:
    with (folder / "history.csv").open() as file:
        return list(csv.DictReader(file))


def summary(folder) -> dict:
    return json.loads((folder / "run.json").read_text())


def bytes_of(folder) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in REPRODUCIBLE}


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


def test_scales_of_a_seed_start_from_the_same_draw(digits, tmp_path):
    data = load(digits, small_run())
    trainers = [
        Trainer(small_run(init_scale=s), data, tmp_path, Sitting(ENGINE, 0), torch.device("cpu"))
        for s in (1, 4)
    ]
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


def test_a_finished_run_is_left_as_it_is(digits, tmp_path):
    folder = train_here(small_run(), digits, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    train(small_run(), tmp_path / "no such data.npz", folder, Sitting(ENGINE, 0))
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_run_that_lacks_a_file_is_trained_again_to_the_same_bytes(digits, tmp_path):
    folder = train_here(small_run(), digits, tmp_path)
    before = bytes_of(folder)
    (folder / "predictions.npz").unlink()
    assert bytes_of(train_here(small_run(), digits, folder)) == before


def test_weights_are_kept_on_request_and_change_nothing_else(digits, tmp_path):
    plain = bytes_of(train_here(small_run(), digits, tmp_path / "a"))
    folder = train_here(small_run(), digits, tmp_path / "b", keep_weights=True)
    assert bytes_of(folder) == plain
    assert "linear.weight" in torch.load(folder / "weights.pt", weights_only=True)


def test_a_run_of_another_protocol_is_refused(digits, tmp_path):
    with pytest.raises(UserError, match="of protocol 99; this code is of"):
        train_here(small_run(protocol=99), digits, tmp_path)


@pytest.mark.parametrize("scaled", ["conv", "linear"])
def test_what_is_scaled_is_a_value_of_the_run(digits, tmp_path, scaled):
    both = train_here(small_run(init_scale=8), digits, tmp_path / "all")
    part = train_here(small_run(init_scale=8, scaled=scaled), digits, tmp_path / scaled)
    assert history(both) != history(part)


def at_epoch(epoch: int, act) -> type[Trainer]:
    """Trainer.step_epoch that acts once the epoch is trained, before anything of it is saved."""
    original = Trainer.step_epoch

    def step_epoch(self) -> None:
        original(self)
        if self.state.epoch == epoch:
            act()

    return step_epoch


def train_and_die(run, digits, folder, epoch: int) -> None:
    """Train in another process that is killed at an epoch; every epoch before it is saved."""

    def work() -> None:
        Trainer.step_epoch = at_epoch(epoch, lambda: os.kill(os.getpid(), signal.SIGKILL))
        train_here(run, digits, folder, save_every=0)

    process = FORK.Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, "Adagrad"])
def test_killed_anywhere_and_restarted_a_training_gives_the_same_bytes(digits, tmp_path, optimizer):
    values = {"momentum": 0.9} if optimizer in ("sgd", "rmsprop") else {}
    run = small_run(optimizer=optimizer, epochs=12, lr=0.01, width=4, **values)
    undisturbed = bytes_of(train_here(run, digits, tmp_path / "undisturbed"))
    folder = tmp_path / "killed"
    for epoch in (1, 4, 5, 12):
        train_and_die(run, digits, folder, epoch)
        assert not (folder / "run.json").exists()
    assert bytes_of(train_here(run, digits, folder)) == undisturbed
    assert {path.name for path in folder.iterdir()} == set(RUN_FILES)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_saves_at_the_end_of_the_epoch_and_nothing_is_lost(
    digits, tmp_path, number, monkeypatch
):
    run = small_run(epochs=9)
    signalled = at_epoch(3, lambda: os.kill(os.getpid(), number))
    monkeypatch.setattr(Trainer, "step_epoch", signalled)
    with pytest.raises(Interrupted, match=f"stopped by {number.name} after epoch 3 of 9"):
        train_here(run, digits, tmp_path)
    state = resume.load(run, tmp_path, torch.device("cpu"))
    assert (state.epoch, len(state.history)) == (3, 3)


def test_a_signal_that_is_ignored_stays_ignored(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(
        Trainer, "step_epoch", at_epoch(2, lambda: os.kill(os.getpid(), signal.SIGHUP))
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert summary(train_here(small_run(), digits, tmp_path))["status"] == "done"
    finally:
        signal.signal(signal.SIGHUP, before)


def test_whoever_loses_the_lease_waits_and_goes_on_to_the_same_bytes(digits, tmp_path, monkeypatch):
    undisturbed = bytes_of(train_here(small_run(), digits, tmp_path / "undisturbed"))
    folder = tmp_path / "taken over"

    def take_over() -> None:
        stranger = {"token": "x", "machine": "elsewhere", "pid": 1, "process_start": "1"}
        if not (tmp_path / "once").exists():
            (tmp_path / "once").touch()
            (folder / LEASE_NAME).write_text(json.dumps(stranger))

    monkeypatch.setattr(Trainer, "step_epoch", at_epoch(2, take_over))
    assert bytes_of(train_here(small_run(), digits, folder, lease_timeout=2)) == undisturbed
    assert (tmp_path / "once").exists()


def test_a_disk_that_refuses_the_state_ends_no_training(digits, tmp_path, monkeypatch, capsys):
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(resume, "save", refuse)
    folder = train_here(small_run(), digits, tmp_path, save_every=0)
    assert summary(folder)["status"] == "done"
    assert "could not be saved" in capsys.readouterr().out


def test_a_job_with_a_limit_leaves_well_before_it_and_a_local_one_has_none():
    assert Sitting.of_job(ENGINE, started=100.0, runtime=None).deadline is None
    assert Sitting.of_job(ENGINE, started=100.0, runtime=10).deadline == 100 + 600 - DEADLINE_MARGIN


def test_before_a_deadline_a_training_saves_leaves_and_goes_on_next_time(digits, tmp_path):
    run = small_run(epochs=60)
    sittings = 0
    while not outputs.is_finished(tmp_path / "run", run):
        sittings += 1
        limit = Sitting(ENGINE, time.monotonic(), time.monotonic() + 0.15)
        try:
            train(run, digits, tmp_path / "run", limit)
        except Interrupted as error:
            assert "stopped by the time limit" in str(error)
    assert sittings > 1
    undisturbed = train_here(run, digits, tmp_path / "undisturbed")
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed)


def test_no_gpu_where_one_is_asked_for_is_told_in_one_line(digits, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(UserError, match=r"engine\.device: no GPU is visible"):
        train_here(small_run(), digits, tmp_path, device="cuda")


def test_a_long_epoch_says_how_far_it_is(digits, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(trainer, "LOG_WITHIN_EPOCH_EVERY", 0)
    train_here(small_run(epochs=1), digits, tmp_path)
    assert "epoch 1 of 1, step 2 of 2" in capsys.readouterr().out
