"""A whole tiny study: its files, a divergence, and a kill in the middle of a training."""

import os
import signal
import subprocess
import time

import pandas as pd
import psutil
import yaml

from conftest import TAIL

REPRODUCIBLE = ("run.json", "history.csv", "predictions.npz")


def test_a_study_leaves_its_tables_figures_and_report(project):
    folder = project.folder / "results/tiny"
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    figures = ("accuracy_by_scale", "spread_by_regime", "spread_by_clock")
    assert names == {
        "runs.csv",
        "selected.csv",
        "spread.csv",
        "claims.csv",
        "report.html",
        *(f"figures/{figure}.{kind}" for figure in figures for kind in ("svg", "png")),
    }
    assert pd.read_csv(folder / "runs.csv")["status"].tolist() == ["done"] * 6


def test_a_divergence_is_a_result_that_the_report_shows(project):
    project.axes("adam", optimizer="sgd", lr=1e30)
    assert project.run() == {"train": 2, **TAIL}
    spread = pd.read_csv(project.folder / "results/tiny/spread.csv").set_index("label")
    assert spread.loc["Adam", "n_diverged"] == 2
    assert pd.isna(spread.loc["Adam", "spread_pp"])
    assert "all runs diverged" in (project.folder / "results/tiny/report.html").read_text()
    assert project.planned() == {}


def trainers(folder) -> list[psutil.Process]:
    """The processes that train a run below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        line = " ".join(process.info["cmdline"] or [])
        if process.info["cwd"] == str(folder) and line.endswith(".train.py"):
            found.append(process)
    return found


def test_driver_and_trainer_killed_in_the_middle_go_on_to_the_same_bytes(project):
    """Only the commands of the README's section on resuming are used after the kill."""
    project.axes("adam", epochs=400, seed=0, init_scale=1)
    project.configure({"engine": {"save_every": 0}})
    runs = project.folder / "results/runs"
    driver = subprocess.Popen(
        project.command(), cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not list(runs.rglob("state.pt")):
        assert driver.poll() is None
        time.sleep(0.05)
    for process in trainers(project.folder):
        process.send_signal(signal.SIGKILL)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    (state,) = runs.rglob("state.pt")
    killed = state.parent
    assert not (killed / "run.json").exists()

    assert project.snakemake("--unlock").returncode == 0
    project.run()
    assert "resuming after epoch" in (killed / "train.log").read_text()
    resumed = {name: (killed / name).read_bytes() for name in REPRODUCIBLE}
    for path in killed.iterdir():
        path.unlink()
    project.run()
    assert {name: (killed / name).read_bytes() for name in REPRODUCIBLE} == resumed


def test_an_orphan_trainer_and_a_second_one_never_write_together(project):
    project.axes("adam", epochs=300, seed=0, init_scale=1)
    project.configure({"engine": {"save_every": 0}})
    runs = project.folder / "results/runs"
    driver = subprocess.Popen(
        project.command(), cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not list(runs.rglob("state.pt")):
        assert driver.poll() is None
        time.sleep(0.05)
    (state,) = runs.rglob("state.pt")
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert trainers(project.folder)

    assert project.snakemake("--unlock").returncode == 0
    project.run()
    log = (state.parent / "train.log").read_text()
    assert "waiting for process" in log
    assert "already finished" in log
    assert "done, selected epoch" not in log
    assert trainers(project.folder) == []


def test_the_default_profile_neither_keeps_incomplete_outputs_nor_retries(project):
    profile = yaml.safe_load((project.folder / "profiles/default/profile.yaml").read_text())
    assert "keep-incomplete" not in profile
    assert "retries" not in profile
