"""Optimizers: torch's own, with the run's values and the arguments that the catalogue states."""

import inspect
from collections.abc import Callable

import torch
from torch import nn

from initmem.errors import UserError
from initmem.study.run import Run


def parameter_groups(model: nn.Module, weight_decay: float, decayed: str) -> list[dict]:
    """Parameter groups: weight decay on all parameters, or on the weights of layers only.

    `weights` spares biases and batch normalization, whose parameters have one dimension.
    """
    parameters = list(model.parameters())
    if decayed == "all":
        return [{"params": parameters, "weight_decay": weight_decay}]
    return [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]


def build_optimizer(run: Run, model: nn.Module) -> torch.optim.Optimizer:
    """The run's optimizer over the model's parameters, in its fused form where torch has one.

    Raises UserError for a class that torch.optim lacks, or an argument that the class refuses.
    """
    facts = run.optimizer_facts
    name = facts.torch_class if facts else run.optimizer
    method = getattr(torch.optim, name, None)
    base = torch.optim.Optimizer
    if not (inspect.isclass(method) and issubclass(method, base)) or method is base:
        raise UserError(f"optimizer: torch.optim has no class '{name}'")
    _check_fits_the_loop(method, run)
    _leave_the_compiler_out(method)
    values = run.values()
    arguments = dict(values["optimizer_args"])
    if values["momentum"] is not None:
        arguments["momentum"] = values["momentum"]
    if "fused" in inspect.signature(method).parameters:
        arguments.setdefault("fused", True)
    try:
        groups = parameter_groups(model, run.weight_decay, run.decayed)
        return method(groups, lr=run.lr, **arguments)
    except (TypeError, ValueError) as error:
        raise UserError(f"optimizer '{name}': {error}") from None


def _check_fits_the_loop(method: type[torch.optim.Optimizer], run: Run) -> None:
    """Refuse a method that needs a closure, or that would ignore the run's weight decay."""
    closure = inspect.signature(method.step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise UserError(
            f"optimizer '{method.__name__}' evaluates the loss itself; not offered here"
        )
    if run.weight_decay and "weight_decay" not in inspect.signature(method).parameters:
        raise UserError(f"optimizer '{method.__name__}' knows no weight_decay; set it to 0")


def _leave_the_compiler_out(method: type[torch.optim.Optimizer]) -> None:
    """Keep torch from importing its compiler when parameters are handed to an optimizer.

    That takes seconds in every run, and we never compile. torch excludes some methods from
    compilation, by importing the compiler when one is first called; here they count as excluded
    already. Where torch does it otherwise, this changes nothing but the start-up time.
    """
    for owner in method.__mro__:
        for function in vars(owner).values():
            inner = getattr(function, "__wrapped__", None)
            if inner is not None and not hasattr(inner, "__dynamo_disable"):
                inner.__dynamo_disable = inner


def plain_step(optimizer: torch.optim.Optimizer) -> Callable[[], None]:
    """The optimizer's step without what torch wraps around it: hooks, a profile, the compiler.

    Same update, bit for bit; for the same reason as above, and a little less to do in each step.
    """
    update = inspect.unwrap(type(optimizer).step)

    @torch.no_grad()
    def step() -> None:
        update(optimizer)

    return step


def match_strides(optimizer: torch.optim.Optimizer) -> None:
    """Lay out every state tensor in its parameter's strides (in place of the loaded ones).

    Fused kernels walk parameter and state side by side in memory; a contiguous state under a
    channels_last parameter would pair each weight with another weight's state, silently.
    """
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if torch.is_tensor(value) and value.shape == parameter.shape and value.dim() > 0:
                state[key] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
