"""Sittings: an interruption anywhere changes no byte, and what is finished is left alone."""

import json
import multiprocessing
import os
import signal
import time

import pytest
import torch

from initmem.errors import Interrupted, UserError
from initmem.study import outputs
from initmem.study.catalogue import OPTIMIZERS
from initmem.study.outputs import RUN_FILES
from initmem.training import resume, sitting
from initmem.training.lease import LEASE_NAME
from initmem.training.sitting import DEADLINE_MARGIN, Sitting, train
from initmem.training.trainer import Trainer
from support import ENGINE, bytes_of, small_run, summary, train_here

FORK = multiprocessing.get_context("fork")


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


def test_a_run_of_another_protocol_is_refused(digits, tmp_path):
    with pytest.raises(UserError, match="of protocol 99; this code is of"):
        train_here(small_run(protocol=99), digits, tmp_path)


def at_epoch(epoch: int, act) -> type[Trainer]:
    """Trainer.step_epoch that acts once the epoch is trained, before anything of it is saved."""
    original = Trainer.step_epoch

    def step_epoch(self, tell) -> None:
        original(self, tell)
        if self.epoch == epoch:
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
    monkeypatch.setattr(sitting, "LOG_WITHIN_EPOCH_EVERY", 0)
    train_here(small_run(epochs=1), digits, tmp_path)
    assert "epoch 1 of 1, step 2 of 2" in capsys.readouterr().out
