"""Bringing a big archive to a path: from mirrors or a local copy, checked before it takes its name.

The bytes grow in `.<name>.part` beside the target. What a cut or killed download left there is
continued by the next one, and since only the checksum over the whole file decides, it does not
matter which source began it.
"""

import errno
import fcntl
import itertools
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from initmem.data.sources import (
    DEFAULT_POLICY,
    Answer,
    PassingError,
    Policy,
    SourceError,
    StaleError,
    UnreachableError,
    ask,
    plain_words,
    short_name,
)
from initmem.errors import UserError
from initmem.files import TEMPORARY_SUFFIX, file_sha256
from initmem.logs import log

PROGRESS_EVERY = 5.0
"""Seconds between two lines about the progress, at least."""
UNREACHABLE_ATTEMPTS = 2
"""Tries of a host that cannot be reached at all: a node without a network has to say so soon."""
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)


@dataclass(frozen=True)
class _Wanted:
    """The file that is asked for: its name, checksum and, where known, its size in bytes."""

    name: str
    sha256: str
    size: int | None


def fetch(
    sources: Sequence[str],
    target: Path,
    sha256: str,
    size: int | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> None:
    """Bring the file with this SHA-256 to `target`; nothing to do where it is already.

    `sources` are tried in order: http(s) and file URLs, or local paths (`~` is expanded). `size`,
    in bytes, bounds what is taken from a source. Of several processes one downloads at a time, the
    others wait for its result. A file of that name with another checksum is removed first.

    Raises UserError, one line with the reason for each source, when none has the file; what has
    come of it by then stays beside `target` for the next call to continue. Raises OSError when
    the disk does not take the file.
    """
    wanted = _Wanted(target.name, sha256.lower(), size)
    if _has_checksum(target, wanted.sha256):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone(target) as part:
        if _has_checksum(target, wanted.sha256):
            return
        _remove_wrong(target)
        _from_first_good(sources, part, wanted, policy)
        _take_name(part, target)
        log(f"{target.name}: complete, and its SHA-256 is the expected one")


def _has_checksum(path: Path, sha256: str) -> bool:
    try:
        return file_sha256(path) == sha256
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UserError(f"{path} cannot be read ({plain_words(error)}); move it away") from None


def _remove_wrong(target: Path) -> None:
    if target.exists():
        log(f"{target} has another SHA-256 than expected and is replaced")
    target.unlink(missing_ok=True)


def _take_name(part: Path, target: Path) -> None:
    """Give the checked file its name. The folder needs no sync: a lost renaming is made again."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)


@contextmanager
def _alone(target: Path) -> Iterator[Path]:
    """Wait until no other process fetches `target`; gives the temporary file to work on.

    Where the disk knows no locks, each process has a temporary file of its own: they then do the
    same work twice, but never into one another's file.
    """
    lock = target.with_name(f".{target.name}.lock")
    while True:
        with lock.open("ab") as file:
            locked = _lock(file, target)
            if locked and not _is_named(file, lock):
                continue  # Its last holder has removed it, and another may hold a newer one.
            own = "" if locked else f".{uuid.uuid4().hex[:8]}"
            part = target.with_name(f".{target.name}{own}{TEMPORARY_SUFFIX}")
            try:
                yield part
            finally:
                (lock if locked else part).unlink(missing_ok=True)
            return


def _lock(file: BinaryIO, target: Path) -> bool:
    """Lock an open file, however long it takes; False where that is not possible."""
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log(f"{target.name}: waiting for another process that brings it")
            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True


def _is_named(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _from_first_good(sources: Sequence[str], part: Path, wanted: _Wanted, policy: Policy) -> None:
    """Fill `part` from the first source that has the file. Raises UserError when none has."""
    reasons = []
    for source in sources:
        try:
            _from_source(source, part, wanted, policy)
            return
        except SourceError as error:
            reasons.append(f"{short_name(source)}: {error}")
            log(f"{wanted.name}: {reasons[-1]}")
    told = "; ".join(reasons) or "no source is given"
    text = (
        f"{wanted.name} with SHA-256 {wanted.sha256} could not be had ({told}); download it by"
        " hand and give its local path in config.yaml as data.<name>.sources"
    )
    raise UserError(" ".join(text.split()))


def _from_source(source: str, part: Path, wanted: _Wanted, policy: Policy) -> None:
    """Fill `part` from one source, in as many tries as it deserves; see `SourceError`."""
    for attempt in itertools.count(1):
        try:
            _attempt(source, part, wanted, policy)
            return
        except PassingError as error:
            if isinstance(error, StaleError):
                part.unlink(missing_ok=True)
            if attempt >= _deserved_attempts(error, policy):
                raise SourceError(f"{error} (tries: {attempt})") from None
            wait = policy.first_wait * 2 ** (attempt - 1)
            log(f"{wanted.name}: {short_name(source)}: {error}; next try in {wait:g} s")
            time.sleep(wait)


def _deserved_attempts(error: PassingError, policy: Policy) -> int:
    if isinstance(error, UnreachableError):
        return min(UNREACHABLE_ATTEMPTS, policy.attempts)
    return policy.attempts


def _attempt(source: str, part: Path, wanted: _Wanted, policy: Policy) -> None:
    """Fill `part` from a source and check it; it stays only if it is, or may become, the file."""
    if _has_checksum(part, wanted.sha256):
        return
    offset = part.stat().st_size if part.exists() else 0
    with ask(source, offset, policy) as answer:
        _store(answer, part, wanted, short_name(source))
    if _has_checksum(part, wanted.sha256):
        return
    part.unlink()
    if answer.start:
        # The fault may lie in what was there before, so the source gets a chance of its own.
        raise StaleError("continuing an earlier download gave a wrong SHA-256")
    raise SourceError("its file has another SHA-256")


def _store(answer: Answer, part: Path, wanted: _Wanted, source: str) -> None:
    """Write what a source sends behind the first `start` bytes of `part`."""
    first = next(answer.chunks, b"")
    total = _plausible_total(answer, first, wanted)
    log(f"{wanted.name}: from {source}" + (f", from byte {answer.start}" if answer.start else ""))
    progress = _Progress(wanted.name, answer.start, total)
    with part.open("ab") as file:
        file.truncate(answer.start)
        for chunk in itertools.chain([first], answer.chunks):
            file.write(chunk)
            progress.add(len(chunk))
            if total is not None and progress.done > total:
                part.unlink()
                raise SourceError(f"it sent more than {total} bytes")
    if total is not None and progress.done < total:
        raise PassingError(f"it was cut after {progress.done} of {total} bytes")


def _plausible_total(answer: Answer, first: bytes, wanted: _Wanted) -> int | None:
    """The size that the file is to have, if known; told before what is already there is touched.

    Raises SourceError when what comes is no archive or has another size.
    """
    if answer.start == 0 and _is_page(first, answer.labelled_html):
        raise SourceError("it gave an HTML page instead of the file")
    if None not in (answer.total, wanted.size) and answer.total != wanted.size:
        raise SourceError(f"its file has {answer.total} bytes instead of {wanted.size}")
    return wanted.size if answer.total is None else answer.total


def _is_page(beginning: bytes, labelled_html: bool) -> bool:
    """Whether bytes begin an HTML page; the label alone proves nothing, scripts label archives."""
    text = beginning[:64].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return text.startswith((b"<!doctype html", b"<html")) or (
        labelled_html and text.startswith(b"<")
    )


class _Progress:
    """Counts the bytes of a file and says now and then how far they are."""

    def __init__(self, name: str, start: int, total: int | None) -> None:
        self.name = name
        self.done = start
        self.total = total
        self._told = start
        self._told_at = time.monotonic()

    def add(self, count: int) -> None:
        """Count bytes that have come."""
        self.done += count
        elapsed = time.monotonic() - self._told_at
        if elapsed >= PROGRESS_EVERY:
            speed = (self.done - self._told) / elapsed
            log(f"{self.name}: {self._share()}, {speed / 1e6:.2f} MB/s")
            self._told, self._told_at = self.done, time.monotonic()

    def _share(self) -> str:
        if not self.total:
            return f"{self.done / 1e6:.1f} MB"
        share = self.done / self.total
        return f"{self.done / 1e6:.1f} of {self.total / 1e6:.1f} MB, {share:.0%}"
