"""The saved state: whole and of this run, or not used."""

import pytest
import torch

from initmem.errors import LeaseLost
from initmem.training import resume
from initmem.training.resume import State
from support import small_run

CPU = torch.device("cpu")


def anything_goes() -> None:
    """The permit of a test that has no other writer."""


def state(epoch: int) -> State:
    best = {"epoch": 1, "val_acc": 0.5, "model": {"w": torch.ones(2)}}
    return State(epoch, {"w": torch.full((2,), float(epoch))}, {"state": {}}, [{"epoch": 1}], best)


def saved(folder, *epochs: int) -> None:
    for epoch in epochs:
        resume.save(state(epoch), small_run(), folder, anything_goes)


def test_a_saved_state_comes_back_as_it_was(tmp_path):
    saved(tmp_path, 3)
    found = resume.load(small_run(), tmp_path, CPU)
    assert (found.epoch, found.history, found.best["val_acc"]) == (3, [{"epoch": 1}], 0.5)
    assert torch.equal(found.model["w"], torch.full((2,), 3.0))


def test_without_a_state_there_is_nothing_to_load(tmp_path):
    assert resume.load(small_run(), tmp_path, CPU) is None


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip"])
def test_a_damaged_state_falls_back_to_the_one_before(tmp_path, damage):
    saved(tmp_path, 3, 4)
    path = tmp_path / resume.STATE_NAME
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = {"truncate": content[:100], "empty": b"", "flip": content}[damage]
    path.write_bytes(damaged)
    assert resume.load(small_run(), tmp_path, CPU).epoch == 3
    (tmp_path / resume.PREVIOUS_NAME).write_bytes(damaged)
    assert resume.load(small_run(), tmp_path, CPU) is None


@pytest.mark.parametrize("other", [{"lr": 0.1}, {"epochs": 9}, {"seed": 1}, {"protocol": 2}])
def test_the_state_of_another_run_is_refused(tmp_path, other, capsys):
    saved(tmp_path, 3)
    assert resume.load(small_run(**other), tmp_path, CPU) is None
    assert "it is of another run" in capsys.readouterr().out


def test_killed_between_two_renamings_the_state_before_is_there(tmp_path):
    saved(tmp_path, 3, 4)
    (tmp_path / resume.STATE_NAME).unlink()
    assert resume.load(small_run(), tmp_path, CPU).epoch == 3


def test_a_damaged_state_never_becomes_the_fall_back(tmp_path):
    saved(tmp_path, 3, 4)
    (tmp_path / resume.STATE_NAME).write_bytes(b"torn")
    assert resume.load(small_run(), tmp_path, CPU).epoch == 3
    saved(tmp_path, 5)
    (tmp_path / resume.STATE_NAME).unlink()
    assert resume.load(small_run(), tmp_path, CPU).epoch == 3


def test_whoever_lost_the_lease_saves_nothing(tmp_path):
    saved(tmp_path, 3)

    def refuse():
        raise LeaseLost

    with pytest.raises(LeaseLost):
        resume.save(state(4), small_run(), tmp_path, refuse)
    assert resume.load(small_run(), tmp_path, CPU).epoch == 3
    assert len(list(tmp_path.iterdir())) == 1


def test_removing_takes_both_states(tmp_path):
    saved(tmp_path, 1, 2)
    resume.remove(tmp_path)
    assert list(tmp_path.iterdir()) == []
