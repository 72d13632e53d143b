"""When a training stops before its end, and when it saves: by signals and by the clock."""

import signal
import time
from dataclasses import dataclass, field
from types import FrameType


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


def stop_reason(stop: StopRequests, clock: SaveClock) -> str | None:
    """Why to stop now: a signal or the time limit; None to go on."""
    return stop.reason or ("the time limit" if clock.out_of_time() else None)
