"""How far a study is: what each run's folder tells, and the page made of it."""

import os

import pytest

from fabricated import fake, plan
from initmem.analysis.tables import read_finished
from initmem.planning.costs import Rates
from initmem.planning.settings import Setting
from initmem.planning.status import Standing, standing, standings_of, status_text
from initmem.training import progress
from initmem.training.lease import LEASE_NAME, Lease

RATES = Rates(train=100, evaluation=1e9, startup=0, memory_mb=None, source="calibration")


def page(standings: dict, rates=RATES) -> str:
    study = plan()
    filled = {run_id: standings.get(run_id, Standing("missing")) for run_id in study.runs}
    known = {Setting.of(run): rates for run in study.runs.values()} if rates else {}
    return status_text(study, filled, known, slots=2)


def ids() -> list[str]:
    return list(plan().runs)


def test_finished_runs_stand_as_they_ended_and_the_others_as_their_folders_tell(tmp_path):
    study = plan()
    done, diverged, *_ = study.runs.values()
    fake(tmp_path, done, 0.9)
    fake(tmp_path, diverged, None)
    found = standings_of(study, read_finished(study, tmp_path), tmp_path, 60)
    assert [found[run_id].kind for run_id in study.runs] == ["done", "diverged", *["missing"] * 2]


def test_nothing_there_is_missing(tmp_path):
    assert standing(tmp_path / "run", 60) == Standing("missing")


def test_a_run_that_somebody_works_on_is_running_at_the_epoch_told_last(tmp_path):
    with Lease(tmp_path, 60) as lease:
        assert standing(tmp_path, 60) == Standing("running", 0)
        progress.write_epoch(tmp_path, 7, lease.check)
        assert standing(tmp_path, 60) == Standing("running", 7)


def test_a_run_that_was_begun_and_that_nobody_works_on_is_stopped_and_its_log_says_why(tmp_path):
    (tmp_path / "train.log").write_text("10:00:00 epoch 2 of 9\n10:00:09 the disk is full\n\n")
    progress.write_epoch(tmp_path, 2, lambda: None)
    assert standing(tmp_path, 60) == Standing("stopped", 2, "10:00:09 the disk is full")


def test_a_heartbeat_of_another_machine_counts_until_it_is_old(tmp_path):
    (tmp_path / "train.log").write_text("epoch 1\n")
    (tmp_path / LEASE_NAME).write_text('{"token": "x", "machine": "another", "pid": 1}')
    assert standing(tmp_path, 60).kind == "running"
    os.utime(tmp_path / LEASE_NAME, (1, 1))
    assert standing(tmp_path, 60).kind == "stopped"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"epoch": "x"}'])
def test_an_unreadable_progress_is_none(tmp_path, content):
    (tmp_path / progress.PROGRESS_NAME).write_text(content)
    assert progress.read_epoch(tmp_path) == 0


def test_the_page_counts_each_kind_by_sweep():
    first, second, third, _ = ids()
    told = page(
        {first: Standing("done"), second: Standing("running", 1), third: Standing("diverged")}
    )
    rows = {line.split()[0]: line.split()[1:] for line in told.splitlines() if line}
    assert rows["sgd"] == rows["all"] == ["1", "1", "1", "0", "1"]
    assert f"running at epoch 1 of 2: {second}" in told


def test_a_stopped_run_is_shown_with_the_last_line_of_its_log():
    told = page({ids()[0]: Standing("stopped", 1, "no space left")})
    assert "    no space left" in told


def test_the_time_left_counts_only_epochs_that_are_still_to_come():
    first, second, third, fourth = ids()
    told = page(
        {
            first: Standing("done"),
            second: Standing("done"),
            third: Standing("diverged"),
            fourth: Standing("running", 1),
        }
    )
    # Two epochs of 700 images at 100 images a second, one of them over.
    assert "Time left on this machine, 2 at a time: 7 s." in told
    assert "Time left: unknown." in page({}, rates=None)


def test_a_spread_is_known_once_a_seed_is_done_at_every_scale_that_has_a_run():
    one_scale = {run_id: Standing("done") for run_id in ids() if "scale1" in run_id}
    one_seed = {run_id: Standing("done") for run_id in ids() if "seed0" in run_id}
    assert "A spread is known of 0 of 1 configurations." in page(one_scale)
    assert "A spread is known of 1 of 1 configurations." in page(one_seed)


def test_a_finished_study_says_so():
    assert "Every training is finished." in page(dict.fromkeys(ids(), Standing("done")))


def test_of_many_runs_of_a_kind_some_are_listed_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr("initmem.planning.status.MOST_LISTED", 1)
    told = page(dict.fromkeys(ids(), Standing("running", 1)))
    assert told.count("running at epoch") == 1
    assert f"{len(ids()) - 1} more running" in told
