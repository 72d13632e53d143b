"""The device that a training runs on, and the data that live there."""

import os
import platform
import resource
import sys
from dataclasses import dataclass

import numpy as np
import torch

from initmem.data import arrays
from initmem.errors import UserError
from initmem.study.config import Engine


@dataclass(frozen=True)
class DevicePart:
    """One part of the data on the device: images uint8 (n, size, size, channels), labels int64."""

    images: torch.Tensor
    labels: torch.Tensor


@dataclass(frozen=True)
class DeviceData:
    """The data on the device, and the training images' mean and deviation per channel."""

    train: DevicePart
    validation: DevicePart
    test: DevicePart
    mean: torch.Tensor
    deviation: torch.Tensor

    def batch(self, images: torch.Tensor) -> torch.Tensor:
        """Normalized float32 images (n, channels, size, size) in channels_last layout."""
        return images.permute(0, 3, 1, 2).float().sub_(self.mean).div_(self.deviation)


def gpu_is_visible() -> bool:
    """Whether torch sees a GPU here."""
    return torch.cuda.is_available()


def choose_device(engine: Engine, deterministic: bool) -> torch.device:
    """The device to train on, with threads and determinism set. Raises UserError without a GPU."""
    torch.set_num_threads(engine.threads)
    if engine.device == "cuda" and not gpu_is_visible():
        raise UserError("engine.device: no GPU is visible; set it to auto or cpu in config.yaml")
    # Convolutions and products in fp32 mean fp32, on a GPU too.
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = False
    use_gpu = engine.device != "cpu" and gpu_is_visible()
    return torch.device("cuda" if use_gpu else "cpu")


def to_device(dataset: arrays.Dataset, device: torch.device) -> DeviceData:
    """The data as uint8 on the device; mean and deviation are those of the training images."""

    def part(source: arrays.Part) -> DevicePart:
        images = torch.from_numpy(np.ascontiguousarray(source.images.transpose(0, 2, 3, 1)))
        return DevicePart(images.to(device), torch.from_numpy(source.labels).long().to(device))

    def per_channel(values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values.astype(np.float32)).view(1, -1, 1, 1).to(device)

    images = dataset.train.images
    return DeviceData(
        part(dataset.train),
        part(dataset.validation),
        part(dataset.test),
        per_channel(images.mean(axis=(0, 2, 3), dtype=np.float64)),
        per_channel(images.std(axis=(0, 2, 3), dtype=np.float64)),
    )


def device_name(device: torch.device) -> str:
    """What a person would call the device."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU ({platform.machine()})"


def peak_memory_mb() -> float:
    """The most main memory that this process has held so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform == "linux" else peak / 1024**2
