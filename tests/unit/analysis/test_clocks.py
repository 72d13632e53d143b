"""Clocks: the published figures, and which parts apply to which optimizer."""

from math import isnan

import pytest

from initmem.analysis.clocks import clocks, implicit_clock
from support import small_run

STEPS_PER_EPOCH = 313
"""40,000 images in batches of 128, the last short batch kept."""


@pytest.mark.parametrize(("epochs", "published"), [(300, "7.34e-04"), (5000, "1.22e-02")])
def test_the_two_published_clocks_of_low_lr_sgd(epochs, published):
    clock = implicit_clock(lr=1e-3, momentum=0, steps=STEPS_PER_EPOCH * epochs, batch_size=128)
    assert f"{clock:.2e}" == published


def test_sgd_adds_its_noise_and_its_decay():
    run = small_run(lr=0.1, weight_decay=0.01, batch_size=50, epochs=10, momentum=0.5)
    parts = clocks(run, largest_scale=8, sigma_w=0.1)
    assert parts.implicit == pytest.approx(0.2**2 * 20 / 50)
    assert parts.l2 == pytest.approx(0.2 * 0.01 * 20)
    assert (parts.decoupled, parts.adaptive) == (0, 0)
    assert parts.total == pytest.approx(parts.implicit + parts.l2)


def test_adaptive_steps_count_against_the_largest_weights():
    run = small_run(optimizer="adam", lr=0.1, weight_decay=0.01, batch_size=50, epochs=10)
    parts = clocks(run, largest_scale=8, sigma_w=0.05)
    assert parts.adaptive == pytest.approx(0.1 * 20 / (8 * 0.05))
    assert parts.total == parts.adaptive


def test_decay_counts_in_adamw_and_not_in_adam():
    values = {"lr": 0.1, "weight_decay": 0.01, "batch_size": 50, "epochs": 10}
    adamw = clocks(small_run(optimizer="adamw", **values), 8, 0.05)
    adam = clocks(small_run(optimizer="adam", **values), 8, 0.05)
    assert adamw.decoupled == pytest.approx(0.1 * 0.01 * 20)
    assert adamw.total == pytest.approx(adam.total + adamw.decoupled)


def test_decay_counts_in_adam_when_an_argument_decouples_it():
    run = small_run(
        optimizer="adam", weight_decay=0.01, optimizer_args={"decoupled_weight_decay": True}
    )
    assert clocks(run, 8, 0.05).decoupled > 0


def test_an_optimizer_that_we_do_not_know_has_no_clock():
    assert isnan(clocks(small_run(optimizer="Adagrad"), 8, 0.05).total)
