"""The networks: residual nets with batch normalization after every convolution."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from initmem.study.run import Run


class NormedConv(nn.Module):
    """A convolution without bias, then batch normalization; `stride` shrinks the image."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x))


class ConvBlock(NormedConv):
    """A 3x3 convolution, batch normalization, ReLU; keeps the image size."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, size=3, stride=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(super().forward(x))


class Residual(nn.Module):
    """x plus two convolution blocks of the same width applied to x."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(ConvBlock(width, width), ConvBlock(width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.blocks(x)


class ResNet9(nn.Module):
    """Eight convolutions in a stem and two residual stages, a max-pool head, one linear layer.

    Channels go width, 2, 4, 8 times width; three 2x2 poolings shrink the image eightfold, then
    the maximum over what is left of it feeds the linear layer. Input (n, channels, size, size)
    with size >= 8, output logits (n, classes).
    """

    def __init__(self, width: int, channels: int, classes: int) -> None:
        super().__init__()
        self.stem = ConvBlock(channels, width)
        self.stage1 = nn.Sequential(
            ConvBlock(width, 2 * width), nn.MaxPool2d(2), Residual(2 * width)
        )
        self.between = nn.Sequential(ConvBlock(2 * width, 4 * width), nn.MaxPool2d(2))
        self.stage2 = nn.Sequential(
            ConvBlock(4 * width, 8 * width), nn.MaxPool2d(2), Residual(8 * width)
        )
        self.linear = nn.Linear(8 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stage2(self.between(self.stage1(self.stem(x))))
        return self.linear(F.adaptive_max_pool2d(x, 1).flatten(1))


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut, which is a 1x1 convolution where the shape changes.

    ReLU after the sum; `stride` shrinks the image (He et al., 2016).
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = NormedConv(inputs, outputs, 3, stride)
        self.second = NormedConv(outputs, outputs, 3, 1)
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else NormedConv(inputs, outputs, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x))


class ResNet18(nn.Module):
    """Four stages of two basic blocks behind a 3x3 stem, the form of it for small images.

    Channels go width, 2, 4, 8 times width, the image shrinks twofold at each stage but the first;
    the mean over what is left of it feeds the linear layer. Input (n, channels, size, size),
    output logits (n, classes).
    """

    def __init__(self, width: int, channels: int, classes: int) -> None:
        super().__init__()
        self.stem = ConvBlock(channels, width)
        blocks: list[nn.Module] = []
        inputs = width
        for outputs, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
            blocks += [BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs, 1)]
            inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.linear = nn.Linear(8 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.blocks(self.stem(x)).mean(dim=(2, 3)))


BUILDERS: dict[str, Callable[[int, int, int], nn.Module]] = {
    "resnet9": ResNet9,
    "resnet18": ResNet18,
}
"""How each model of the catalogue is built from width, input channels and number of classes."""


def build_model(run: Run) -> nn.Module:
    """The run's network on the CPU in channels_last layout, with whatever weights torch drew."""
    facts = run.dataset_facts
    model = BUILDERS[run.model](run.width, facts.channels, facts.classes)
    return model.to(memory_format=torch.channels_last)
