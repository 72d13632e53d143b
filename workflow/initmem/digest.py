"""A digest of code: what a rule runs, so that editing it can be told from touching it."""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


def source_digest(*sources: str) -> str:
    """Sixteen hexadecimal digits over files and the modules of this package that they import.

    `sources` are paths relative to the folder that holds the package (`scripts/spread.py`,
    `report/report.html.j2`). Comments count, file times do not.
    """
    files: dict[str, str] = {}
    for source in sources:
        _collect(PACKAGE.parent / source, files)
    text = "\n".join(f"{name}:{content}" for name, content in sorted(files.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _collect(path: Path, files: dict[str, str]) -> None:
    """Add a file, and what it imports of this package, however far."""
    name = path.relative_to(PACKAGE.parent).as_posix()
    if name in files:
        return
    files[name] = _content_digest(path)
    if path.suffix == ".py":
        for module in _imported_modules(path):
            _collect(module, files)


@cache
def _content_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _imported_modules(path: Path) -> list[Path]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    candidates = [file for name in names for file in _files_of(name)]
    return [file for file in candidates if file.is_relative_to(PACKAGE) and file.exists()]


def _files_of(module: str) -> list[Path]:
    """The files that importing a module may run: its own, and those of the packages around it."""
    path = PACKAGE.parent / module.replace(".", "/")
    packages = [path, *path.parents]
    return [path.with_suffix(".py"), *(package / "__init__.py" for package in packages)]
