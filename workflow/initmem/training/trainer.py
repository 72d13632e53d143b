"""One run in training: its network from the draw on, epoch by epoch, to the judgement."""

import time
from collections.abc import Callable
from math import isfinite

import torch

from initmem.data import arrays
from initmem.randomness import epoch_order
from initmem.study.outputs import Outcome
from initmem.study.run import Run
from initmem.training.device import to_device
from initmem.training.initialization import (
    flatten,
    initialize,
    norm_and_overlap,
    root_mean_square,
    scaled_weights,
)
from initmem.training.judging import judge
from initmem.training.learner import Learner
from initmem.training.models import build_model
from initmem.training.optimizers import build_optimizer
from initmem.training.recorder import Recorder
from initmem.training.resume import State
from initmem.training.timing import Seconds


class Trainer:
    """A run as far as it has been trained. `epoch` counts the epochs that are done."""

    def __init__(self, run: Run, raw: arrays.Dataset, device: torch.device) -> None:
        self.run, self.raw, self.device = run, raw, device
        model = build_model(run)
        initialize(model, run.seed, 1.0, run.scaled)
        self.sigma_w = root_mean_square(flatten(scaled_weights(model, run.scaled)))
        initialize(model, run.seed, run.init_scale, run.scaled)
        model.to(device)
        self.scaled = scaled_weights(model, run.scaled)
        self.initial = flatten(self.scaled)
        optimizer = build_optimizer(run, model)
        self.learner = Learner(model, optimizer, to_device(raw, device), run.batch_size)
        self.recorder = Recorder()
        self.seconds = Seconds()
        self.epoch = 0

    @property
    def ended(self) -> bool:
        """Whether nothing is left to train: the last epoch is done, or the training diverged."""
        return self.epoch == self.run.epochs or self.recorder.diverged_epoch is not None

    def step_epoch(self, tell: Callable[[int], None] = lambda step: None) -> None:
        """One epoch, and where one is due an evaluation on validation, with its row of history.

        `tell` is given the number of each step of the epoch that was made.
        """
        started = time.monotonic()
        epoch = self.epoch + 1
        order = epoch_order(self.run.seed, epoch, len(self.learner.source.train.labels))
        train_loss, train_acc = self.learner.epoch(order, tell)
        trained = time.monotonic()
        due = epoch % self.run.eval_every == 0 or epoch == self.run.epochs
        if due or not isfinite(train_loss):
            self._record(epoch, train_loss, train_acc)
        self.epoch = epoch
        self.seconds.training += trained - started
        self.seconds.evaluation += time.monotonic() - trained

    def _record(self, epoch: int, train_loss: float, train_acc: float) -> None:
        validation = self.learner.evaluate(self.learner.source.validation)
        weight_norm, init_overlap = norm_and_overlap(flatten(self.scaled), self.initial)
        row = {
            "epoch": epoch,
            "step": epoch * self.run.steps_per_epoch,
            "lr": self.run.lr,
            "train_loss": train_loss,
            "train_acc": train_acc,
            "val_loss": validation.loss,
            "val_acc": validation.accuracy,
            "weight_norm": weight_norm,
            "init_overlap": init_overlap,
        }
        self.recorder.add(row, self.learner.copy_weights)

    def judge(self) -> Outcome:
        """What the run came to, once it has ended."""
        started = time.monotonic()
        outcome = judge(self.learner, self.recorder, self.sigma_w)
        self.seconds.evaluation += time.monotonic() - started
        return outcome

    def state(self) -> State:
        """All that is needed to go on from here."""
        return State(
            self.epoch,
            self.learner.model.state_dict(),
            self.learner.optimizer.state_dict(),
            self.recorder.history,
            self.recorder.best,
            self.seconds,
        )

    def restore(self, state: State) -> None:
        """Go on from a state of the same run."""
        self.learner.restore(state.model, state.optimizer)
        self.recorder = Recorder(state.history, state.best)
        self.seconds = state.seconds
        self.epoch = state.epoch
