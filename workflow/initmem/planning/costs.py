"""What trainings cost before they run: seconds and memory, from rates that were measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from initmem.errors import UserError
from initmem.files import read_json
from initmem.planning.settings import Setting
from initmem.study import outputs
from initmem.study.run import Run

JUDGED = 2
"""Predictors of a run that are judged on all images: the selected and the final one."""


@dataclass(frozen=True)
class Rates:
    """How fast a setting runs on one device, and what tells so.

    `train` and `evaluation` are images a second, `startup` is in seconds, `memory_mb` the peak of
    main memory in MiB (None: not known).
    """

    train: float
    evaluation: float
    startup: float
    memory_mb: float | None
    source: str

    def seconds(self, run: Run) -> float:
        """How long a run of this setting takes, alone on its device."""
        return (
            self.startup
            + run.epochs * run.train_size / self.train
            + evaluated_images(run) / self.evaluation
        )


def side_by_side(seconds: Sequence[float], slots: int) -> float:
    """How long trainings of so many seconds take when `slots` of them go side by side, at least."""
    return max(sum(seconds) / slots, max(seconds, default=0.0))


def evaluated_images(run: Run, judged: int = JUDGED) -> int:
    """Images that a run passes through its network in evaluation mode, each as often as it is."""
    facts = run.dataset_facts
    validations = -(-run.epochs // run.eval_every)
    return validations * facts.validation + judged * (
        run.train_size + facts.validation + facts.test
    )


def rates_of_finished(
    runs: Mapping[str, Run],
    finished: Mapping[str, Mapping[str, Any]],
    runs_folder: Path,
    device: str,
    threads: int,
) -> dict[Setting, Rates]:
    """Median rates of the finished runs that were trained on such a device with as many threads."""
    found: dict[Setting, list[Rates]] = {}
    for run_id, summary in finished.items():
        timing = _timing(runs_folder / run_id / outputs.TIMING)
        same = (timing.get("device"), timing.get("threads")) == (device, threads)
        if same and summary["status"] == "done":
            run = runs[run_id]
            judged = 1 if summary["selected_epoch"] == run.epochs else JUDGED
            found.setdefault(Setting.of(run), []).append(_rates_of(run, timing, judged))
    return {setting: _median(rates) for setting, rates in found.items()}


def rates_of_calibrations(
    settings: Mapping[str, Run], folder: Path, device: str, threads: int
) -> dict[Setting, Rates]:
    """Rates of the settings that were calibrated on such a device with as many threads."""
    found = {}
    for name, run in settings.items():
        measured = _timing(folder / f"{name}.json")
        if (measured.get("device"), measured.get("threads")) == (device, threads):
            found[Setting.of(run)] = Rates(
                measured["train_images_per_second"],
                measured["evaluation_images_per_second"],
                measured["seconds_startup"],
                measured["peak_memory_mb"],
                "calibration",
            )
    return found


def _timing(path: Path) -> dict[str, Any]:
    """A file of timings; empty when it is missing or unreadable: an estimate can do without."""
    try:
        return read_json(path)
    except UserError:
        return {}


def _rates_of(run: Run, timing: Mapping[str, Any], judged: int) -> Rates:
    return Rates(
        timing["samples_per_second"],
        evaluated_images(run, judged) / max(timing["seconds_evaluation"], 1e-9),
        timing["seconds_startup"],
        timing.get("peak_memory_mb"),
        "finished runs",
    )


def _median(rates: list[Rates]) -> Rates:
    memory = [rate.memory_mb for rate in rates if rate.memory_mb is not None]
    return Rates(
        median(rate.train for rate in rates),
        median(rate.evaluation for rate in rates),
        median(rate.startup for rate in rates),
        max(memory) if memory else None,
        rates[0].source,
    )
