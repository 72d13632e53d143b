"""Optimizers do with weight decay what their names say."""

import pytest
import torch
from torch import nn

from initmem.errors import UserError
from initmem.study.catalogue import OPTIMIZERS
from initmem.training.optimizers import build_optimizer, match_strides, parameter_groups, plain_step
from support import small_run

LR, DECAY = 0.01, 0.1


def after_a_step_without_gradient(optimizer: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights before and after one step whose loss does not depend on them."""
    model = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.5, -0.25, 1.0], [-2.0, 0.1, -0.3]]))
    before = model.weight.detach().clone()
    made = build_optimizer(small_run(optimizer=optimizer, lr=LR, weight_decay=DECAY), model)
    model.weight.grad = torch.zeros_like(model.weight)
    made.step()
    return before, model.weight.detach()


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_sgd_and_adamw_shrink_a_weight_without_gradient_by_lr_times_decay(optimizer):
    before, after = after_a_step_without_gradient(optimizer)
    torch.testing.assert_close(after, before * (1 - LR * DECAY), rtol=1e-6, atol=0)


def test_adam_moves_a_weight_without_gradient_by_about_lr_whatever_its_size():
    before, after = after_a_step_without_gradient("adam")
    torch.testing.assert_close(before - after, LR * before.sign(), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, "Adagrad", "RAdam"])
def test_every_optimizer_can_be_built_and_moves_weights(optimizer):
    model = nn.Linear(3, 2)
    before = model.weight.detach().clone()
    made = build_optimizer(small_run(optimizer=optimizer, weight_decay=0), model)
    for _ in range(8):
        made.zero_grad()
        model(torch.ones(4, 3)).square().sum().backward()
        made.step()
    assert (model.weight != before).all()


def test_arguments_and_momentum_reach_the_optimizer():
    run = small_run(optimizer="rmsprop", momentum=0.9, optimizer_args={"alpha": 0.5})
    group = build_optimizer(run, nn.Linear(2, 2)).param_groups[0]
    assert (group["momentum"], group["alpha"], group["eps"]) == (0.9, 0.5, 1e-8)
    assert (group["lr"], group["weight_decay"]) == (run.lr, run.weight_decay)


def test_decay_acts_on_all_parameters_or_on_layer_weights_only():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Linear(2, 2))
    (everything,) = parameter_groups(model, 0.1, "all")
    assert (len(everything["params"]), everything["weight_decay"]) == (6, 0.1)
    weights, rest = parameter_groups(model, 0.1, "weights")
    assert [p.dim() for p in weights["params"]] == [4, 2]
    assert weights["weight_decay"] == 0.1
    assert len(rest["params"]) == 4
    assert rest["weight_decay"] == 0


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"optimizer": "Adamski"}, "torch.optim has no class 'Adamski'"),
        ({"optimizer": "Optimizer"}, "torch.optim has no class 'Optimizer'"),
        ({"optimizer": "LBFGS"}, "optimizer 'LBFGS' evaluates the loss itself"),
        ({"optimizer": "Rprop"}, "optimizer 'Rprop' knows no weight_decay; set it to 0"),
        ({"optimizer_args": {"nestrov": True}}, "nestrov"),
        ({"optimizer": "adam", "optimizer_args": {"betas": [2, 0.9]}}, "beta"),
    ],
)
def test_what_torch_does_not_know_is_told_in_one_line(values, told):
    with pytest.raises(UserError) as caught:
        build_optimizer(small_run(**values), nn.Linear(2, 2))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, "Adagrad", "RAdam"])
def test_the_plain_step_is_the_optimizers_step_bit_for_bit(optimizer):
    run = small_run(optimizer=optimizer, weight_decay=0.01)
    weights = []
    for plain in (False, True):
        model = nn.Linear(3, 2)
        with torch.no_grad():
            model.weight.copy_(torch.arange(6.0).reshape(2, 3))
            model.bias.zero_()
        made = build_optimizer(run, model)
        step = plain_step(made) if plain else made.step
        for _ in range(8):
            made.zero_grad()
            model(torch.ones(4, 3)).square().sum().backward()
            step()
        weights.append(model.weight.detach())
    assert torch.equal(*weights)


def test_loaded_state_is_laid_out_like_its_parameter():
    weight = nn.Parameter(torch.randn(4, 3, 3, 3).to(memory_format=torch.channels_last))
    optimizer = torch.optim.AdamW([weight], fused=True)
    weight.grad = torch.randn(4, 3, 3, 3).to(memory_format=torch.channels_last)
    optimizer.step()
    state = optimizer.state[weight]
    kept = state["exp_avg"].clone()
    state["exp_avg"] = state["exp_avg"].contiguous()
    match_strides(optimizer)
    assert state["exp_avg"].stride() == weight.stride()
    assert torch.equal(state["exp_avg"], kept)
    assert state["step"].item() == 1
