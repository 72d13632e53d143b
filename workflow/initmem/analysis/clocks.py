"""Clocks: the regularization that a training has accumulated (paper.md, The clocks).

With T steps and lr' = lr / (1 - momentum), memory of the initialization should be held while a
clock is far below 1 and lost when it is far above.
"""

from dataclasses import dataclass
from math import nan

from initmem.study.run import Run


@dataclass(frozen=True)
class Clocks:
    """The parts of a configuration's clock, dimensionless; what does not apply is 0.

    All parts are NaN for an optimizer whose way of regularizing we do not state.
    """

    implicit: float
    l2: float
    decoupled: float
    adaptive: float

    @property
    def total(self) -> float:
        """The configuration's clock: the sum of the parts that apply."""
        return self.implicit + self.l2 + self.decoupled + self.adaptive


def implicit_clock(lr: float, momentum: float, steps: int, batch_size: int) -> float:
    """Minibatch SGD's finite steps: lr'^2 * T / b (claim C5; gives both published figures)."""
    return (lr / (1 - momentum)) ** 2 * steps / batch_size


def l2_clock(lr: float, momentum: float, weight_decay: float, steps: int) -> float:
    """Explicit L2 in SGD: lr' * weight_decay * T, as the norm decays by (1 - lr*wd)^T."""
    return lr / (1 - momentum) * weight_decay * steps


def decoupled_clock(lr: float, weight_decay: float, steps: int) -> float:
    """Decoupled decay (AdamW): lr * weight_decay * T, by construction."""
    return lr * weight_decay * steps


def adaptive_clock(lr: float, steps: int, largest_scale: float, sigma_w: float) -> float:
    """Adaptive steps of size about lr: lr * T / (s_max * sigma_w), in units of the largest weights.

    `sigma_w` is the RMS of the unscaled initial weights.
    """
    return lr * steps / (largest_scale * sigma_w)


def clocks(run: Run, largest_scale: float, sigma_w: float) -> Clocks:
    """The clocks of a run's configuration.

    Coupled weight decay inside an adaptive method adds no term: it is normalized with the gradient.
    """
    facts = run.optimizer_facts
    if facts is None:
        return Clocks(nan, nan, nan, nan)
    if facts.adaptive:
        bypasses = facts.decoupled or run.optimizer_args.get("decoupled_weight_decay", False)
        decoupled = decoupled_clock(run.lr, run.weight_decay, run.steps) if bypasses else 0.0
        return Clocks(
            0.0, 0.0, decoupled, adaptive_clock(run.lr, run.steps, largest_scale, sigma_w)
        )
    momentum = run.values()["momentum"]
    return Clocks(
        implicit_clock(run.lr, momentum, run.steps, run.batch_size),
        l2_clock(run.lr, momentum, run.weight_decay, run.steps),
        0.0,
        0.0,
    )
