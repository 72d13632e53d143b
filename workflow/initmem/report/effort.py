"""What the runs of a study took, on what, and with which versions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from initmem.files import read_json
from initmem.report.cells import NONE
from initmem.wording import duration


def effort(timings: Iterable[Path]) -> dict[str, Any]:
    """What the study's runs took, summed, on what, and with which versions; no host is named.

    Runs are shared by studies, so the sum also counts runs that were trained for another one.
    """
    paths = list(timings)
    records = [read_json(path) for path in paths if path.exists()]
    parts = ("startup", "training", "evaluation")
    seconds = {part: sum(record[f"seconds_{part}"] for record in records) for part in parts}
    rates = [record["samples_per_second"] for record in records]
    return {
        "n_records": len(records),
        "n_without": len(paths) - len(records),
        **{part: duration(seconds[part]) for part in parts},
        "total": duration(sum(seconds.values())),
        "rate": _rate(rates),
        "used": {
            name: _distinct(records, key)
            for name, key in (
                ("Device", "device"),
                ("Threads of a run", "threads"),
                ("Python", "python"),
                ("torch", "torch"),
                ("NumPy", "numpy"),
                ("Commit of the code (+: changed since)", "commit"),
            )
        },
    }


def _distinct(records: Sequence[Mapping[str, Any]], key: str) -> str:
    """The values of a key; how many runs had each, where they differ."""
    counts = Counter("unknown" if record[key] is None else str(record[key]) for record in records)
    if len(counts) < 2:
        return next(iter(counts), NONE)
    return ", ".join(f"{value} ({count} runs)" for value, count in counts.most_common())


def _rate(rates: Sequence[float]) -> str:
    if not rates:
        return NONE
    return f"{pd.Series(rates).median():,.0f} (from {min(rates):,.0f} to {max(rates):,.0f})"
