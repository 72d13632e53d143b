"""The values of a run: what a training is told, each checked, defaults stated."""

import re
from math import ceil
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from initmem.study.catalogue import DATASETS, MODELS, OPTIMIZERS, DatasetFacts, OptimizerFacts
from initmem.study.fields import Count, Index, Number, Positive, plain_argument, same_argument


class Values(BaseModel):
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
        plain = plain_argument(arguments)
        stated = OPTIMIZERS.get(info.data.get("optimizer", ""))
        defaults = plain_argument(stated.arguments) if stated else {}
        return {
            key: value
            for key, value in plain.items()
            if not same_argument(value, defaults.get(key))
        }

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
    def _consistent(self) -> "Values":
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
