"""The fields of a configuration: numbers however they are written, and what is wrong with one."""

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError


def number(value: Any) -> Any:
    """The number that a text stands for (YAML reads `1e-3` as text); anything else unchanged.

    Raises ValueError for truth values and for texts that are no finite number.
    """
    if isinstance(value, bool):
        raise ValueError("a number is needed, not a truth value")
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"[+-]?\d+", value.strip()):
        return int(value)
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value.strip()):
        raise ValueError("not a number")
    return float(value)


def number_text(value: float) -> str:
    """The shortest text that reads back as `value`; whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def plain_argument(value: Any) -> Any:
    """An optimizer argument in its one form: numbers given as text are numbers, 1.0 is 1."""
    if isinstance(value, Mapping):
        return {
            str(key): plain_argument(entry)
            for key, entry in sorted(value.items(), key=lambda item: str(item[0]))
        }
    if isinstance(value, (list, tuple)):
        return [plain_argument(entry) for entry in value]
    if isinstance(value, str):
        try:
            return plain_argument(number(value))
        except ValueError:
            return value
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("an optimizer argument must be finite")
        return int(value) if value == int(value) and abs(value) < 1e16 else value
    if value is None or isinstance(value, (bool, int)):
        return value
    raise ValueError(f"an optimizer argument cannot be a {type(value).__name__}")


def same_argument(first: Any, second: Any) -> bool:
    """Equal as JSON, where a truth value is no number."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def first_problem(error: ValidationError, prefix: str = "") -> str:
    """The first problem of a validation as one line: the key, what is wrong, the value."""
    problem = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in (prefix, *problem["loc"]) if part != "")
    text = problem["msg"].removeprefix("Value error, ")
    text = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(problem["type"], text)
    shown = ""
    told = problem["type"] in ("missing", "extra_forbidden")
    if not told and not isinstance(problem["input"], (dict, list)):
        shown = f" (given: {problem['input']!r})"
    return f"{key}: {text[:1].lower()}{text[1:]}{shown}" if key else text


Number = Annotated[float, BeforeValidator(number), Field(allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(number), Field(ge=1)]
Index = Annotated[int, BeforeValidator(number), Field(ge=0)]
Positive = Annotated[Number, Field(gt=0)]
