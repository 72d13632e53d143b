"""One writer per run: a lease file with a heartbeat and its owner's token.

A lease is taken over only when its owner is known to be dead (same machine, process gone) or when
its heartbeat has not moved for `timeout` seconds of the waiter's own clock, so clocks of different
machines are never compared. The owner checks its token before each renaming of a file: whoever
lost the lease while asleep writes nothing more.
"""

import json
import os
import platform
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType

from initmem.errors import Interrupted
from initmem.files import atomic_write
from initmem.logs import log

LEASE_NAME = "lease.json"


class Lease:
    """Context manager: waits until the folder is ours, then beats until left.

    `timeout`: seconds without a heartbeat after which another owner counts as dead.
    """

    def __init__(self, folder: Path, timeout: float) -> None:
        self.path = folder / LEASE_NAME
        self.timeout = timeout
        self.token = uuid.uuid4().hex
        self._left = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Lease":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._acquire()
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
        if _read(self.path).get("token") == self.token:
            self.path.unlink(missing_ok=True)

    def check(self) -> None:
        """Raise Interrupted unless the lease is still ours."""
        if _read(self.path).get("token") != self.token:
            raise Interrupted(
                f"another process has taken over {self.path.parent}; it goes on there"
            )

    def _acquire(self) -> None:
        told = False
        seen, since = None, time.monotonic()
        while not self._create():
            holder = _read(self.path)
            sign = (holder.get("token"), _heartbeat(self.path))
            if sign != seen:
                seen, since = sign, time.monotonic()
            if _is_dead(holder) or time.monotonic() - since > self.timeout:
                log(f"taking over {self.path.parent} from a process that is gone")
                if self._take_over():
                    return
            elif not told:
                told = True
                log(f"waiting for process {holder.get('pid')}, which works on {self.path.parent}")
            time.sleep(min(0.5, self.timeout / 10))

    def _create(self) -> bool:
        """Put our lease where there is none; False where there is one."""
        draft = self.path.with_name(f".{LEASE_NAME}.{self.token}")
        draft.write_bytes(self._content())
        try:
            os.link(draft, self.path)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True

    def _take_over(self) -> bool:
        """Replace a dead owner's lease; of several who try at once the last one has it."""
        with atomic_write(self.path) as file:
            file.write(self._content())
        time.sleep(min(0.5, self.timeout / 10))
        return _read(self.path).get("token") == self.token

    def _content(self) -> bytes:
        owner = {"token": self.token, "machine": _machine(), "pid": os.getpid()}
        owner["process_start"] = _process_start(os.getpid())
        return json.dumps(owner).encode()

    def _beat(self) -> None:
        while not self._left.wait(self.timeout / 6):
            try:
                os.utime(self.path)
            except OSError:
                continue


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
