"""The golden runs: what a few tiny trainings computed when `protocol` was last raised.

Run as a program (`make golden`) it records them anew, for after `protocol` was raised.
"""

import csv
import json
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).with_name("golden.json")
COLUMNS = ("train_loss", "val_loss", "weight_norm", "init_overlap")
RUNS = {
    "sgd": {"momentum": 0.9, "lr": 0.01},
    "sgd, conv scaled": {"scaled": "conv", "init_scale": 4, "decayed": "weights"},
    "adam": {"optimizer": "adam", "lr": 0.001},
    "adamw": {"optimizer": "adamw", "lr": 0.001, "weight_decay": 0.1},
    "rmsprop": {"optimizer": "rmsprop", "lr": 0.0001},
    "nadam": {"optimizer": "nadam", "lr": 0.001, "init_scale": 0.5},
}


def compute(arrays: Path, folder: Path) -> dict[str, list[list[float]]]:
    """For each golden run the COLUMNS of its history, epoch by epoch."""
    from support import small_run, train_here

    histories = {}
    for name, values in RUNS.items():
        trained = train_here(small_run(**values), arrays, folder / name)
        with (trained / "history.csv").open() as file:
            rows = list(csv.DictReader(file))
        histories[name] = [[float(row[column]) for column in COLUMNS] for row in rows]
    return histories


def record() -> None:
    """Write what the golden runs compute now, with the protocol that it belongs to."""
    from initmem.study.run import PROTOCOL
    from support import prepared_digits

    with tempfile.TemporaryDirectory() as folder:
        histories = compute(prepared_digits(Path(folder)), Path(folder))
    FILE.write_text(json.dumps({"protocol": PROTOCOL, "histories": histories}, indent=1) + "\n")


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    sys.path[:0] = [str(root / "workflow"), str(root / "tests")]
    record()
