"""Random initialization and its scale (paper.md, The setting).

He normal, fan-in: a weight has standard deviation sqrt(2 / fan_in) (He et al., 2015). The draw
depends on the seed and the weight's name only; then the weights chosen by `scaled` are multiplied
by `init_scale`. Biases are zero, batch normalization starts at gain 1 and bias 0, neither scaled.
"""

from math import prod, sqrt

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from initmem.randomness import stream


def scaled_weights(model: nn.Module, scaled: str) -> dict[str, nn.Parameter]:
    """The weights that `init_scale` multiplies: of convolutions, of the linear layer, or all."""
    kinds = {"all": (nn.Conv2d, nn.Linear), "conv": nn.Conv2d, "linear": nn.Linear}[scaled]
    return {
        f"{name}.weight": module.weight
        for name, module in model.named_modules()
        if isinstance(module, kinds)
    }


@torch.no_grad()
def initialize(model: nn.Module, seed: int, init_scale: float, scaled: str) -> None:
    """Draw the seed's weights and scale those chosen by `scaled` (in place)."""
    chosen = scaled_weights(model, scaled)
    for name, weight in scaled_weights(model, "all").items():
        draw = stream(seed, f"init/{name}").standard_normal(tuple(weight.shape))
        fan_in = prod(weight.shape[1:])
        draw *= sqrt(2 / fan_in)
        weight.copy_(torch.from_numpy(draw).to(weight.dtype))
        if name in chosen:
            weight.mul_(init_scale)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.reset_parameters()
        elif isinstance(module, nn.Linear):
            module.bias.zero_()


def flatten(weights: dict[str, nn.Parameter]) -> torch.Tensor:
    """All weights as one float64 vector, in a fixed order, whatever their layout in memory."""
    return torch.cat([weight.detach().reshape(-1).double() for weight in weights.values()])


def root_mean_square(values: torch.Tensor) -> float:
    """sqrt(mean(values^2)); of the unscaled initial weights it is sigma_w in the clocks."""
    return float(np.sqrt(float(values.square().mean())))


def norm_and_overlap(weights: torch.Tensor, initial: torch.Tensor) -> tuple[float, float]:
    """The weights' Euclidean norm, and the cosine of their angle with the initial weights.

    Both are float64 vectors as `flatten` makes them.
    """
    overlap = F.cosine_similarity(weights, initial, dim=0)
    norm, cosine = torch.stack([weights.norm(), overlap]).tolist()
    return norm, cosine
