"""A job's last words: one line for people, a code for whoever started it, all in the log."""

import errno
import time

import pytest

from initmem.errors import Interrupted, UserError
from initmem.logs import EXIT_INTERRUPTED, EXIT_USER_ERROR, Progress, job_log, log


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (UserError("lr: not a number"), EXIT_USER_ERROR, "lr: not a number"),
        (Interrupted("stopped; saved"), EXIT_INTERRUPTED, "stopped; saved"),
        (KeyboardInterrupt(), EXIT_INTERRUPTED, "interrupted"),
        (OSError(errno.ENOSPC, "No space left on device"), EXIT_USER_ERROR, "the disk is full"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_its_own_exit_code(
    tmp_path, capsys, error, code, told
):
    with pytest.raises(SystemExit) as left, job_log(tmp_path / "job.log"):
        raise error
    (line,) = capsys.readouterr().err.splitlines()
    assert left.value.code == code
    assert told in line
    assert told in (tmp_path / "job.log").read_text()


def test_the_exit_code_of_an_interruption_is_not_that_of_a_failure():
    assert len({0, EXIT_USER_ERROR, EXIT_INTERRUPTED}) == 3


def test_any_other_error_keeps_its_traceback_in_the_log(tmp_path):
    with pytest.raises(ZeroDivisionError), job_log(tmp_path / "job.log"):
        log("before")
        _ = 1 / 0
    written = (tmp_path / "job.log").read_text()
    assert "before" in written
    assert "ZeroDivisionError" in written


def test_lines_of_progress_are_seconds_apart(capsys, monkeypatch):
    now = iter([0, 5, 10, 10, 15, 21, 21])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    progress = Progress()
    for text in ("at 5", "at 10", "at 15", "at 21"):
        progress.say(text, apart=10)
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "at 10",
        "at 21",
    ]
