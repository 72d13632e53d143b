"""What a job says while it works: to its log file, and in short to the terminal."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime
from pathlib import Path

from initmem.errors import Interrupted, UserError

EXIT_USER_ERROR = 1
EXIT_INTERRUPTED = 75
"""EX_TEMPFAIL of sysexits.h: nothing is wrong, start the same command again."""


def log(text: str) -> None:
    """One line with the time, to wherever the job's output goes."""
    print(f"{datetime.now():%H:%M:%S} {text}", flush=True)


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
        except (UserError, Interrupted) as error:
            log(str(error))
            print(error, file=terminal)
            sys.exit(EXIT_INTERRUPTED if isinstance(error, Interrupted) else EXIT_USER_ERROR)
        except Exception:
            traceback.print_exc()
            raise
