"""One run: the values of a training, and the readable id that stands for them.

The id is a path of three parts, `<dataset>/<configuration>/scale<init_scale>_seed<seed>`. It shows
what every run must state, then what differs from the stated defaults, so it stays the same when a
grid grows or when a new value gets a default that changes nothing.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from math import ceil, isfinite
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from initmem.errors import UserError
from initmem.study.catalogue import DATASETS, MODELS, OPTIMIZERS, DatasetFacts, OptimizerFacts

PROTOCOL = 1
"""Raised when what a training computes changes: all runs get new ids and are trained anew."""


def number(value: Any) -> Any:
    """The number that a text stands for (YAML reads `1e-3` as text); anything else unchanged.

    Raises ValueError for truth values and for texts that are no finite number.
    """
    if isinstance(value, bool):
        raise ValueError("a number is needed, not a truth value")
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"[+-]?\d+", value.strip()):
        return int(value)
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value.strip()):
        raise ValueError("not a number")
    return float(value)


def number_text(value: float) -> str:
    """The shortest text that reads back as `value`; whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def _plain(value: Any) -> Any:
    """An optimizer argument in its one form: numbers given as text are numbers, 1.0 is 1."""
    if isinstance(value, Mapping):
        return {
            str(key): _plain(entry)
            for key, entry in sorted(value.items(), key=lambda item: str(item[0]))
        }
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, str):
        try:
            return _plain(number(value))
        except ValueError:
            return value
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("an optimizer argument must be finite")
        return int(value) if value == int(value) and abs(value) < 1e16 else value
    if value is None or isinstance(value, (bool, int)):
        return value
    raise ValueError(f"an optimizer argument cannot be a {type(value).__name__}")


def _same(first: Any, second: Any) -> bool:
    """Equal as JSON, where a truth value is no number."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def short_hash(value: Any) -> str:
    """Eight hexadecimal digits that stand for a plain value in an id."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


