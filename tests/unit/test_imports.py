"""What is imported when: a plan needs no torch, and preparing data raises no warning."""

import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
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


def test_planning_a_study_imports_nothing_heavy():
    code = "import sys, initmem.study, initmem.digest; print(*sys.modules)"
    assert HEAVY.isdisjoint(python("-c", code).split())


def test_preparing_digits_works_with_warnings_as_errors():
    code = "from initmem.data import digits; print(len(digits()['labels']))"
    assert python("-W", "error", "-c", code) == "1797\n"


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_training_imports_neither_torchs_compiler_nor_the_tail(digits, tmp_path, optimizer):
    modules = python("-c", TRAIN, str(digits), str(tmp_path), optimizer).split()
    assert {"torch._dynamo", "pandas", "sklearn", "scipy", "matplotlib"}.isdisjoint(modules)
