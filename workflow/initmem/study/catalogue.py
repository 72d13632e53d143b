"""What the study knows by name: data sets, models and optimizers, as plain facts.

Kept apart from the code that builds them, so that a plan is made without importing torch.
"""

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class ArchiveFacts:
    """How images lie in an archive: the folder, its batches, and the name of the labels."""

    folder: str
    train_files: tuple[str, ...]
    test_file: str
    label_key: str


@dataclass(frozen=True)
class DatasetFacts:
    """A data set: image shape, split sizes (images), and the checksum that pins it.

    `sha256` is that of the archive where there is one, else that of the arrays read.
    """

    image_size: int
    channels: int
    classes: int
    train: int
    validation: int
    test: int
    sha256: str
    archive: ArchiveFacts | None = None


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


def _cifar(classes: int, sha256: str, archive: ArchiveFacts) -> DatasetFacts:
    """A data set of 50,000 colour images with a test set of its own; a fifth is for validation."""
    return DatasetFacts(
        image_size=32,
        channels=3,
        classes=classes,
        train=40_000,
        validation=10_000,
        test=10_000,
        sha256=sha256,
        archive=archive,
    )


DATASETS = MappingProxyType(
    {
        "digits": DatasetFacts(
            image_size=8,
            channels=1,
            classes=10,
            train=700,
            validation=400,
            test=697,
            sha256="efedf51c690b6594f6b7e67acc82e7a0ae213ebfcc1861a4c24da937cac9e467",
        ),
        "cifar10": _cifar(
            10,
            "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
            ArchiveFacts(
                folder="cifar-10-batches-py",
                train_files=tuple(f"data_batch_{number}" for number in range(1, 6)),
                test_file="test_batch",
                label_key="labels",
            ),
        ),
        "cifar100": _cifar(
            100,
            "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
            ArchiveFacts(
                folder="cifar-100-python",
                train_files=("train",),
                test_file="test",
                label_key="fine_labels",
            ),
        ),
    }
)

MODELS = MappingProxyType({"resnet9": 1, "resnet18": 8})
"""Models, with the least width of each: a narrower ResNet-18 crashes torch's convolutions on a CPU
(strided 1x1 convolutions of few channels in channels_last layout, torch 2.14)."""

FIGURES = (
    "accuracy_by_scale",
    "spread_by_regime",
    "spread_by_clock",
    "memory_by_clock",
    "accuracy_over_epochs",
    "weights_over_epochs",
    "what_is_scaled",
)
"""The figures of a study."""

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
