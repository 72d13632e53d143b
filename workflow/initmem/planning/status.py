"""How far a study is, as a page of text, while it runs or after it stopped."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from initmem.planning.costs import Rates, side_by_side
from initmem.planning.settings import Setting
from initmem.study.run import Run
from initmem.study.study import Study
from initmem.training import lease, progress
from initmem.wording import duration

KINDS = ("done", "diverged", "running", "stopped", "missing")
LOG_NAME = "train.log"
MOST_LISTED = 10
"""Runs of a kind that are listed one by one."""


@dataclass(frozen=True)
class Standing:
    """How a run stands: its kind, the last epoch told while it is unfinished, the log's last line.

    `stopped` is a training that was begun, is not finished, and that nobody is at work on.
    """

    kind: str
    epoch: int = 0
    last_line: str = ""


def standings_of(
    study: Study,
    finished: Mapping[str, Mapping[str, Any]],
    runs_folder: Path,
    lease_timeout: float,
) -> dict[str, Standing]:
    """How each run of the study stands, by id; `finished` holds run.json of those that have one."""
    return {
        run_id: Standing(finished[run_id]["status"])
        if run_id in finished
        else standing(runs_folder / run_id, lease_timeout)
        for run_id in study.runs
    }


def standing(folder: Path, lease_timeout: float) -> Standing:
    """How the unfinished run of a folder stands."""
    epoch = progress.read_epoch(folder)
    if lease.is_held(folder, lease_timeout):
        return Standing("running", epoch)
    if (folder / LOG_NAME).exists():
        return Standing("stopped", epoch, _last_line(folder / LOG_NAME))
    return Standing("missing")


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def status_text(
    study: Study,
    standings: Mapping[str, Standing],
    rates: Mapping[Setting, Rates],
    slots: int,
) -> str:
    """The page: runs by sweep and kind, those at work and those that stopped, and what is left."""
    width = max(len(name) for name in (*(sweep.name for sweep in study.sweeps), "all"))
    lines = [f"Study '{study.name}': {study.title}", ""]
    lines.append(" ".join([f"{'':{width}}", *(f"{kind:>9}" for kind in KINDS)]))
    for sweep in study.sweeps:
        runs = [run.id for name in sweep.configurations for run in study.configurations[name]]
        lines.append(_counts(sweep.name, [standings[run_id] for run_id in runs], width))
    lines += [_counts("all", list(standings.values()), width), ""]
    lines += _listed(study, standings, "running")
    lines += _listed(study, standings, "stopped")
    return "\n".join([*lines, _drawable(study, standings), _left(study, standings, rates, slots)])


def _counts(name: str, found: list[Standing], width: int) -> str:
    counts = Counter(standing.kind for standing in found)
    return " ".join([f"{name:{width}}", *(f"{counts[kind]:>9,}" for kind in KINDS)])


def _listed(study: Study, standings: Mapping[str, Standing], kind: str) -> list[str]:
    """The runs of a kind with the epoch they have reached, and the log's last line."""
    chosen = [run_id for run_id, found in standings.items() if found.kind == kind]
    lines = []
    for run_id in chosen[:MOST_LISTED]:
        found = standings[run_id]
        lines.append(f"{kind} at epoch {found.epoch} of {study.runs[run_id].epochs}: {run_id}")
        if found.last_line:
            lines.append(f"    {found.last_line}")
    if len(chosen) > MOST_LISTED:
        lines.append(f"{len(chosen) - MOST_LISTED} more {kind}")
    return lines


def _drawable(study: Study, standings: Mapping[str, Standing]) -> str:
    """Of how many configurations a spread is known: some seed is done at two scales or more."""
    known = sum(_has_spread(runs, standings) for runs in study.configurations.values())
    return f"A spread is known of {known} of {len(study.configurations)} configurations."


def _has_spread(runs: list[Run], standings: Mapping[str, Standing]) -> bool:
    done: dict[int, set[float]] = {}
    scales = {run.init_scale for run in runs if standings[run.id].kind == "done"}
    for run in runs:
        if standings[run.id].kind == "done":
            done.setdefault(run.seed, set()).add(run.init_scale)
    return len(scales) > 1 and any(reached == scales for reached in done.values())


def _left(
    study: Study, standings: Mapping[str, Standing], rates: Mapping[Setting, Rates], slots: int
) -> str:
    """How long the rest takes on this machine, the epochs that were told taken off."""
    unfinished = {
        run_id: run
        for run_id, run in study.runs.items()
        if standings[run_id].kind not in ("done", "diverged")
    }
    if not unfinished:
        return "Every training is finished."
    if any(Setting.of(run) not in rates for run in unfinished.values()):
        return "Time left: unknown."
    seconds = [
        rates[Setting.of(run)].seconds(run) * (1 - standings[run_id].epoch / run.epochs)
        for run_id, run in unfinished.items()
    ]
    left = duration(side_by_side(seconds, slots))
    return f"Time left on this machine, {slots} at a time: {left}."
