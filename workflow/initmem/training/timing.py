"""What a training took, and on what."""

from dataclasses import dataclass
from typing import Any

import torch

from initmem.training.device import device_name, peak_memory_mb


@dataclass
class Seconds:
    """Time spent so far, in seconds, over all the sittings of a training."""

    startup: float = 0.0
    training: float = 0.0
    evaluation: float = 0.0


def timing(seconds: Seconds, samples: int, device: torch.device, threads: int) -> dict[str, Any]:
    """The measured part of timing.json: seconds, training images a second, memory, device."""
    return {
        "seconds_startup": round(seconds.startup, 3),
        "seconds_training": round(seconds.training, 3),
        "seconds_evaluation": round(seconds.evaluation, 3),
        "samples_per_second": round(samples / max(seconds.training, 1e-9), 1),
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "device": device_name(device),
        "threads": threads,
    }