Number = Annotated[float, BeforeValidator(number), Field(allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(number), Field(ge=1)]
Index = Annotated[int, BeforeValidator(number), Field(ge=0)]
Positive = Annotated[Number, Field(gt=0)]


class Run(BaseModel):
    """The values of one training. What has a default appears in the id only where it differs.

    None, {} and the like mean "as the catalogue states"; `values` spells everything out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    model: str
    width: Count
    optimizer: str
    lr: Positive
    batch_size: Count
    weight_decay: Annotated[Number, Field(ge=0)]
    epochs: Count
    init_scale: Positive
    seed: Index

    image_size: Count | None = None
    data_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    subset: Count | None = None
    split: Index = 0
    scaled: Literal["all", "conv", "linear"] = "all"
    momentum: Annotated[Number, Field(ge=0, lt=1)] | None = None
    optimizer_args: dict[str, Any] = Field(default_factory=dict)
    decayed: Literal["all", "weights"] = "all"
    eval_every: Count = 1
    precision: Literal["fp32"] = "fp32"
    deterministic: bool = False
    protocol: Count = 1

    @field_validator("dataset", "model")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        known = {"dataset": tuple(DATASETS), "model": tuple(MODELS)}[info.field_name]
        if name not in known:
            raise ValueError(f"unknown; one of {', '.join(known)}")
        return name

    @field_validator("optimizer")
    @classmethod
    def _optimizer_name(cls, name: str) -> str:
        if name.lower() in OPTIMIZERS:
            return name.lower()
        if re.fullmatch(r"[A-Z][A-Za-z0-9]*", name):
            return name
        known = ", ".join(OPTIMIZERS)
        raise ValueError(f"unknown; one of {known}, or the name of a class of torch.optim")

    @field_validator("optimizer_args")
    @classmethod
    def _stated_arguments(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        own = {"lr", "momentum", "weight_decay"} & set(arguments)
        if own:
            raise ValueError(f"{min(own)} is a value of its own, not an optimizer argument")
        plain = _plain(arguments)
        stated = OPTIMIZERS.get(info.data.get("optimizer", ""))
        defaults = _plain(stated.arguments) if stated else {}
        return {key: value for key, value in plain.items() if not _same(value, defaults.get(key))}

    @field_validator("momentum")
    @classmethod
    def _stated_momentum(cls, momentum: float | None, info: ValidationInfo) -> float | None:
        optimizer = info.data.get("optimizer", "")
        if momentum is None or optimizer not in OPTIMIZERS:
            return momentum
        stated = OPTIMIZERS[optimizer].momentum
        if stated is None:
            raise ValueError(f"{optimizer} takes none; leave it out")
        return None if momentum == stated else momentum

    @model_validator(mode="before")
    @classmethod
    def _as_stated(cls, values: Any) -> Any:
        """Drop what only repeats a stated default, so that equal runs have equal values."""
        values = dict(values)
        facts = DATASETS.get(str(values.get("dataset")))
        if facts:
            stated = {
                "image_size": facts.image_size,
                "data_sha256": facts.sha256,
                "subset": facts.train,
            }
            values |= {key: None for key, v in stated.items() if str(values.get(key)) == str(v)}
        return values

    @model_validator(mode="after")
    def _consistent(self) -> "Run":
        facts = self.dataset_facts
        if self.width < MODELS[self.model]:
            raise ValueError(f"width: {self.model} needs {MODELS[self.model]} or more")
        if self.image_size is not None:
            raise ValueError(f"image_size: {self.dataset} comes in {facts.image_size} only")
        if self.train_size > facts.train or self.train_size % facts.classes:
            raise ValueError(
                f"subset: a multiple of {facts.classes} up to {facts.train} is needed,"
                f" not {self.subset}"
            )
        if self.batch_size > self.train_size:
            raise ValueError(
                f"batch_size: {self.batch_size} is more than the {self.train_size} training images"
            )
        if self.batch_size > 1 and self.train_size % self.batch_size == 1:
            raise ValueError(
                f"batch_size: {self.batch_size} leaves a last batch of one of {self.train_size}"
                " images, which batch normalization cannot train on; choose another"
            )
        if self.batch_size == 1:
            raise ValueError("batch_size: batch normalization needs two images or more")
        if self.eval_every > self.epochs:
            raise ValueError(f"eval_every: {self.eval_every} is more than {self.epochs} epochs")
        return self

    @property
    def dataset_facts(self) -> DatasetFacts:
        """What the catalogue knows of the data set."""
        return DATASETS[self.dataset]

    @property
    def optimizer_facts(self) -> OptimizerFacts | None:
        """What the catalogue knows of the optimizer; None for another class of torch.optim."""
        return OPTIMIZERS.get(self.optimizer)

    @property
    def train_size(self) -> int:
        """Number of training images."""
        return self.dataset_facts.train if self.subset is None else self.subset

    @property
    def steps_per_epoch(self) -> int:
        """Optimizer steps in an epoch; the last, short batch is kept."""
        return ceil(self.train_size / self.batch_size)

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole training, T in the clocks."""
        return self.epochs * self.steps_per_epoch

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

    def stated(self) -> dict[str, Any]:
        """The values that differ from their defaults, by name: enough to remake the run."""
        return dict(sorted(self.model_dump(exclude_defaults=True).items()))

    def values(self) -> dict[str, Any]:
        """All values spelled out, defaults included, as plain data in a fixed order."""
        facts, optimizer = self.dataset_facts, self.optimizer_facts
        spelled = self.model_dump()
        spelled["image_size"] = facts.image_size
        spelled["data_sha256"] = self.data_sha256 or facts.sha256
        if optimizer:
            spelled["optimizer_args"] = {**optimizer.arguments, **self.optimizer_args}
            if self.momentum is None:
                spelled["momentum"] = optimizer.momentum
        return spelled


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


def first_problem(error: ValidationError, prefix: str = "") -> str:
    """The first problem of a validation as one line: the key, what is wrong, the value."""
    problem = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in (prefix, *problem["loc"]) if part != "")
    text = problem["msg"].removeprefix("Value error, ")
    text = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(problem["type"], text)
    shown = ""
    told = problem["type"] in ("missing", "extra_forbidden")
    if not told and not isinstance(problem["input"], (dict, list)):
        shown = f" (given: {problem['input']!r})"
    return f"{key}: {text[:1].lower()}{text[1:]}{shown}" if key else text
