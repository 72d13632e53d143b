"""One process at work on a run: it waits for its turn, trains, saves, stops when told, and writes.

A training may take several sittings; together they leave the same bytes as a single one.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from initmem.data import arrays
from initmem.errors import Interrupted, LeaseLost, UserError
from initmem.files import atomic_write, remove_temporaries
from initmem.logs import Progress, log
from initmem.study import outputs
from initmem.study.config import Engine
from initmem.study.outputs import Predictions
from initmem.study.run import PROTOCOL, Run
from initmem.training import progress, resume
from initmem.training.device import choose_device
from initmem.training.lease import Lease
from initmem.training.provenance import versions
from initmem.training.stopping import SaveClock, StopRequests, stop_reason
from initmem.training.timing import timing
from initmem.training.trainer import Trainer

DEADLINE_MARGIN = 45.0
"""Seconds before the limit of a cluster job by which the trainer has left: the job started before
the trainer did, and saving takes time too."""

LOG_EVERY = 10.0
"""Seconds between two lines of progress in the log."""

LOG_WITHIN_EPOCH_EVERY = 60.0
"""The same within an epoch: only those that take minutes have lines of their own."""


@dataclass(frozen=True)
class Sitting:
    """How and until when this process trains: the engine's settings and two monotonic times.

    `started` is when the process began, `deadline` when it must have left, None for no limit.
    """

    engine: Engine
    started: float
    deadline: float | None = None

    @classmethod
    def of_job(cls, engine: Engine, started: float, runtime: float | None) -> "Sitting":
        """The sitting of a job that may take `runtime` minutes, None for no limit."""
        deadline = None if runtime is None else started + 60 * runtime - DEADLINE_MARGIN
        return cls(engine, started, deadline)


def train(run: Run, arrays_file: Path, folder: Path, sitting: Sitting) -> None:
    """Train a run and write its files into `folder`, going on from a saved state if there is one.

    Returns at once when the run is finished already, and waits for another process that works on
    it. Raises Interrupted when stopped early, its state saved; UserError for a mistake in the run
    or its data.
    """
    if run.protocol != PROTOCOL:
        raise UserError(f"run '{run.id}' is of protocol {run.protocol}; this code is of {PROTOCOL}")
    device = choose_device(sitting.engine, run.deterministic)
    with StopRequests() as stop:
        while True:
            try:
                return _train_under_lease(run, arrays_file, folder, sitting, device, stop)
            except LeaseLost as loss:
                sitting = replace(sitting, started=time.monotonic())
                # The winner may still fail, and its files must not be removed as those of a
                # failed job: so wait for it instead of leaving with an error.
                log(f"{loss}; trying for it again")


def _train_under_lease(
    run: Run,
    arrays_file: Path,
    folder: Path,
    sitting: Sitting,
    device: torch.device,
    stop: StopRequests,
) -> None:
    clock = SaveClock(sitting.engine.save_every, sitting.deadline)
    timeout = sitting.engine.lease_timeout
    with Lease(folder, timeout, lambda: stop_reason(stop, clock)) as lease:
        remove_temporaries(folder)
        if outputs.is_finished(folder, run):
            log("already finished")
        else:
            where_from = versions()
            trainer = _where_it_stands(run, arrays.load(arrays_file, run), folder, device)
            trainer.seconds.startup += time.monotonic() - sitting.started - lease.waited
            _train_to_the_end(trainer, folder, lease, stop, clock)
            _write(trainer, folder, lease, sitting.engine, where_from)
        if outputs.is_finished(folder, run):
            resume.remove(folder)
            progress.remove(folder)


def _where_it_stands(run: Run, raw: arrays.Dataset, folder: Path, device: torch.device) -> Trainer:
    """The run at its saved state, or at its beginning where none was saved."""
    trainer = Trainer(run, raw, device)
    if state := resume.load(run, folder, device):
        trainer.restore(state)
        log(f"resuming after epoch {state.epoch} of {run.epochs}")
    return trainer


def _train_to_the_end(
    trainer: Trainer, folder: Path, lease: Lease, stop: StopRequests, clock: SaveClock
) -> None:
    """Train to the last epoch or to divergence. Raises Interrupted when asked to stop."""
    run, told = trainer.run, Progress()

    def tell_step(step: int) -> None:
        position = f"epoch {trainer.epoch + 1} of {run.epochs}, step {step}"
        told.say(f"{position} of {run.steps_per_epoch}", LOG_WITHIN_EPOCH_EVERY)

    clock.training_begins()
    while not trainer.ended:
        trainer.step_epoch(tell_step)
        clock.epoch_ended()
        if told.say(f"epoch {trainer.epoch} of {run.epochs}", LOG_EVERY):
            _tell_epoch(trainer, folder, lease)
        if trainer.ended:
            return
        if reason := stop_reason(stop, clock):
            resume.save(trainer.state(), run, folder, lease.check)
            raise Interrupted(
                f"stopped by {reason} after epoch {trainer.epoch} of {run.epochs} of {run.id};"
                " saved: start the same command again to go on"
            )
        if clock.due():
            _save_if_possible(trainer, folder, lease)


def _tell_epoch(trainer: Trainer, folder: Path, lease: Lease) -> None:
    """Tell the epoch to whoever asks; a full disk is no reason to stop."""
    with suppress(OSError):
        progress.write_epoch(folder, trainer.epoch, lease.check)


def _save_if_possible(trainer: Trainer, folder: Path, lease: Lease) -> None:
    """Save; when the disk refuses, say so and go on: the training itself is sound."""
    try:
        resume.save(trainer.state(), trainer.run, folder, lease.check)
    except OSError as error:
        log(f"the state could not be saved ({error}); going on without")


def _write(
    trainer: Trainer, folder: Path, lease: Lease, engine: Engine, where_from: Mapping[str, Any]
) -> None:
    """Write the files of the finished run, and the weights if they are to be kept."""
    outcome = trainer.judge()
    if engine.keep_weights and outcome.status == "done":
        with atomic_write(folder / outputs.WEIGHTS, lease.check) as file:
            torch.save(trainer.recorder.best["model"], file)
    labels = Predictions(trainer.raw.validation.labels, trainer.raw.test.labels)
    samples = trainer.epoch * trainer.run.train_size
    took = timing(trainer.seconds, samples, trainer.device, engine.threads) | where_from
    outputs.write_run(folder, trainer.run, outcome, labels, took, lease.check)
    log(f"{outcome.status}, selected epoch {outcome.selected_epoch}")
