"""How numbers are written for people, in sentences and in the cells of tables."""

from math import isnan
from typing import Any

import pandas as pd

NONE = "–"
"""What an empty cell of a table shows."""


def number(value: float, decimals: int, unit: str = "") -> str:
    """A number with so many decimals and its unit; NaN as an empty cell."""
    if isnan(value):
        return NONE
    # Adding zero turns a rounded -0.0 into 0.0.
    return with_unit(f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−"), unit)


def with_unit(written: str, unit: str) -> str:
    """What is written in a cell with its unit; an empty cell has none."""
    return f"{written} {unit}" if unit and written != NONE else written


def interval(lo: float, hi: float, decimals: int = 1) -> str:
    """Two bounds; an empty cell where one of them is NaN."""
    if isnan(lo) or isnan(hi):
        return NONE
    return f"{number(lo, decimals)} to {number(hi, decimals)}"


def p_value(value: float) -> str:
    """A p-value; of very small ones only that they are."""
    if isnan(value):
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def text(value: Any) -> str:
    """A text as read from a table, where an empty one comes back as NaN."""
    return "" if pd.isna(value) else str(value)


def scales(value: Any) -> str:
    """Scales as listed in spread.csv, where a single one reads back as a number."""
    return ", ".join(f"{float(scale):g}" for scale in text(value).split())
