"""What a study will cost, as a page of text, before it runs."""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from initmem.planning.costs import Rates, side_by_side
from initmem.planning.settings import Setting
from initmem.study.run import Run
from initmem.study.study import Study
from initmem.wording import duration, megabytes

RUN_MB = 0.1
"""Disk that the files of a finished run take, in MB, at most: its weights are not kept."""
TAIL_SECONDS = 60.0
"""Start of snakemake, data, tables, figures and report of a small study."""
JOB_SECONDS = 1.0
"""What snakemake adds to a training."""


@dataclass(frozen=True)
class Cost:
    """What some runs cost: their number, epochs, training images and seconds (None: unknown)."""

    runs: int
    epochs: int
    images: int
    seconds: float | None


def cost_of(runs: Mapping[str, Run], rates: Mapping[Setting, Rates]) -> Cost:
    """The cost of runs, one after the other; unknown when the rates of one of them are."""
    known = all(Setting.of(run) in rates for run in runs.values())
    return Cost(
        len(runs),
        sum(run.epochs for run in runs.values()),
        sum(run.epochs * run.train_size for run in runs.values()),
        sum(rates[Setting.of(run)].seconds(run) for run in runs.values()) if known else None,
    )


def wall_seconds(runs: Mapping[str, Run], rates: Mapping[Setting, Rates], slots: int) -> float:
    """How long runs take when `slots` of them go side by side and the rest of the study follows."""
    seconds = [rates[Setting.of(run)].seconds(run) + JOB_SECONDS for run in runs.values()]
    return side_by_side(seconds, slots) + TAIL_SECONDS


def plan_text(
    study: Study,
    finished: Set[str],
    rates: Mapping[Setting, Rates],
    device: str,
    slots: int,
) -> str:
    """The page: runs, epochs, images and device time by network and batch size, and what is left.

    `finished` are the ids of the runs that are there; `slots` is how many trainings the machine
    at hand carries out side by side.
    """
    to_do = {run_id: run for run_id, run in study.runs.items() if run_id not in finished}
    groups: dict[str, dict[str, Run]] = {}
    for run_id, run in study.runs.items():
        name = f"{run.dataset} {run.model} width {run.width} batch {run.batch_size}"
        groups.setdefault(name, {})[run_id] = run
    width = max(len(name) for name in (*groups, "still to run"))
    lines = [
        f"Study '{study.name}': {study.title}",
        "",
        f"{'':{width}}  {'runs':>6}  {'epochs':>9}  {'million images':>14}  {'device time':>12}",
    ]
    lines += [_line(name, cost_of(runs, rates), width) for name, runs in groups.items()]
    lines += [_line("all", cost_of(study.runs, rates), width)]
    lines += [_line("still to run", cost_of(to_do, rates), width), ""]
    if to_do:
        lines += _ahead(to_do, rates, slots)
    else:
        lines.append("Every training is finished.")
    return "\n".join([*lines, *_sources(study, rates, device)])


def _line(name: str, cost: Cost, width: int) -> str:
    time = "unknown" if cost.seconds is None else duration(cost.seconds)
    numbers = f"{cost.runs:>6,}  {cost.epochs:>9,}  {cost.images / 1e6:>14,.1f}"
    return f"{name:{width}}  {numbers}  {time:>12}"


def _ahead(to_do: Mapping[str, Run], rates: Mapping[Setting, Rates], slots: int) -> list[str]:
    """What is still to come: how long, the longest training, and the space on the disk."""
    disk = f"Disk for the runs: {megabytes(RUN_MB * len(to_do))}."
    if any(Setting.of(run) not in rates for run in to_do.values()):
        return [disk]
    longest = max(to_do.values(), key=lambda run: rates[Setting.of(run)].seconds(run))
    seconds = rates[Setting.of(longest)].seconds(longest)
    return [
        f"On this machine, {slots} at a time: {duration(wall_seconds(to_do, rates, slots))}.",
        f"Longest training: {duration(seconds)} ({longest.id}).",
        disk,
    ]


def _sources(study: Study, rates: Mapping[Setting, Rates], device: str) -> list[str]:
    """Where the rates come from, and what to do about those that are rough or missing."""
    settings = dict.fromkeys(Setting.of(run) for run in study.runs.values())
    by_source: dict[str, list[str]] = {}
    for setting in settings:
        source = rates[setting].source if setting in rates else "unknown"
        by_source.setdefault(source, []).append(setting.name)
    lines = [f"Times are for: {device}."]
    words = {
        "finished runs": "measured in finished runs",
        "calibration": "measured by a calibration",
        "rough": "a rough guess from the size of the network",
        "unknown": "unknown",
    }
    for source, names in by_source.items():
        lines.append(f"{len(names)} of {len(settings)} settings: {words[source]}.")
    if {"rough", "unknown"} & set(by_source):
        lines.append(f"`make calibrate STUDY={study.name}` measures them here in a few minutes.")
    return lines
