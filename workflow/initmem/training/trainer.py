"""Training one run: the loop, what stops it, and what is kept of it."""

import time
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from initmem.data import arrays
from initmem.errors import Interrupted, LeaseLost, UserError
from initmem.files import atomic_write, remove_temporaries
from initmem.logs import Progress, log
from initmem.randomness import epoch_order
from initmem.study import outputs
from initmem.study.outputs import Outcome, Predictions
from initmem.study.run import PROTOCOL, Run
from initmem.study.selection import is_better
from initmem.study.study import Engine
from initmem.training import progress, resume
from initmem.training.device import choose_device, device_name, peak_memory_mb, to_device
from initmem.training.evaluation import evaluate
from initmem.training.initialization import flatten, initialize, root_mean_square, scaled_weights
from initmem.training.lease import Lease
from initmem.training.models import build_model
from initmem.training.optimizers import build_optimizer, match_strides, plain_step
from initmem.training.provenance import versions
from initmem.training.resume import SaveClock, State, StopRequests

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
        started = sitting.started
        while True:
            try:
                return _train_under_lease(run, arrays_file, folder, sitting, device, stop, started)
            except LeaseLost as loss:
                started = time.monotonic()
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
    started: float,
) -> None:
    clock = SaveClock(sitting.engine.save_every, sitting.deadline)
    timeout = sitting.engine.lease_timeout
    with Lease(folder, timeout, lambda: stop_reason(stop, clock)) as lease:
        remove_temporaries(folder)
        if outputs.is_finished(folder, run):
            log("already finished")
        else:
            trainer = Trainer(
                run,
                arrays.load(arrays_file, run),
                folder,
                sitting,
                device,
            )
            trainer.state.seconds.startup += time.monotonic() - started - lease.waited
            trainer.fit(lease, stop, clock)
            trainer.write(lease)
        if outputs.is_finished(folder, run):
            resume.remove(folder)
            progress.remove(folder)


def stop_reason(stop: StopRequests, clock: SaveClock) -> str | None:
    """Why to stop now: a signal or the time limit; None to go on."""
    return stop.reason or ("the time limit" if clock.out_of_time() else None)


