"""A whole tiny study: its files, a divergence, and a kill in the middle of a training."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pandas as pd
import psutil
import yaml

from initmem.study.catalogue import FIGURES
from tiny_project import TAIL

REPRODUCIBLE = ("run.json", "history.csv", "predictions.npz")


def test_a_study_leaves_its_tables_figures_and_report(project):
    folder = project.folder / "results/tiny"
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {
        "runs.csv",
        "selected.csv",
        "dynamics.csv",
        "spread.csv",
        "claims.csv",
        "memory.csv",
        "forgetting_time.csv",
        "report.html",
        *(f"figures/{figure}.{kind}" for figure in FIGURES for kind in ("svg", "png")),
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
        line = process.info["cmdline"] or ["", ""]
        is_trainer = "python" in line[0] and line[-1].endswith(".train.py")
        if is_trainer and process.info["cwd"] == str(folder):
            found.append(process)
    return found


def longer(epochs: int) -> str:
    """The folder of a training that takes some seconds."""
    return f"results/runs/digits-n100/resnet9-w2_adam_lr0.001_b50_wd0_e{epochs}/scale1_seed0"


@contextmanager
def killed_in_the_middle(project, run: str) -> Iterator[psutil.Process]:
    """Start a training, kill snakemake once a state is saved; gives the orphan trainer, stopped."""
    project.configure({"engine": {"save_every": 0}})
    driver = subprocess.Popen(
        project.command(f"{run}/run.json"),
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: (project.folder / run / "state.pt").exists())
        (trainer,) = trainers(project.folder)
        trainer.suspend()
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        yield trainer
    finally:
        with suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)


def wait_for(condition) -> None:
    """Wait until a condition holds; fails after two minutes."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < 120
        time.sleep(0.02)


def test_driver_and_trainer_killed_in_the_middle_go_on_to_the_same_bytes(project):
    run = longer(epochs=150)
    folder = project.folder / run
    with killed_in_the_middle(project, run) as trainer:
        trainer.kill()
    assert not (folder / "run.json").exists()
    assert project.snakemake("--unlock").returncode == 0
    assert project.run(f"{run}/run.json") == {"train": 1}
    assert "resuming after epoch" in (folder / "train.log").read_text()
    resumed = {name: (folder / name).read_bytes() for name in REPRODUCIBLE}
    shutil.rmtree(folder)
    assert project.run(f"{run}/run.json") == {"train": 1}
    assert {name: (folder / name).read_bytes() for name in REPRODUCIBLE} == resumed


def test_an_orphan_trainer_and_a_second_one_never_write_together(project):
    run = longer(epochs=150)
    log = project.folder / run / "train.log"
    with killed_in_the_middle(project, run) as orphan, ThreadPoolExecutor() as pool:
        assert project.snakemake("--unlock").returncode == 0
        second = pool.submit(project.run, f"{run}/run.json")
        wait_for(lambda: log.exists() and "waiting for process" in log.read_text())
        orphan.resume()
        assert second.result() == {"train": 1}
    assert "already finished" in log.read_text()
    assert "done, selected epoch" not in log.read_text()
    assert trainers(project.folder) == []


def test_the_default_profile_neither_keeps_incomplete_outputs_nor_retries(project):
    profile = yaml.safe_load((project.folder / "profiles/default/profile.yaml").read_text())
    assert "keep-incomplete" not in profile
    assert "retries" not in profile
