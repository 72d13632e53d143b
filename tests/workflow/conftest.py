"""The tiny study, finished once and copied for each test."""

import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from places import ROOT
from tiny_project import LEFT_OUT, TAIL, Project


@pytest.fixture(scope="session")
def _finished(tmp_path_factory) -> Path:
    """The project with its tiny study finished, made by whichever worker comes first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "finished"
    with FileLock(shared / "finished.lock"):
        if not (folder / "results/tiny/report.html").exists():
            shutil.copytree(ROOT, folder, ignore=LEFT_OUT, dirs_exist_ok=True)
            jobs = Project(folder).run()
            assert jobs == {"prepare": 1, "train": 6, **TAIL}
    return folder


@pytest.fixture
def project(_finished, tmp_path) -> Project:
    """A finished tiny study of this test's own."""
    return Project(shutil.copytree(_finished, tmp_path / "project"))


@pytest.fixture
def fresh(tmp_path) -> Project:
    """The project with nothing run yet."""
    return Project(shutil.copytree(ROOT, tmp_path / "project", ignore=LEFT_OUT))
