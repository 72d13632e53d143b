"""One writer per run: a lease file with a heartbeat and its owner's token.

A lease is taken over only when its owner is known to be dead (same machine, process gone) or when
its heartbeat has not moved for `timeout` seconds of the waiter's own clock, so clocks of different
machines are never compared. The owner checks its token before each renaming of a file: whoever
lost the lease while asleep writes nothing more.
"""

import errno
import json
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from initmem.errors import Interrupted, LeaseLost
from initmem.files import TEMPORARY_SUFFIX, atomic_write
from initmem.logs import log

LEASE_NAME = "lease.json"
NO_HARD_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)


class Lease:
    """Context manager: waits until the folder is ours, then beats until left.

    `timeout`: seconds without a heartbeat after which another owner counts as dead.
    `stop_reason`: asked while waiting; a text that it gives ends the waiting with Interrupted.
    """

    def __init__(
        self, folder: Path, timeout: float, stop_reason: Callable[[], str | None] = lambda: None
    ) -> None:
        self.path = folder / LEASE_NAME
        self.timeout = timeout
        self.stop_reason = stop_reason
        self.waited = 0.0
        """Seconds that the lease was waited for."""
        self.token = uuid.uuid4().hex
        self._left = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Lease":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        self._acquire()
        self.waited = time.monotonic() - started
        self._beats.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.set()
        self._beats.join()
        if self._is_ours():
            self.path.unlink(missing_ok=True)

    def check(self) -> None:
        """Raise LeaseLost unless the lease is still ours."""
        if not self._is_ours():
            raise LeaseLost(
                f"the lease of {self.path.parent} is lost to another process or deleted"
            )

    def _is_ours(self) -> bool:
        return _read(self.path).get("token") == self.token

    def _acquire(self) -> None:
        told = False
        seen, since = None, time.monotonic()
        while not self._create():
            holder = _read(self.path)
            sign = (holder.get("token"), _heartbeat(self.path))
            if sign != seen:
                seen, since = sign, time.monotonic()
            if _is_dead(holder) or time.monotonic() - since > self.timeout:
                if self._take_over(seen):
                    return
            elif not told:
                told = True
                log(f"waiting for process {holder.get('pid', '?')}, at work on {self.path.parent}")
            self._pause()
            if reason := self.stop_reason():
                raise Interrupted(f"stopped by {reason} while waiting for {self.path.parent}")

    def _pause(self) -> None:
        time.sleep(min(0.5, self.timeout / 10))

    def _create(self) -> bool:
        """Put our lease where there is none; False where there is one.

        It takes its name only when it is whole: one that tells no owner, left by a process that
        was killed in between, would count as alive until its timeout.
        """
        if self.path.exists():
            return False
        whole = self.path.with_name(f".{LEASE_NAME}.{self.token[:8]}{TEMPORARY_SUFFIX}")
        try:
            whole.write_bytes(self._content())
            self.path.hardlink_to(whole)
        except (FileExistsError, FileNotFoundError):
            return False
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            return self._create_in_place()
        finally:
            whole.unlink(missing_ok=True)
        return True

    def _create_in_place(self) -> bool:
        """The same where the disk knows no hard links."""
        try:
            with self.path.open("xb") as file:
                file.write(self._content())
        except FileExistsError:
            return False
        return True

    def _take_over(self, seen: tuple[str | None, int | None]) -> bool:
        """Replace the lease that was `seen`; of several who try at once the last one has it."""

        def unchanged() -> None:
            if (_read(self.path).get("token"), _heartbeat(self.path)) != seen:
                raise LeaseLost

        try:
            with atomic_write(self.path, unchanged) as file:
                file.write(self._content())
        except (LeaseLost, FileNotFoundError):
            return False
        log(f"taking over {self.path.parent} from a process that is gone")
        self._pause()
        return self._is_ours()

    def _content(self) -> bytes:
        owner = {"token": self.token, "machine": _machine(), "pid": os.getpid()}
        owner["process_start"] = _process_start(os.getpid())
        return json.dumps(owner).encode()

    def _beat(self) -> None:
        while not self._left.wait(self.timeout / 6):
            with suppress(OSError):
                if self._is_ours():
                    os.utime(self.path)


def is_held(folder: Path, timeout: float) -> bool:
    """Whether some process seems to be at work on a folder: for people, not for writers.

    Compares the heartbeat with this machine's clock, which a writer never does.
    """
    path = folder / LEASE_NAME
    heartbeat = _heartbeat(path)
    if heartbeat is None or _is_dead(_read(path)):
        return False
    return time.time() - heartbeat / 1e9 < timeout


def _read(path: Path) -> dict:
    """A lease's content; empty when it is missing or unreadable."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _heartbeat(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _machine() -> str | None:
    """A name for the space in which process numbers mean something; None where unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{platform.node()}/{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _process_start(pid: int) -> str | None:
    """When a living process started, in clock ticks since boot; None when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def _is_dead(holder: dict) -> bool:
    """Whether the owner is known to be gone: same machine, and no such process any more."""
    if not holder or holder.get("machine") is None or holder.get("machine") != _machine():
        return False
    return _process_start(int(holder["pid"])) != holder.get("process_start")
