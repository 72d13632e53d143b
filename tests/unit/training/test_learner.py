"""A learner's epoch is what a plain loop over batches computes, and tells each step."""

import copy

import pytest
import torch
import torch.nn.functional as F

from initmem.data.arrays import load
from initmem.randomness import epoch_order
from initmem.training.trainer import Trainer
from support import small_run

RUN = small_run(momentum=0.9)


@pytest.fixture
def learner(digits):
    return Trainer(RUN, load(digits, RUN), torch.device("cpu")).learner


def test_an_epoch_is_the_steps_of_a_plain_loop_its_last_short_batch_included(learner):
    order = epoch_order(RUN.seed, 1, RUN.train_size)
    plain = copy.deepcopy(learner.model)
    optimizer = torch.optim.SGD(
        plain.parameters(), RUN.lr, momentum=0.9, weight_decay=RUN.weight_decay, fused=True
    )
    source, losses, right = learner.source, 0.0, 0
    for chosen in (order[:64], order[64:]):
        images, labels = source.train.images[chosen], source.train.labels[chosen]
        optimizer.zero_grad()
        logits = plain(source.batch(images))
        loss = F.cross_entropy(logits, labels)
        loss.backward()
        optimizer.step()
        losses += loss.item() * len(chosen)
        right += int((logits.argmax(1) == labels).sum())

    told = []
    loss, accuracy = learner.epoch(order, told.append)
    assert (loss, accuracy) == (pytest.approx(losses / 100, rel=1e-6), right / 100)
    assert told == [1, 2]
    for name, value in learner.model.state_dict().items():
        assert torch.equal(value, plain.state_dict()[name]), name


def test_a_copy_of_the_weights_stays_as_it_is_while_training_goes_on(learner):
    copied = learner.copy_weights()
    before = {name: value.clone() for name, value in copied.items()}
    learner.epoch(epoch_order(RUN.seed, 1, RUN.train_size), lambda step: None)
    assert all(torch.equal(copied[name], value) for name, value in before.items())
    assert not torch.equal(copied["linear.weight"], learner.model.linear.weight)
