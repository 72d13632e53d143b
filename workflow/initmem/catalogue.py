"""What the study knows by name: data sets, models and optimizers, as plain facts.

Kept apart from the code that builds them, so that a plan is made without importing torch.
"""

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class DatasetFacts:
    """A data set: image shape, split sizes (images), and the checksum that its arrays must have."""

    image_size: int
    channels: int
    classes: int
    train: int
    validation: int
    sha256: str


@dataclass(frozen=True)
class OptimizerFacts:
    """An optimizer of torch.optim: its class, the keyword arguments that we state, its clock.

    `momentum` is the stated default, None where the method takes none. `adaptive`: steps have
    size about lr whatever the gradient. `decoupled`: weight decay bypasses the gradient.
    """

    torch_class: str
    adaptive: bool
    momentum: float | None = None
    decoupled: bool = False
    arguments: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def _adam_arguments(**more: Any) -> MappingProxyType[str, Any]:
    return MappingProxyType({"betas": [0.9, 0.999], "eps": 1e-8, **more})


SGD_ARGUMENTS = MappingProxyType({"dampening": 0, "nesterov": False})
RMSPROP_ARGUMENTS = MappingProxyType({"alpha": 0.99, "eps": 1e-8, "centered": False})


DATASETS = MappingProxyType(
    {
        "digits": DatasetFacts(
            image_size=8,
            channels=1,
            classes=10,
            train=700,
            validation=400,
            sha256="efedf51c690b6594f6b7e67acc82e7a0ae213ebfcc1861a4c24da937cac9e467",
        ),
    }
)

MODELS = ("resnet9",)

RUN_FILES = ("history.csv", "predictions.npz", "timing.json", "run.json")
"""The files of a finished run, in the order of writing: with run.json the run is finished."""

OPTIMIZERS = MappingProxyType(
    {
        "sgd": OptimizerFacts("SGD", adaptive=False, momentum=0.0, arguments=SGD_ARGUMENTS),
        "adam": OptimizerFacts(
            "Adam",
            adaptive=True,
            arguments=_adam_arguments(amsgrad=False, decoupled_weight_decay=False),
        ),
        "adamw": OptimizerFacts(
            "AdamW", adaptive=True, decoupled=True, arguments=_adam_arguments(amsgrad=False)
        ),
        "rmsprop": OptimizerFacts(
            "RMSprop", adaptive=True, momentum=0.0, arguments=RMSPROP_ARGUMENTS
        ),
        "nadam": OptimizerFacts(
            "NAdam",
            adaptive=True,
            arguments=_adam_arguments(momentum_decay=4e-3, decoupled_weight_decay=False),
        ),
    }
)
