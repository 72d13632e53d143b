"""Writing files so that a name never stands for half a file, and reading them with plain words."""

import csv
import hashlib
import io
import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from initmem.errors import UserError

TEMPORARY_SUFFIX = ".part"


@contextmanager
def atomic_write(path: Path, permit: Callable[[], None] = lambda: None) -> Iterator[BinaryIO]:
    """A file to write to that takes the name `path` only when complete and on disk.

    `permit` is called right before the renaming and may raise, which leaves `path` as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}{TEMPORARY_SUFFIX}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        permit()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a renaming last; some network disks cannot, and then it lasts when they say so."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_temporaries(folder: Path) -> None:
    """Remove what killed writers left behind; only for who holds the folder's lease."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes. Raises OSError when it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_bytes(value: Any) -> bytes:
    """Strict JSON (no NaN), the same bytes for the same value. Raises ValueError for NaN."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def csv_bytes(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """A table as CSV; None and NaN are empty cells, floats their shortest exact text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row[c] is None or row[c] != row[c] else row[c] for c in columns])
    return text.getvalue().encode()


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises UserError that names the file and the remedy."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); delete it and start the same command again"
        ) from None
