"""A digest of code sees what a rule runs, however far away, and not when it was touched."""

import os

import pytest

from initmem import digest
from initmem.digest import source_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of modules, one imported by the next, and a script that runs the first."""
    folder = tmp_path / "initmem"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "fourth.py").write_text("import json\n")
    (folder / "first.py").write_text("from initmem import second\n")
    (folder / "second.py").write_text("import json\nfrom initmem.third import f\n")
    (folder / "third.py").write_text("from initmem.inner import fourth\n")
    (folder / "other.py").write_text("")
    (tmp_path / "script.py").write_text("from initmem.first import x\n")
    monkeypatch.setattr(digest, "PACKAGE", folder)
    return folder


def fresh(*sources: str) -> str:
    digest._content_digest.cache_clear()
    digest._imported_modules.cache_clear()
    return source_digest(*sources)


@pytest.mark.parametrize(
    "module",
    [
        "__init__.py",
        "first.py",
        "second.py",
        "third.py",
        "inner/__init__.py",
        "inner/fourth.py",
        "../script.py",
    ],
)
def test_an_edit_of_any_module_that_is_run_changes_the_digest(package, module):
    before = fresh("script.py")
    path = package / module
    path.write_text(path.read_text() + "# edited\n")
    assert fresh("script.py") != before


def test_an_edit_elsewhere_or_a_touch_does_not(package):
    before = fresh("script.py")
    (package / "other.py").write_text("# edited\n")
    os.utime(package / "third.py", (1, 1))
    assert fresh("script.py") == before


def test_further_files_count(package):
    (package.parent / "page.j2").write_text("a")
    before = fresh("script.py", "page.j2")
    (package.parent / "page.j2").write_text("b")
    assert fresh("script.py", "page.j2") != before
