"""What must hold exactly: batch normalization makes a convolution blind to its scale."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from initmem.training.initialization import initialize, scaled_weights
from initmem.training.models import BUILDERS, ConvBlock, build_model
from support import small_run

EPS = 1e-5


def network(scale: float, scaled: str = "all", eps_scale: float | None = None) -> nn.Module:
    """A small ResNet-9 in float64 and training mode whose eps is scaled with the weights."""
    model = build_model(small_run()).double()
    initialize(model, seed=0, init_scale=scale, scaled=scaled)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps = EPS * (scale if eps_scale is None else eps_scale) ** 2
    return model.train()


def images(count: int = 32) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).normal(size=(count, 1, 8, 8)))


def labels(count: int = 32) -> torch.Tensor:
    return torch.arange(count) % 10


@pytest.mark.parametrize("scale", [0.5, 4, 0.001, 3])
def test_a_convolution_under_batch_norm_is_the_same_function_at_every_scale(scale):
    def block(scale: float) -> ConvBlock:
        made = ConvBlock(1, 4).double().train()
        initialize(made, seed=0, init_scale=scale, scaled="all")
        made.norm.eps = EPS * scale**2
        return made

    torch.testing.assert_close(block(scale)(images()), block(1)(images()), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [1, 1e-1, 1e-3])
def test_with_eps_fixed_the_output_deviation_follows_the_formula(scale):
    convolution = nn.Conv2d(1, 1, 1, bias=False).double()
    norm = nn.BatchNorm2d(1, eps=EPS).double().train()
    with torch.no_grad():
        convolution.weight.fill_(scale)
    x = images(512)
    variance = x.var(unbiased=False).item()
    deviation = norm(convolution(x)).std(unbiased=False).item()
    expected = np.sqrt(scale**2 * variance / (scale**2 * variance + EPS))
    assert deviation == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [0.5, 2, 8, 3])
def test_with_all_scaled_the_first_logits_are_s_times_those_at_scale_one(scale):
    logits, unscaled = network(scale)(images()), network(1)(images())
    torch.testing.assert_close(logits, scale * unscaled, rtol=1e-9, atol=1e-12)
    assert (logits.argmax(1) == unscaled.argmax(1)).all()


def after_twenty_steps(scale: float, lr: float, conv_lr: float, eps_scale: float | None = None):
    """Logits and the convolution weights at scale one, after 20 SGD steps on fixed batches."""
    model = network(scale, scaled="conv", eps_scale=eps_scale)
    convolutions = list(scaled_weights(model, "conv").values())
    chosen = {id(weight) for weight in convolutions}
    others = [p for p in model.parameters() if id(p) not in chosen]
    optimizer = torch.optim.SGD(
        [{"params": convolutions, "lr": conv_lr}, {"params": others, "lr": lr}]
    )
    for _ in range(20):
        optimizer.zero_grad()
        F.cross_entropy(model(images()), labels()).backward()
        optimizer.step()
    return model(images()).detach(), [weight.detach() / scale for weight in convolutions]


@pytest.mark.parametrize("scale", [0.5, 4])
def test_sgd_at_scale_s_follows_the_path_of_scale_one_with_lr_over_s_squared_bit_for_bit(scale):
    lr = 0.1
    logits, weights = after_twenty_steps(scale, lr, conv_lr=lr)
    same_logits, same_weights = after_twenty_steps(1, lr, conv_lr=lr / scale**2)
    assert torch.equal(logits, same_logits)
    assert all(torch.equal(a, b) for a, b in zip(weights, same_weights, strict=True))


@pytest.mark.parametrize("scale", [0.3, 3, 7.7])
def test_at_other_scales_the_paths_agree_to_a_millionth(scale):
    lr = 0.1
    logits, _ = after_twenty_steps(scale, lr, conv_lr=lr)
    same_logits, _ = after_twenty_steps(1, lr, conv_lr=lr / scale**2)
    assert (logits - same_logits).abs().max() < 1e-6


def test_with_eps_fixed_the_paths_part():
    lr = 0.1
    logits, _ = after_twenty_steps(0.5, lr, conv_lr=lr, eps_scale=1)
    same_logits, _ = after_twenty_steps(1, lr, conv_lr=lr / 0.25)
    assert (logits - same_logits).abs().max() > 1e-6


def test_channels_last_computes_the_same_as_contiguous_memory():
    model = BUILDERS["resnet9"](4, 3, 10).train()
    initialize(model, seed=0, init_scale=2, scaled="all")
    x = torch.randn(16, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    contiguous = model(x)
    rearranged = model.to(memory_format=torch.channels_last)(
        x.contiguous(memory_format=torch.channels_last)
    )
    torch.testing.assert_close(contiguous, rearranged, rtol=1e-4, atol=1e-4)
