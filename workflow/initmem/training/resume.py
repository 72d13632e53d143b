"""The state of an unfinished training: saved beside the outputs, loaded to go on bit for bit.

The file is a SHA-256 of the rest, then torch's zip of tensors and plain values. It carries a hash
of the run's values. The state before it is kept as a fall-back.
"""

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from initmem.files import atomic_write
from initmem.logs import log
from initmem.study.run import Run
from initmem.training.timing import Seconds

STATE_NAME = "state.pt"
PREVIOUS_NAME = "state.previous.pt"
FORMAT = 1


@dataclass(frozen=True)
class State:
    """All that a training carries from one epoch to the next.

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
