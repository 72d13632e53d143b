"""What many tests need: a small run, its data, and a training in this process."""

import json
import time
from pathlib import Path

from initmem.data.arrays import prepare
from initmem.study.catalogue import DATASETS
from initmem.study.config import Engine
from initmem.study.run import Run
from initmem.training.sitting import Sitting, train

ENGINE = Engine(threads=1, device="cpu", save_every=60, lease_timeout=20, keep_weights=False)

SMALL = {
    "dataset": "digits",
    "model": "resnet9",
    "width": 2,
    "optimizer": "sgd",
    "lr": 0.05,
    "batch_size": 64,
    "weight_decay": 0.001,
    "epochs": 3,
    "init_scale": 2,
    "seed": 0,
    "subset": 100,
}


def small_run(**values) -> Run:
    """A run that trains in a fraction of a second; 100 images, so its last batch is short."""
    return Run(**SMALL | values)


def prepared_digits(folder: Path) -> Path:
    """The digits as the workflow prepares them; the path of the arrays."""
    arrays = folder / "digits.npz"
    if not arrays.exists():
        prepare("digits", DATASETS["digits"].sha256, None, arrays, folder / "digits.json")
    return arrays


def train_here(run: Run, arrays: Path, folder: Path, **engine) -> Path:
    """Train a run in this process; the folder that holds its files."""
    settings = ENGINE.model_copy(update=engine)
    train(run, arrays, folder, Sitting(settings, time.monotonic()))
    return folder


def summary(folder: Path) -> dict:
    """run.json of a trained run."""
    return json.loads((folder / "run.json").read_text())


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The files of a trained run that are the same bytes whenever it is repeated on a CPU."""
    names = ("history.csv", "predictions.npz", "run.json")
    return {name: (folder / name).read_bytes() for name in names}
