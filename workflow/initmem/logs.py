"""What a job says while it works: to its log file, and in short to the terminal."""

import errno
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from datetime import datetime
from pathlib import Path

from initmem.errors import Interrupted, UserError

EXIT_USER_ERROR = 1
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
EXIT_INTERRUPTED = 75
"""EX_TEMPFAIL of sysexits.h: nothing is wrong, start the same command again."""


def log(text: str) -> None:
    """One line with the time, to wherever the job's output goes; a full disk ends no training."""
    with suppress(OSError):
        print(f"{datetime.now():%H:%M:%S} {text}", flush=True)


class Progress:
    """Lines about how far a job is, seconds apart."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()

    def say(self, text: str, apart: float) -> bool:
        """Log the text if the last line, or the start, is `apart` seconds ago; whether it did."""
        due = time.monotonic() - self._told_at >= apart
        if due:
            log(text)
            self._told_at = time.monotonic()
        return due


@contextmanager
def job_log(path: Path) -> Iterator[None]:
    """Everything printed goes to `path`; a mistake of the user also to the terminal, as one line.

    Exits with EXIT_USER_ERROR after a UserError and with EXIT_INTERRUPTED after an interruption;
    any other error keeps its traceback, in the log and on the terminal.
    """
    terminal = sys.stderr
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        try:
            yield
        except (UserError, Interrupted, KeyboardInterrupt) as error:
            text = str(error) or "interrupted"
            log(text)
            print(text, file=terminal)
            sys.exit(EXIT_USER_ERROR if isinstance(error, UserError) else EXIT_INTERRUPTED)
        except OSError as error:
            if error.errno not in NO_SPACE:
                traceback.print_exc()
                raise
            text = f"the disk is full ({error.strerror}): free some space and start again"
            log(text)
            print(text, file=terminal)
            sys.exit(EXIT_USER_ERROR)
        except Exception:
            traceback.print_exc()
            raise
