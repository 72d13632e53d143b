"""The whole of config.yaml, typed: unknown keys and wrong values are refused by name."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from initmem.errors import UserError
from initmem.study.catalogue import DATASETS
from initmem.study.fields import Count, Number, first_problem

ClaimId = Literal["C1", "C2", "C3", "C4"]
RESERVED_NAMES = ("runs", "data", "logs", "calibration")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataSource(_Section):
    """Where a data set comes from: URLs or paths, tried in turn; and what pins it."""

    sources: tuple[str, ...] = ()
    size: Count | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


class Engine(_Section):
    """How trainings are carried out; nothing here changes a result, so nothing here is identity."""

    threads: Count
    device: Literal["auto", "cpu", "cuda"]
    save_every: Annotated[Number, Field(ge=0)]
    lease_timeout: Annotated[Number, Field(gt=1)]
    keep_weights: bool


class SweepConfig(_Section):
    """A product of axes, and what it serves: a label for figures, the claims that it bears on."""

    label: Annotated[str, Field(min_length=1)]
    claims: tuple[ClaimId, ...] = ()
    axes: dict[str, Any]


class StudyConfig(_Section):
    """The sweeps of a study, and the axes that all of them share unless they say otherwise."""

    title: Annotated[str, Field(min_length=1)]
    needs_gpu: bool = False
    axes: dict[str, Any] = Field(default_factory=dict)
    sweeps: Annotated[dict[str, SweepConfig], Field(min_length=1)]


class Config(_Section):
    """The whole of config.yaml."""

    study: str
    engine: Engine
    data: dict[str, DataSource]
    studies: dict[str, StudyConfig]

    @field_validator("data")
    @classmethod
    def _data_names(cls, data: dict[str, DataSource]) -> dict[str, DataSource]:
        for name in data:
            if name not in DATASETS:
                raise ValueError(f"'{name}' is unknown; one of {', '.join(DATASETS)}")
        return data

    @field_validator("studies")
    @classmethod
    def _names(cls, studies: dict[str, StudyConfig]) -> dict[str, StudyConfig]:
        for name in studies:
            if name in RESERVED_NAMES:
                raise ValueError(f"a study may not be called '{name}': results/{name} is taken")
            if not name.replace("_", "").replace("-", "").isalnum() or name.startswith("-"):
                raise ValueError(f"'{name}': a study's name has letters, digits, _ and - only")
        return studies


def load_config(config: Mapping[str, Any]) -> Config:
    """The typed configuration. Raises UserError that names the first wrong key."""
    try:
        return Config.model_validate(dict(config))
    except ValidationError as error:
        raise UserError(f"configuration: {first_problem(error)}") from None
