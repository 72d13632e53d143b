"""What is imported where and when: rooms in the order of the data, and nothing heavy too early."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from places import WORKFLOW

PACKAGE = WORKFLOW / "initmem"
ROOMS_BEFORE = {
    "study": set(),
    "data": {"study"},
    "training": {"study", "data"},
    "analysis": {"study"},
    "report": {"study", "analysis"},
    "planning": {"study", "data", "training", "analysis", "report"},
}
"""The rooms of the package in the order in which data flow, each with those that it may use.

What lies in no room is the ground: every room may use it, and it uses none.
"""
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
HEAVY = {"torch", "pandas", "numpy", "sklearn", "matplotlib", "scipy"}

TRAIN = """
import sys
sys.path.insert(0, "../tests")
from pathlib import Path
from support import small_run, train_here
train_here(small_run(optimizer=sys.argv[3]), Path(sys.argv[1]), Path(sys.argv[2]))
assert "torch" in sys.modules
print(*sys.modules)
"""


def python(*arguments: str) -> str:
    """What a fresh Python prints that finds the package."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=WORKFLOW, check=True
    )
    return done.stdout


def modules_after(imports: list[str]) -> list[str]:
    """All modules that are loaded once these are imported."""
    return python("-c", f"import sys, {', '.join(imports)}; print(*sys.modules)").split()


def imported(path: Path) -> Iterator[str]:
    """The modules of this package that a module imports, and what it imports from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "modules are imported by their full name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "initmem")


def room(parts: list[str] | tuple[str, ...]) -> str:
    """The room that a path below the package leads into; '' for the ground."""
    return parts[0] if parts and (PACKAGE / parts[0]).is_dir() else ""


def test_every_folder_of_the_package_is_a_room_whose_place_is_known():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == set(ROOMS_BEFORE)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_its_own_room_the_ground_and_rooms_before_it(module):
    own = room(Path(module).parts)
    used = {room(name.split(".")[1:]) for name in imported(PACKAGE / module)}
    assert used <= {"", own} | ROOMS_BEFORE.get(own, set())


def test_parsing_the_workflow_imports_nothing_heavy():
    named = [
        line.split()[1]
        for line in (WORKFLOW / "rules/common.smk").read_text().splitlines()
        if line.startswith("from initmem.")
    ]
    assert len(named) > 5
    assert HEAVY.isdisjoint(
        python("-c", f"import sys, {', '.join(named)}; print(*sys.modules)").split()
    )


@pytest.mark.parametrize("script", ["report", "figure", "claims", "spread", "select", "dynamics"])
def test_what_follows_the_trainings_needs_no_torch(script):
    named = ", ".join(
        {name.rpartition(".")[0] for name in imported(WORKFLOW / f"scripts/{script}.py")}
    )
    modules = python("-c", f"import sys, {named}; print(*sys.modules)").split()
    assert "pandas" in modules
    assert "torch" not in modules


def test_preparing_digits_works_with_warnings_as_errors():
    code = "from initmem.data.arrays import digits; print(len(digits()['labels']))"
    assert python("-W", "error", "-c", code) == "1797\n"


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_training_imports_neither_torchs_compiler_nor_the_tail(digits, tmp_path, optimizer):
    modules = python("-c", TRAIN, str(digits), str(tmp_path), optimizer).split()
    assert {"torch._dynamo", "pandas", "sklearn", "scipy", "matplotlib"}.isdisjoint(modules)
