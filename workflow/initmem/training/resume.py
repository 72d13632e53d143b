"""The state of an unfinished training: saved beside the outputs, loaded to go on bit for bit.

The file is a SHA-256 of the rest, then torch's zip of tensors and plain values. It carries a hash
of the run's values. The state before it is kept as a fall-back.
"""

import hashlib
import io
import json
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from initmem.files import atomic_write
from initmem.logs import log
from initmem.study.run import Run

STATE_NAME = "state.pt"
PREVIOUS_NAME = "state.previous.pt"
FORMAT = 1


@dataclass
class Seconds:
    """Time spent so far, in seconds, over all the sittings of a training."""

    startup: float = 0.0
    training: float = 0.0
    evaluation: float = 0.0


@dataclass
class State:
    """All that a training carries from one epoch to the next; grows while it trains.

    `best` holds the validation-best epoch so far, its validation accuracy and the model then.
    """

    epoch: int
    model: dict[str, torch.Tensor]
    optimizer: dict[str, Any]
    history: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Any] | None = None
    seconds: Seconds = field(default_factory=Seconds)


def run_hash(run: Run) -> str:
    """SHA-256 of the values that differ from their defaults, so new defaults keep it."""
    text = json.dumps([FORMAT, run.stated()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def save(state: State, run: Run, folder: Path, permit: Callable[[], None]) -> None:
    """Write the state under a temporary name, keep the one before it, then rename.

    `permit` is called before anything takes a name, and may raise.
    """
    content = io.BytesIO()
    torch.save(
        {**vars(state), "seconds": asdict(state.seconds), "run_hash": run_hash(run)}, content
    )
    payload = content.getbuffer()
    path = folder / STATE_NAME

    def keep_previous() -> None:
        permit()
        if path.exists():
            path.replace(folder / PREVIOUS_NAME)

    with atomic_write(path, keep_previous) as file:
        file.write(hashlib.sha256(payload).digest())
        file.write(payload)


def load(run: Run, folder: Path, device: torch.device) -> State | None:
    """The newest state that is whole and of this run; None when there is none."""
    for name in (STATE_NAME, PREVIOUS_NAME):
        path = folder / name
        if not path.exists():
            continue
        try:
            content = path.read_bytes()
            digest, payload = content[:32], content[32:]
            if hashlib.sha256(payload).digest() != digest:
                raise ValueError("it is torn")
            values = torch.load(io.BytesIO(payload), map_location=device, weights_only=True)
            if values.pop("run_hash") != run_hash(run):
                raise ValueError("it is of another run")
            return State(**values | {"seconds": Seconds(**values["seconds"])})
        except Exception as error:
            log(f"{path} is not used: {error}")
            # It must not become the fall-back of the next state that is saved.
            path.unlink(missing_ok=True)
    return None


def remove(folder: Path) -> None:
    """Remove the states of a training that is done."""
    for name in (STATE_NAME, PREVIOUS_NAME):
        (folder / name).unlink(missing_ok=True)


class StopRequests:
    """Context manager that notes a request to stop; a second signal acts at once.

    A signal that is ignored stays so, as under nohup.
    """

    SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)

    def __init__(self) -> None:
        self.reason: str | None = None

    def __enter__(self) -> "StopRequests":
        heeded = [n for n in self.SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._note) for number in heeded}
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.reason = signal.Signals(number).name
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


@dataclass
class SaveClock:
    """Says when to save: every `every` seconds, and before a deadline if there is one.

    `deadline` is a time of time.monotonic() by which the process should have left, or None.
    """

    every: float
    deadline: float | None
    _last: float = field(default_factory=time.monotonic)
    _epoch_started: float = field(default_factory=time.monotonic)
    _longest_epoch: float = 0.0

    def training_begins(self) -> None:
        """Count the first epoch from now: waiting and loading are no part of it."""
        self._epoch_started = time.monotonic()

    def epoch_ended(self) -> None:
        """Note how long the epoch took."""
        now = time.monotonic()
        self._longest_epoch = max(self._longest_epoch, now - self._epoch_started)
        self._epoch_started = now

    def due(self) -> bool:
        """Whether the last save is `every` seconds old; starts the wait anew when it is."""
        now = time.monotonic()
        if now - self._last < self.every:
            return False
        self._last = now
        return True

    def out_of_time(self) -> bool:
        """Whether one more epoch, half as long again as the longest, would pass the deadline."""
        if self.deadline is None:
            return False
        return time.monotonic() + 1.5 * self._longest_epoch > self.deadline