class Trainer:
    """One run in training: model, optimizer, data, and the state that grows epoch by epoch."""

    def __init__(
        self,
        run: Run,
        raw: arrays.Dataset,
        folder: Path,
        sitting: Sitting,
        device: torch.device,
    ) -> None:
        self.run, self.raw, self.folder, self.sitting = run, raw, folder, sitting
        self.device = device
        self.source = to_device(raw, device)
        self.model = build_model(run)
        initialize(self.model, run.seed, 1.0, run.scaled)
        self.sigma_w = root_mean_square(flatten(scaled_weights(self.model, run.scaled)))
        initialize(self.model, run.seed, run.init_scale, run.scaled)
        self.model.to(device)
        self.scaled = scaled_weights(self.model, run.scaled)
        self.initial = flatten(self.scaled)
        self.optimizer = build_optimizer(run, self.model)
        self.step_optimizer = plain_step(self.optimizer)
        self.diverged_epoch: int | None = None
        self.versions = versions()
        self.state = self._saved_state() or State(0, {}, {})
        self.progress = Progress()

    def _saved_state(self) -> State | None:
        state = resume.load(self.run, self.folder, self.device)
        if state:
            self.model.load_state_dict(state.model)
            self.optimizer.load_state_dict(state.optimizer)
            match_strides(self.optimizer)
            log(f"resuming after epoch {state.epoch} of {self.run.epochs}")
        return state

    def fit(self, lease: Lease, stop: StopRequests, clock: SaveClock) -> None:
        """Train to the last epoch or to divergence. Raises Interrupted when asked to stop."""
        clock.training_begins()
        while self.state.epoch < self.run.epochs and self.diverged_epoch is None:
            self.step_epoch()
            clock.epoch_ended()
            if self.progress.say(f"epoch {self.state.epoch} of {self.run.epochs}", LOG_EVERY):
                self._tell_epoch(lease)
            if self.state.epoch == self.run.epochs or self.diverged_epoch is not None:
                continue
            reason = stop_reason(stop, clock)
            if reason:
                self.save(lease)
                raise Interrupted(
                    f"stopped by {reason} after epoch {self.state.epoch} of {self.run.epochs} of"
                    f" {self.run.id}; saved: start the same command again to go on"
                )
            if clock.due():
                self._save_if_possible(lease)

    def _tell_epoch(self, lease: Lease) -> None:
        """Tell the epoch to whoever asks; a full disk is no reason to stop."""
        with suppress(OSError):
            progress.write_epoch(self.folder, self.state.epoch, lease.check)

    def _save_if_possible(self, lease: Lease) -> None:
        """Save; when the disk refuses, say so and go on: the training itself is sound."""
        try:
            self.save(lease)
        except OSError as error:
            log(f"the state could not be saved ({error}); going on without")

    def save(self, lease: Lease) -> None:
        """Save the state to go on from."""
        self.state.model = self.model.state_dict()
        self.state.optimizer = self.optimizer.state_dict()
        resume.save(self.state, self.run, self.folder, lease.check)

    def step_epoch(self) -> None:
        """One epoch, and where one is due an evaluation and its row of the history."""
        started = time.monotonic()
        epoch = self.state.epoch + 1
        train_loss, train_acc = self._train_epoch(epoch)
        trained = time.monotonic()
        due = epoch % self.run.eval_every == 0 or epoch == self.run.epochs
        if due or not isfinite(train_loss):
            self._record(epoch, train_loss, train_acc)
        self.state.epoch = epoch
        self.state.seconds.training += trained - started
        self.state.seconds.evaluation += time.monotonic() - trained

    def _train_epoch(self, epoch: int) -> tuple[float, float]:
        """Mean loss and accuracy over the epoch, in training mode, as the weights moved."""
        self.model.train()
        train = self.source.train
        count = len(train.labels)
        order = torch.from_numpy(epoch_order(self.run.seed, epoch, count)).to(self.device)
        images, labels = train.images[order], train.labels[order]
        sums = torch.zeros(2, dtype=torch.float64, device=self.device)
        batches = zip(
            images.split(self.run.batch_size), labels.split(self.run.batch_size), strict=True
        )
        for step, (batch_images, batch_labels) in enumerate(batches, start=1):
            logits = self.model(self.source.batch(batch_images))
            loss = F.cross_entropy(logits, batch_labels)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.step_optimizer()
            with torch.no_grad():
                sums[0] += loss.detach() * len(batch_labels)
                sums[1] += (logits.argmax(1) == batch_labels).sum()
            self.progress.say(
                f"epoch {epoch} of {self.run.epochs}, step {step} of {self.run.steps_per_epoch}",
                LOG_WITHIN_EPOCH_EVERY,
            )
        loss_sum, correct = sums.tolist()
        return loss_sum / count, correct / count

    def _record(self, epoch: int, train_loss: float, train_acc: float) -> None:
        """Evaluate on validation, add a row, keep the model if it is the best, note divergence."""
        validation = evaluate(self.model, self.source.validation, self.source)
        weights = flatten(self.scaled)
        norm, overlap = torch.stack(
            [weights.norm(), F.cosine_similarity(weights, self.initial, dim=0)]
        ).tolist()
        row = {
            "epoch": epoch,
            "step": epoch * self.run.steps_per_epoch,
            "lr": self.run.lr,
            "train_loss": train_loss,
            "train_acc": train_acc,
            "val_loss": validation.loss,
            "val_acc": validation.accuracy,
            "weight_norm": norm,
            "init_overlap": overlap,
        }
        self.state.history.append(row | {k: nan for k, v in row.items() if not isfinite(v)})
        if not (isfinite(train_loss) and isfinite(validation.loss)):
            self.diverged_epoch = epoch
            return
        best = self.state.best
        if is_better(validation.accuracy, best and best["val_acc"]):
            model = {name: value.clone() for name, value in self.model.state_dict().items()}
            self.state.best = {"epoch": epoch, "val_acc": validation.accuracy, "model": model}

    def write(self, lease: Lease) -> None:
        """Write the files of the finished run, and the weights if they are to be kept."""
        outcome = self.outcome()
        if self.sitting.engine.keep_weights and outcome.status == "done":
            with atomic_write(self.folder / outputs.WEIGHTS, lease.check) as file:
                torch.save(self.state.best["model"], file)
        labels = Predictions(self.raw.validation.labels, self.raw.test.labels)
        outputs.write_run(self.folder, self.run, outcome, labels, self.timing(), lease.check)
        log(f"{outcome.status}, selected epoch {outcome.selected_epoch}")

    def outcome(self) -> Outcome:
        """Judge the selected and the final predictor; here, and only here, test images are used."""
        if self.diverged_epoch is not None:
            nothing = outputs.no_predictions()
            return Outcome(
                "diverged",
                self.state.history,
                None,
                self.diverged_epoch,
                {},
                {},
                nothing,
                nothing,
                self.sigma_w,
            )
        final, final_predictions = self._judge()
        selected, selected_predictions = final, final_predictions
        if self.state.best["epoch"] != self.state.epoch:
            self.model.load_state_dict(self.state.best["model"])
            selected, selected_predictions = self._judge()
        return Outcome(
            "done",
            self.state.history,
            self.state.best["epoch"],
            None,
            selected,
            final,
            selected_predictions,
            final_predictions,
            self.sigma_w,
        )

    def _judge(self) -> tuple[dict[str, float], Predictions]:
        """Accuracies on the three parts, in evaluation mode, and the classes given."""
        started = time.monotonic()
        train, validation, test = (
            evaluate(self.model, part, self.source)
            for part in (self.source.train, self.source.validation, self.source.test)
        )
        self.state.seconds.evaluation += time.monotonic() - started
        accuracies = {
            "train_acc": train.accuracy,
            "val_acc": validation.accuracy,
            "test_acc": test.accuracy,
        }
        return accuracies, Predictions(validation.classes, test.classes)

    def timing(self) -> dict[str, Any]:
        """What it took: seconds, samples a second, memory, device, host, versions and code."""
        seconds = self.state.seconds
        samples = self.state.epoch * self.run.train_size
        return {
            "seconds_startup": round(seconds.startup, 3),
            "seconds_training": round(seconds.training, 3),
            "seconds_evaluation": round(seconds.evaluation, 3),
            "samples_per_second": round(samples / max(seconds.training, 1e-9), 1),
            "peak_memory_mb": round(peak_memory_mb(), 1),
            "device": device_name(self.device),
            "threads": self.sitting.engine.threads,
            **self.versions,
        }
