"""Judging a predictor: the classes that it gives, its loss and its accuracy."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from initmem.training.device import DeviceData, DevicePart

EVALUATION_BATCH = 500
"""Images per evaluation step: fixed, since a sum's last bits depend on how it is cut."""


@dataclass(frozen=True)
class Evaluation:
    """Classes given, uint8 (n,) on the CPU, mean cross-entropy in nats, and accuracy."""

    classes: np.ndarray
    loss: float
    accuracy: float


@torch.inference_mode()
def evaluate(model: nn.Module, part: DevicePart, source: DeviceData) -> Evaluation:
    """The model's classes, loss and accuracy on one part, in evaluation mode."""
    model.eval()
    classes, losses = [], []
    batches = zip(
        part.images.split(EVALUATION_BATCH), part.labels.split(EVALUATION_BATCH), strict=True
    )
    for images, labels in batches:
        logits = model(source.batch(images))
        losses.append(F.cross_entropy(logits, labels, reduction="sum").double())
        classes.append(logits.argmax(1))
    given = torch.cat(classes)
    correct = (given == part.labels).sum()
    loss, right = torch.stack([torch.stack(losses).sum(), correct.double()]).tolist()
    count = len(part.labels)
    return Evaluation(given.to(torch.uint8).cpu().numpy(), loss / count, right / count)
