"""One run: a training with its values, and the readable id that stands for them.

The id is a path of three parts, `<dataset>/<configuration>/scale<init_scale>_seed<seed>`. It shows
what every run must state, then what differs from the stated defaults, so it stays the same when a
grid grows or when a new value gets a default that changes nothing.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from initmem.errors import UserError
from initmem.study.fields import first_problem, number_text
from initmem.study.values import Values

PROTOCOL = 1
"""Raised when what a training computes changes: all runs get new ids and are trained anew."""


class Run(Values):
    """The values of one training, and the names that follow from them."""

    @property
    def arrays_id(self) -> str:
        """The prepared arrays that this run reads: the data set, and its checksum if unusual."""
        return (
            self.dataset if self.data_sha256 is None else f"{self.dataset}-{self.data_sha256[:8]}"
        )

    @property
    def dataset_id(self) -> str:
        """The first part of the id: arrays, subset and split."""
        parts = [self.arrays_id]
        if self.subset is not None:
            parts.append(f"n{self.subset}")
        if self.split:
            parts.append(f"split{self.split}")
        return "-".join(parts)

    @property
    def configuration_id(self) -> str:
        """The second part of the id: all but data, scale and seed."""
        optimizer = self.optimizer
        if self.momentum is not None:
            optimizer += f"-m{number_text(self.momentum)}"
        if self.optimizer_args:
            optimizer += f"-x{short_hash(self.optimizer_args)}"
        weight_decay = f"wd{number_text(self.weight_decay)}"
        if self.decayed != "all":
            weight_decay += f"-{self.decayed}"
        parts = [
            f"{self.model}-w{self.width}",
            optimizer,
            f"lr{number_text(self.lr)}",
            f"b{self.batch_size}",
            weight_decay,
            f"e{self.epochs}",
        ]
        if self.scaled != "all":
            parts.append(f"scaled-{self.scaled}")
        if self.eval_every != 1:
            parts.append(f"ev{self.eval_every}")
        if self.deterministic:
            parts.append("det")
        if self.protocol != 1:
            parts.append(f"p{self.protocol}")
        return "_".join(parts)

    @property
    def configuration(self) -> str:
        """What runs that differ in init_scale and seed only have in common."""
        return f"{self.dataset_id}/{self.configuration_id}"

    @property
    def id(self) -> str:
        """The run's path below results/runs."""
        return f"{self.configuration}/scale{number_text(self.init_scale)}_seed{self.seed}"


def short_hash(value: Any) -> str:
    """Eight hexadecimal digits that stand for a plain value in an id."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


_COUNT = "(?:0|[1-9][0-9]*)"
_NUMBER = rf"{_COUNT}(?:\.[0-9]*[1-9])?(?:e[+-][0-9]+)?"
_ID_PARTS = (
    r"(?P<dataset>[a-z][a-z0-9]*)(?:-(?P<data_sha256>[0-9a-f]{8}))?"
    rf"(?:-n(?P<subset>{_COUNT}))?(?:-split(?P<split>{_COUNT}))?"
    rf"/(?P<model>[a-z][a-z0-9]*)-w(?P<width>{_COUNT})"
    rf"_(?P<optimizer>[A-Za-z][A-Za-z0-9]*)(?:-m(?P<momentum>{_NUMBER}))?"
    r"(?:-x(?P<optimizer_args>[0-9a-f]{8}))?"
    rf"_lr(?P<lr>{_NUMBER})_b(?P<batch_size>{_COUNT})"
    rf"_wd(?P<weight_decay>{_NUMBER})(?:-(?P<decayed>[a-z]+))?_e(?P<epochs>{_COUNT})"
    r"(?:_scaled-(?P<scaled>[a-z]+))?"
    rf"(?:_ev(?P<eval_every>{_COUNT}))?(?P<deterministic>_det)?(?:_p(?P<protocol>{_COUNT}))?"
    rf"/scale(?P<init_scale>{_NUMBER})_seed(?P<seed>{_COUNT})"
)
RUN_ID_PATTERN = re.sub(r"\(\?P<\w+>", "(?:", _ID_PARTS)
"""What every id looks like: a regular expression without named groups, fit for a wildcard."""


def split_arrays_id(text: str) -> tuple[str, str]:
    """The data set of an `arrays_id`, and the digits of its checksum: '' for the usual one."""
    dataset, _, pin = text.partition("-")
    return dataset, pin


def rare_values(runs: Mapping[str, Run]) -> dict[str, Any]:
    """What the short hashes in the ids of `runs` stand for: optimizer arguments and checksums."""
    rare: dict[str, Any] = {}
    for run in runs.values():
        if run.optimizer_args:
            rare[short_hash(run.optimizer_args)] = run.optimizer_args
        if run.data_sha256:
            rare[run.data_sha256[:8]] = run.data_sha256
    return rare


def run_from_id(text: str, rare: Mapping[str, Any] | None = None) -> Run:
    """The run that an id stands for; `rare` gives back what the id shows as a short hash only.

    Raises UserError for a text that is no id, or not the one form of its id.
    """
    match = re.fullmatch(_ID_PARTS, text)
    if not match:
        raise UserError(f"'{text}' is not the id of a run")
    values: dict[str, Any] = {k: v for k, v in match.groupdict().items() if v is not None}
    for key in ("data_sha256", "optimizer_args"):
        if key in values:
            if values[key] not in (rare or {}):
                raise UserError(f"'{text}': no run of this study has the {key} '{values[key]}'")
            values[key] = rare[values[key]]
    try:
        run = Run(**values | {"deterministic": "deterministic" in values})
    except ValidationError as error:
        raise UserError(f"'{text}' is not the id of a run: {first_problem(error)}") from None
    if run.id != text:
        raise UserError(f"'{text}' is not the id of a run; did you mean '{run.id}'?")
    return run
