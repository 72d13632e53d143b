"""A network that learns: tensors only, and nothing of runs, files or time.

What a step computes, and how it is carried out on a device, stands here and nowhere else.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from initmem.training.device import DeviceData, DevicePart
from initmem.training.evaluation import Evaluation, evaluate
from initmem.training.optimizers import match_strides, plain_step


class Learner:
    """A network, its optimizer and the data, all on one device."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        source: DeviceData,
        batch_size: int,
    ) -> None:
        self.model, self.optimizer = model, optimizer
        self.source, self.batch_size = source, batch_size
        self._update = plain_step(optimizer)

    def epoch(self, order: np.ndarray, tell: Callable[[int], None]) -> tuple[float, float]:
        """Train once on each image, in this order; the last, short batch is kept.

        Mean cross-entropy in nats and accuracy over the epoch, in training mode, as the weights
        moved; the host waits for the device once, at the end. `order` is int64 (images,); `tell`
        is given the number of each step that was made.
        """
        self.model.train()
        train = self.source.train
        visited = torch.from_numpy(order).to(train.labels.device)
        images = train.images[visited].split(self.batch_size)
        labels = train.labels[visited].split(self.batch_size)
        sums = torch.zeros(2, dtype=torch.float64, device=train.labels.device)
        for step, batch in enumerate(zip(images, labels, strict=True), start=1):
            self._step(*batch, sums)
            tell(step)
        loss, correct = sums.tolist()
        return loss / len(order), correct / len(order)

    def _step(self, images: torch.Tensor, labels: torch.Tensor, sums: torch.Tensor) -> None:
        """One step on one batch; adds its summed loss and its number of right answers."""
        logits = self.model(self.source.batch(images))
        loss = F.cross_entropy(logits, labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self._update()
        with torch.no_grad():
            sums[0] += loss.detach() * len(labels)
            sums[1] += (logits.argmax(1) == labels).sum()

    def evaluate(self, part: DevicePart) -> Evaluation:
        """The network's classes, loss and accuracy on one part, in evaluation mode."""
        return evaluate(self.model, part, self.source)

    def copy_weights(self) -> dict[str, torch.Tensor]:
        """The network's state as it is now, which further training leaves alone."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def restore(self, model: dict[str, torch.Tensor], optimizer: dict[str, Any]) -> None:
        """Go on from a saved state of network and optimizer."""
        self.model.load_state_dict(model)
        self.optimizer.load_state_dict(optimizer)
        match_strides(self.optimizer)
