"""When a training saves and when its time is up."""

import time

from initmem.training.stopping import SaveClock


def test_saving_is_due_by_time_not_by_epochs():
    clock = SaveClock(every=60, deadline=None, _last=time.monotonic() - 61)
    assert clock.due()
    assert not clock.due()
    assert not clock.out_of_time()


def test_waiting_and_loading_are_no_part_of_the_first_epoch():
    now = time.monotonic()
    clock = SaveClock(every=60, deadline=now + 100, _epoch_started=now - 3000)
    clock.training_begins()
    clock.epoch_ended()
    assert not clock.out_of_time()


def test_time_is_up_when_one_more_epoch_would_not_fit():
    now = time.monotonic()
    clock = SaveClock(every=60, deadline=now + 100, _epoch_started=now - 80)
    assert not clock.out_of_time()
    clock.epoch_ended()
    assert clock.out_of_time()
