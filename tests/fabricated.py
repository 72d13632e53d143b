"""A tiny study, and its runs finished without training, with accuracies that a test chooses."""

import copy

import numpy as np

from initmem.study import outputs
from initmem.study.outputs import Outcome, Predictions
from initmem.study.study import Study, load_study

LABELS = np.repeat(np.arange(10, dtype=np.uint8), 10)

CONFIG = {
    "study": "tiny",
    "engine": {
        "threads": 1,
        "device": "cpu",
        "save_every": 60,
        "lease_timeout": 60,
        "keep_weights": False,
    },
    "data": {"digits": {}},
    "studies": {
        "tiny": {
            "title": "Tiny",
            "axes": {
                "dataset": "digits",
                "model": "resnet9",
                "width": 2,
                "batch_size": 64,
                "weight_decay": 0,
                "epochs": 2,
                "init_scale": [1, 2],
                "seed": [0, 1],
            },
            "sweeps": {
                "sgd": {"label": "SGD", "axes": {"optimizer": "sgd", "lr": [0.1, 0.01]}},
                "adam": {
                    "label": "Adam",
                    "claims": ["C3"],
                    "axes": {"optimizer": "adam", "lr": 0.1},
                },
            },
        }
    },
}


def config(**axes) -> dict:
    """The tiny configuration with other axes in its first sweep."""
    changed = copy.deepcopy(CONFIG)
    changed["studies"]["tiny"]["sweeps"]["sgd"]["axes"] |= axes
    return changed


def plan(**axes) -> Study:
    """The study of the first sweep alone, at one learning rate, with other axes."""
    study = config(lr=0.1, **axes)
    del study["studies"]["tiny"]["sweeps"]["adam"]
    return load_study(study)


def classes_with(accuracy: float) -> np.ndarray:
    """Predictions on 100 images of which the first are right, the rest one class off."""
    wrong = np.arange(100) >= round(100 * accuracy)
    return ((LABELS + wrong) % 10).astype(np.uint8)


def fake(root, run, test_acc: float | None, train_acc: float = 1.0, val=(0.1, 0.9)) -> None:
    """Write a run's files as the trainer would; no accuracy means that it diverged."""
    rows = [
        dict.fromkeys(outputs.HISTORY_COLUMNS, 0.0) | {"epoch": e, "val_acc": v}
        for e, v in enumerate(val, start=1)
    ]
    done = test_acc is not None
    accuracies = {"train_acc": train_acc, "val_acc": max(val), "test_acc": test_acc} if done else {}
    kept = classes_with(test_acc) if done else np.zeros(0, np.uint8)
    outcome = Outcome(
        status="done" if done else "diverged",
        history=rows,
        selected_epoch=1 + int(np.argmax(val)) if done else None,
        diverged_epoch=None if done else 2,
        selected=accuracies,
        final=accuracies,
        selected_predictions=Predictions(kept, kept),
        final_predictions=Predictions(kept, kept),
        sigma_w=0.1,
    )
    outputs.write_run(root / run.id, run, outcome, Predictions(LABELS, LABELS), {}, lambda: None)
