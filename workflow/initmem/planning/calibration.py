"""How fast a setting runs on the device at hand, measured in seconds instead of a training."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from initmem.data.arrays import Dataset, Part
from initmem.planning.costs import Rates, rates_of_calibrations, rates_of_finished
from initmem.planning.settings import Setting, settings_of
from initmem.randomness import stream
from initmem.study.config import Engine
from initmem.study.run import Run
from initmem.study.study import Study
from initmem.training.device import choose_device, device_name, peak_memory_mb
from initmem.training.models import build_model
from initmem.training.trainer import Trainer

ROUGH_CPU_MULTIPLY_ADDS = 7e9
"""Multiply-adds of the forward pass, a second and thread, that training on a CPU reaches: between 5
and 9 billion were seen with networks of width 8 to 64. Good for an order of magnitude."""
ROUGH_STARTUP = 4.0
"""Seconds from the start of a job's process to its first step, seen on a CPU."""
SECONDS = 3.0
"""How long training steps are timed, at least."""
PROBE_STEPS = 2
"""Steps of the first, untimed epochs, which tell how long the timed ones should be."""
EVALUATED = 500
"""Images that are judged after each timed epoch."""


@dataclass(frozen=True)
class Machine:
    """The device at hand, how many trainings go on it side by side, and the rates known of it."""

    device: str
    slots: int
    rates: Mapping[Setting, Rates]


def machine_at_hand(
    study: Study,
    finished: Mapping[str, Mapping[str, Any]],
    engine: Engine,
    runs_folder: Path,
    calibration_folder: Path,
) -> Machine:
    """This machine with the best rates known for the study's settings.

    Those of finished runs are better than those of a calibration, and these than rough ones.
    """
    device = choose_device(engine, deterministic=False)
    here = device_name(device), engine.threads
    settings = settings_of(study.runs.values())
    rough = {Setting.of(run): rough_rates(run, device, engine.threads) for run in settings.values()}
    rates = (
        {setting: rates for setting, rates in rough.items() if rates}
        | rates_of_calibrations(settings, calibration_folder, *here)
        | rates_of_finished(study.runs, finished, runs_folder, *here)
    )
    slots = max(1, (os.cpu_count() or 1) // engine.threads) if device.type == "cpu" else 1
    return Machine(here[0], slots, rates)


def calibrate(run: Run, engine: Engine, started: float) -> dict[str, Any]:
    """Rates of the run's setting, on random images: images a second, start-up in seconds, memory.

    The trainer itself is timed, so that its overhead counts. `started` is the monotonic time at
    which this process began.
    """
    device = choose_device(engine, run.deterministic)
    startup = time.monotonic() - started
    _, probed = _timed_epochs(run, PROBE_STEPS, 0.0, device)
    steps = round(max(1.0, min(1 / probed["training"] * PROBE_STEPS, run.steps_per_epoch)))
    images, seconds = _timed_epochs(run, steps, SECONDS, device)
    return {
        "train_images_per_second": round(images["training"] / seconds["training"], 1),
        "evaluation_images_per_second": round(images["evaluation"] / seconds["evaluation"], 1),
        "seconds_startup": round(startup, 3),
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "device": device_name(device),
        "threads": engine.threads,
    }


def rough_rates(run: Run, device: torch.device, threads: int) -> Rates | None:
    """Rates from the size of the network alone; None for a device that we know nothing of."""
    if device.type != "cpu":
        return None
    train = ROUGH_CPU_MULTIPLY_ADDS * threads / multiply_adds(run)
    return Rates(train, 3 * train, ROUGH_STARTUP, None, "rough")


def multiply_adds(run: Run) -> int:
    """Multiply-adds of one image's forward pass, convolutions and linear layers."""
    counted = 0

    def count(layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        nonlocal counted
        counted += output[0].numel() * layer.weight[0].numel()

    facts = run.dataset_facts
    with torch.device("meta"):
        model = build_model(run)
        for layer in model.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                layer.register_forward_hook(count)
        model(torch.empty(2, facts.channels, facts.image_size, facts.image_size))
    return counted


def _timed_epochs(
    run: Run, steps: int, least: float, device: torch.device
) -> tuple[dict[str, int], dict[str, float]]:
    """Images and seconds of epochs of so many steps, after an untimed one, for `least` seconds."""
    raw = _random_images(run, steps * run.batch_size)
    timed = run.model_copy(update={"eval_every": 1})
    trainer = Trainer(timed, raw, device)
    trainer.step_epoch()
    seconds = trainer.seconds
    before = seconds.training, seconds.evaluation
    epochs = 0
    while epochs == 0 or seconds.training - before[0] < least:
        trainer.step_epoch()
        epochs += 1
    images = {"training": epochs * steps * run.batch_size, "evaluation": epochs * EVALUATED}
    spent = seconds.training - before[0], seconds.evaluation - before[1]
    return images, dict(zip(("training", "evaluation"), spent, strict=True))


def _random_images(run: Run, count: int) -> Dataset:
    facts = run.dataset_facts
    draws = stream(run.seed, "calibration")

    def part(size: int) -> Part:
        shape = (size, facts.channels, facts.image_size, facts.image_size)
        return Part(
            draws.integers(0, 256, shape, dtype=np.uint8),
            draws.integers(0, facts.classes, size, dtype=np.uint8),
        )

    return Dataset(part(count), part(EVALUATED), part(EVALUATED))
