"""Random streams depend on what they are for and on nothing else."""

import numpy as np

from initmem.randomness import epoch_order, stream


def test_equal_purposes_give_equal_numbers():
    assert (stream(3, "init/a", 2).random(8) == stream(3, "init/a", 2).random(8)).all()


def test_seed_purpose_and_epoch_each_give_a_stream_of_their_own():
    cases = [
        (0, "order", 1),
        (1, "order", 0),
        (0, "order", 0),
        (0, "init/a", 0),
        (2**40, "order", 0),
    ]
    first = {stream(*case).random() for case in cases}
    assert len(first) == len(cases)


def test_no_two_of_many_epochs_and_seeds_share_an_order():
    orders = {tuple(epoch_order(seed, epoch, 50)) for seed in range(20) for epoch in range(200)}
    assert len(orders) == 20 * 200


def test_an_order_visits_every_image_once():
    assert (np.sort(epoch_order(1, 5, 700)) == np.arange(700)).all()


def test_a_stream_is_frozen():
    assert stream(0, "order", 1).integers(0, 1000, 4).tolist() == [928, 820, 207, 238]
