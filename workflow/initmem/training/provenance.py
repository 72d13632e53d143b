"""Where a result comes from: host, versions and the state of the code."""

import platform
import subprocess
from pathlib import Path

import numpy as np
import torch


def versions() -> dict[str, str | None]:
    """Host, and the versions of Python, torch, NumPy and this code."""
    return {
        "host": platform.node(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "commit": code_commit(),
    }


def code_commit() -> str | None:
    """The commit of the code, with + if it was changed since; None outside a checkout."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
