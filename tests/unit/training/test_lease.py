"""One writer per run: others wait, the dead are succeeded, and whoever lost the lease stops."""

import errno
import json
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from initmem.errors import Interrupted, LeaseLost
from initmem.training.lease import LEASE_NAME, Lease

FORK = multiprocessing.get_context("fork")


def hold(folder, leave):
    with Lease(folder, timeout=60):
        while not leave.exists():
            time.sleep(0.05)


@pytest.fixture
def holder(tmp_path, tmp_path_factory):
    """Another process that holds the lease of tmp_path until the file that it gives exists."""
    leave = tmp_path_factory.mktemp("signs") / "leave"
    process = FORK.Process(target=hold, args=(tmp_path, leave))
    process.start()
    while not (tmp_path / LEASE_NAME).exists():
        time.sleep(0.05)
    yield process, leave
    leave.touch()
    process.join()


def acquire_in_thread(folder, timeout: float) -> tuple[threading.Thread, threading.Event]:
    acquired = threading.Event()

    def work():
        with Lease(folder, timeout):
            acquired.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, acquired


def test_the_lease_is_gone_when_its_owner_leaves(tmp_path):
    with Lease(tmp_path, timeout=60) as lease:
        lease.check()
        assert (tmp_path / LEASE_NAME).exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_lease_works_where_the_disk_knows_no_hard_links(tmp_path, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with Lease(tmp_path, timeout=60) as lease:
        lease.check()
        assert [path.name for path in tmp_path.iterdir()] == [LEASE_NAME]


def test_a_lease_has_its_owner_from_the_moment_that_it_has_its_name(tmp_path, monkeypatch):
    seen = []
    link = Path.hardlink_to

    def look_then_link(path, whole):
        seen.append(path.exists())
        link(path, whole)
        seen.append(json.loads(path.read_text())["pid"])

    monkeypatch.setattr(Path, "hardlink_to", look_then_link)
    with Lease(tmp_path, timeout=60):
        assert seen == [False, os.getpid()]


def test_a_second_process_waits_until_the_first_leaves(tmp_path, holder):
    _, leave = holder
    thread, acquired = acquire_in_thread(tmp_path, timeout=60)
    assert not acquired.wait(1)
    leave.touch()
    assert acquired.wait(10)
    thread.join(10)


def test_a_killed_owner_on_the_same_machine_is_succeeded_at_once(tmp_path, holder):
    process, _ = holder
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    thread, acquired = acquire_in_thread(tmp_path, timeout=600)
    assert acquired.wait(90)
    thread.join(10)


def leave_behind(folder, machine: str) -> None:
    owner = {"token": "x", "machine": machine, "pid": os.getpid(), "process_start": "1"}
    (folder / LEASE_NAME).write_text(json.dumps(owner))


def test_an_owner_on_another_machine_is_succeeded_only_after_the_time_out(tmp_path):
    leave_behind(tmp_path, "elsewhere")
    os.utime(tmp_path / LEASE_NAME, (1, 1))
    started = time.monotonic()
    with Lease(tmp_path, timeout=2):
        assert time.monotonic() - started >= 2


def test_a_heartbeat_keeps_others_out_whatever_its_clock_says(tmp_path):
    leave_behind(tmp_path, "elsewhere")
    stop = threading.Event()

    def beat():
        hour_behind = time.time() - 3600
        while not stop.wait(0.2):
            hour_behind += 0.2
            os.utime(tmp_path / LEASE_NAME, (hour_behind, hour_behind))

    beating = threading.Thread(target=beat)
    beating.start()
    thread, acquired = acquire_in_thread(tmp_path, timeout=4)
    assert not acquired.wait(6)
    stop.set()
    beating.join()
    assert acquired.wait(10)
    thread.join(10)


def test_whoever_lost_the_lease_is_told_before_it_writes_and_leaves_it_alone(tmp_path):
    told = pytest.raises(LeaseLost, match="is lost to another process or deleted")
    with told, Lease(tmp_path, timeout=60) as lease:
        leave_behind(tmp_path, "elsewhere")
        lease.check()
    assert json.loads((tmp_path / LEASE_NAME).read_text())["token"] == "x"


def test_an_unreadable_lease_is_taken_over_after_the_time_out(tmp_path):
    (tmp_path / LEASE_NAME).write_text("{")
    with Lease(tmp_path, timeout=1.5) as lease:
        lease.check()


def test_a_request_to_stop_ends_the_waiting(tmp_path):
    leave_behind(tmp_path, "elsewhere")
    told = pytest.raises(Interrupted, match="stopped by SIGTERM while waiting")
    with told, Lease(tmp_path, timeout=60, stop_reason=lambda: "SIGTERM"):
        pass
