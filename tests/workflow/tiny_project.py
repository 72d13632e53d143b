"""A copy of the project with a tiny study, and snakemake to run there."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from initmem.study.study import load_study

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".snakemake", "results", "__pycache__", ".*_cache"
)
TAIL = {
    "select": 1,
    "dynamics": 1,
    "spread": 1,
    "claims": 1,
    "forgetting": 1,
    "figure": 7,
    "report": 1,
}


@dataclass(frozen=True)
class Project:
    """A folder with the workflow in it, and snakemake to run there."""

    folder: Path

    def command(self, *arguments: str) -> list[str]:
        """The command line of snakemake on the tiny study."""
        config = ["--configfile", "tests/workflow/tiny.yaml"]
        return [sys.executable, "-m", "snakemake", *arguments, *config]

    def snakemake(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run snakemake on the tiny study; whatever comes of it."""
        driver = subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = driver.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            os.killpg(driver.pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(driver.args, driver.returncode, out, err)

    def run(self, *arguments: str) -> dict[str, int]:
        """Run the study for real; the jobs by rule. Fails the test when snakemake fails."""
        return _jobs(_succeeded(self.snakemake(*arguments)))

    def planned(self, *arguments: str, **environment: str) -> dict[str, int]:
        """What a run would do: the jobs by rule, empty when there is nothing to be done."""
        return _jobs(_succeeded(self.snakemake("-n", *arguments, **environment)))

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        file = self.folder / path
        content = file.read_text()
        assert old in content
        file.write_text(content.replace(old, new))

    def configure(self, changes: Mapping) -> None:
        """Merge changes into the tiny study's configuration file."""
        file = self.folder / "tests/workflow/tiny.yaml"
        file.write_text(
            yaml.safe_dump(_merged(yaml.safe_load(file.read_text()), changes), sort_keys=False)
        )

    def axes(self, sweep: str, **axes) -> None:
        """Change axes of a sweep of the tiny study."""
        self.configure({"studies": {"tiny": {"sweeps": {sweep: {"axes": axes}}}}})

    def targets(self) -> list[str]:
        """run.json of every planned run of the tiny study, as snakemake is asked for it."""
        read = [self.folder / name for name in ("config.yaml", "tests/workflow/tiny.yaml")]
        base, changes = (yaml.safe_load(path.read_text()) for path in read)
        return [f"results/runs/{run}/run.json" for run in load_study(_merged(base, changes)).runs]

    def run_files(self, name: str = "run.json") -> dict[str, bytes]:
        """A file of each finished run, by the run's path."""
        runs = self.folder / "results" / "runs"
        return {str(p.relative_to(runs).parent): p.read_bytes() for p in runs.rglob(name)}

    def modified(self) -> dict[Path, int]:
        """When each file of the runs was last written."""
        files = (self.folder / "results" / "runs").rglob("*")
        return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def _merged(base: dict, changes: Mapping) -> dict:
    merged = dict(base)
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), dict):
            value = _merged(base[key], value)
        merged[key] = value
    return merged


def _succeeded(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _jobs(output: str) -> dict[str, int]:
    if "Nothing to be done" in output:
        return {}
    table = re.search(r"^job\s+count\n[-\s]+\n((?:\w+\s+\d+\n)+)", output, re.MULTILINE)
    assert table, output
    counts = dict(line.split() for line in table[1].splitlines())
    return {rule: int(count) for rule, count in counts.items() if rule not in ("all", "total")}


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """What snakemake says to a mistake: never a traceback, never success."""
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in said
    return said
