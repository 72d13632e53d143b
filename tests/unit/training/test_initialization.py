"""The draw depends on the seed only, the scale multiplies what it should and nothing else."""

import numpy as np
import pytest
import torch
from torch import nn

from initmem.study.catalogue import MODELS
from initmem.training.initialization import flatten, initialize, root_mean_square, scaled_weights
from initmem.training.models import BUILDERS


def drawn(seed: int = 0, scale: float = 1, scaled: str = "all", width: int = 16) -> nn.Module:
    model = BUILDERS["resnet9"](width, 3, 10)
    initialize(model, seed, scale, scaled)
    return model


def test_every_model_of_the_catalogue_has_a_builder():
    assert set(MODELS) == set(BUILDERS)


@pytest.mark.parametrize(("width", "channels", "classes"), [(8, 1, 10), (64, 3, 10), (64, 3, 100)])
def test_resnet9_has_as_many_parameters_as_its_layers_say(width, channels, classes):
    pairs = [(channels, 1), (1, 2), (2, 2), (2, 2), (2, 4), (4, 8), (8, 8), (8, 8)]
    weights = 9 * width * channels + sum(9 * width**2 * i * o for i, o in pairs[1:])
    norms = 2 * width * sum(o for _, o in pairs)
    linear = 8 * width * classes + classes
    model = BUILDERS["resnet9"](width, channels, classes)
    assert sum(p.numel() for p in model.parameters()) == weights + norms + linear


def test_resnet18_has_the_known_number_of_parameters():
    model = BUILDERS["resnet18"](64, 3, 10).eval()
    assert sum(p.numel() for p in model.parameters()) == 11_173_962
    assert model(torch.zeros(2, 3, 32, 32)).shape == (2, 10)


def test_weights_are_he_normal_in_fan_in():
    for weight in scaled_weights(drawn(width=32), "all").values():
        if weight.numel() > 5000:
            expected = np.sqrt(2 / np.prod(weight.shape[1:]))
            assert weight.std().item() == pytest.approx(expected, rel=0.03)
            assert abs(weight.mean().item()) < 0.05 * expected


def test_all_scales_of_a_seed_see_the_same_draw():
    one, eight = (flatten(scaled_weights(drawn(scale=s), "all")) for s in (1, 8))
    assert torch.equal(8 * one, eight)


def test_seeds_and_layers_have_draws_of_their_own():
    weights = scaled_weights(drawn(), "all")
    other = scaled_weights(drawn(seed=1), "all")
    assert not any(torch.equal(weights[name], other[name]) for name in weights)
    first, second = (weights[f"stage1.2.blocks.{i}.conv.weight"] for i in (0, 1))
    assert not torch.equal(first, second)


@pytest.mark.parametrize("scaled", ["all", "conv", "linear"])
def test_only_the_chosen_weights_are_scaled(scaled):
    base, model = dict(drawn().named_parameters()), drawn(scale=4, scaled=scaled)
    for name, parameter in model.named_parameters():
        is_linear = name == "linear.weight"
        is_conv = ".conv." in name
        chosen = {"all": is_linear or is_conv, "conv": is_conv, "linear": is_linear}[scaled]
        assert torch.equal(parameter, base[name] * (4 if chosen else 1)), name


def test_biases_start_at_zero_and_batch_norm_at_gain_one():
    for name, parameter in drawn(scale=8).named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif ".norm." in name:
            assert (parameter == 1).all()


def test_root_mean_square():
    assert root_mean_square(torch.tensor([3.0, 4.0, 0.0, 0.0])) == pytest.approx(2.5)
