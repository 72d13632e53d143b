"""How far a training is, told in a small file in its folder to whoever asks while it runs."""

import json
from collections.abc import Callable
from pathlib import Path

from initmem.files import atomic_write

PROGRESS_NAME = "progress.json"


def write_epoch(folder: Path, epoch: int, permit: Callable[[], None]) -> None:
    """Tell the epoch that a training has finished; `permit` may raise before."""
    with atomic_write(folder / PROGRESS_NAME, permit) as file:
        file.write(json.dumps({"epoch": epoch}).encode())


def read_epoch(folder: Path) -> int:
    """The last epoch that was told; 0 when none was, or when it cannot be read."""
    try:
        return int(json.loads((folder / PROGRESS_NAME).read_text())["epoch"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def remove(folder: Path) -> None:
    """Remove what was told, once the training is done."""
    (folder / PROGRESS_NAME).unlink(missing_ok=True)
