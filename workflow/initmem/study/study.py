"""A study: named sweeps over the values of a run, planned as a set of distinct runs."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from initmem.errors import UserError
from initmem.study.config import Config, DataSource, load_config
from initmem.study.fields import first_problem
from initmem.study.run import PROTOCOL, Run, rare_values

OWN_VALUES = ("protocol", "image_size", "data_sha256")
"""Values of a run that follow from other things and are no axes."""


@dataclass(frozen=True)
class Sweep:
    """A sweep as planned: its configurations in order, what varies, and its label and claims."""

    name: str
    label: str
    claims: tuple[str, ...]
    configurations: tuple[str, ...]
    varying: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A study as planned. `runs` maps id to run in a fixed order; two sweeps share equal runs."""

    name: str
    title: str
    needs_gpu: bool
    sweeps: tuple[Sweep, ...]
    runs: Mapping[str, Run]

    @cached_property
    def configurations(self) -> dict[str, list[Run]]:
        """The runs of each configuration, in order."""
        grouped: dict[str, list[Run]] = {}
        for run in self.runs.values():
            grouped.setdefault(run.configuration, []).append(run)
        return grouped

    @cached_property
    def rare(self) -> dict[str, Any]:
        """What the short hashes in the ids of this study stand for."""
        return rare_values(self.runs)

    @property
    def digest(self) -> str:
        """Changes when a run is added or dropped, or a sweep gets another name or purpose."""
        plan = [self.name, self.title, sorted(self.runs), [vars(sweep) for sweep in self.sweeps]]
        return hashlib.sha256(json.dumps(plan).encode()).hexdigest()[:16]

    @property
    def images(self) -> int:
        """Training images that all runs pass through their networks, each as often as it is."""
        return sum(run.epochs * run.train_size for run in self.runs.values())

    def sweeps_of(self, configuration: str) -> list[Sweep]:
        """The sweeps that a configuration belongs to."""
        return [sweep for sweep in self.sweeps if configuration in sweep.configurations]

    def serving(self, claim: str) -> set[str]:
        """The configurations that some sweep puts forward for a claim."""
        return {
            configuration
            for sweep in self.sweeps
            if claim in sweep.claims
            for configuration in sweep.configurations
        }

    def claims_of(self, configuration: str) -> list[str]:
        """The claims that a configuration is put forward for, in the order of their ids."""
        return sorted({claim for sweep in self.sweeps_of(configuration) for claim in sweep.claims})

    def label(self, configuration: str) -> str:
        """The label of a configuration's first sweep, with the values that vary within it."""
        sweep = self.sweeps_of(configuration)[0]
        if not sweep.varying:
            return sweep.label
        values = self.configurations[configuration][0].values()
        return f"{sweep.label} ({', '.join(f'{axis} {values[axis]}' for axis in sweep.varying)})"


def load_study(config: Mapping[str, Any]) -> Study:
    """The study that an untyped configuration chooses; see `load_config` and `plan_study`."""
    return plan_study(load_config(config))


def plan_study(typed: Config) -> Study:
    """The study that `typed.study` chooses, planned as runs.

    Raises UserError that names the wrong key, whatever is wrong with it.
    """
    if typed.study not in typed.studies:
        known = ", ".join(typed.studies)
        raise UserError(f"configuration: study: '{typed.study}' is unknown; one of {known}")
    chosen = typed.studies[typed.study]
    runs: dict[str, Run] = {}
    sweeps = []
    for name, sweep in chosen.sweeps.items():
        where = f"studies.{typed.study}.sweeps.{name}"
        planned = _product(where, chosen.axes | sweep.axes, typed.data)
        _add(runs, planned)
        configurations = tuple(dict.fromkeys(run.configuration for run in planned))
        sweeps.append(
            Sweep(
                name,
                sweep.label,
                sweep.claims,
                configurations,
                _varying_axes(chosen.axes | sweep.axes, planned),
            )
        )
    return Study(typed.study, chosen.title, chosen.needs_gpu, tuple(sweeps), runs)


def _add(runs: dict[str, Run], planned: list[Run]) -> None:
    """Add planned runs; equal ones are one. Two runs never share an id unnoticed."""
    for run in planned:
        if runs.setdefault(run.id, run) != run:
            raise UserError(
                f"configuration: two different runs would both be called '{run.id}': their"
                " optimizer arguments or checksums share a short hash; change one of them slightly"
            )


def _product(where: str, axes: Mapping[str, Any], data: Mapping[str, DataSource]) -> list[Run]:
    """The runs of all combinations of the axes' values."""
    known = [name for name in Run.model_fields if name not in OWN_VALUES]
    for axis, values in axes.items():
        if axis not in known:
            raise UserError(
                f"configuration: {where}: unknown axis '{axis}'; one of {', '.join(known)}"
            )
        if values == []:
            raise UserError(f"configuration: {where}: axis '{axis}' has no value")
    lists = [values if isinstance(values, list) else [values] for values in axes.values()]
    planned = []
    for combination in itertools.product(*lists):
        values = dict(zip(axes, combination, strict=True))
        source = data.get(str(values.get("dataset")), DataSource())
        try:
            planned.append(Run(**values, data_sha256=source.sha256, protocol=PROTOCOL))
        except ValidationError as error:
            raise UserError(f"configuration: {first_problem(error, where)}") from None
    return planned


def _varying_axes(axes: Mapping[str, Any], runs: list[Run]) -> tuple[str, ...]:
    """The axes, scale and seed apart, that are given several values and in which runs differ."""
    listed = [
        axis
        for axis in Run.model_fields
        if isinstance(axes.get(axis), list) and axis not in ("init_scale", "seed")
    ]
    spelled = [run.values() for run in runs] if listed else []
    return tuple(
        axis for axis in listed if any(values[axis] != spelled[0][axis] for values in spelled)
    )
