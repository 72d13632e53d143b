"""What reruns what, on a finished tiny study, with the real snakemake."""

import os
import shutil

import pytest
import yaml

from tiny_project import TAIL, Project


def touch_everything(folder) -> None:
    """Give every file below a folder the time of now, as a checkout or a copy does."""
    for path in folder.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            os.utime(path)


def test_a_second_run_has_nothing_to_do(project):
    assert project.planned() == {}


def test_touched_code_and_a_fresh_checkout_retrain_nothing_and_redraw_nothing(project):
    touch_everything(project.folder / "workflow")
    os.utime(project.folder / "Snakefile")
    os.utime(project.folder / "config.yaml")
    assert project.planned() == {}


def test_an_edited_trainer_retrains_nothing_until_the_protocol_is_raised(project):
    project.edit("workflow/initmem/training/learner.py", '"""A network', '"""Edited. A network')
    project.edit("workflow/scripts/train.py", '"""Train one run."""', '"""Edited."""')
    assert project.planned() == {}
    project.edit("workflow/initmem/study/run.py", "PROTOCOL = 1\n", "PROTOCOL = 2\n")
    assert project.planned() == {"train": 6, **TAIL}


def test_an_edited_figure_is_redrawn_and_nothing_retrained(project):
    project.edit("workflow/initmem/report/figures/drawing.py", "WIDTH = 4.7", "WIDTH = 4.8")
    assert project.planned() == {"figure": 7, "report": 1}


def test_an_edited_caption_rewrites_the_report_only(project):
    project.edit("workflow/report/spread_by_regime.rst", "Spread", "The spread")
    assert project.planned() == {"report": 1}


def test_an_edited_statistic_redoes_the_tail_only(project):
    project.edit("workflow/initmem/analysis/statistics.py", "RESAMPLES = 2000", "RESAMPLES = 1000")
    assert "train" not in project.planned()
    assert {"spread", "claims"} <= set(project.planned())


def test_another_label_or_title_redoes_the_tail_only(project):
    project.configure({"studies": {"tiny": {"sweeps": {"sgd": {"label": "Plain SGD"}}}}})
    assert project.planned() == TAIL


def test_an_added_learning_rate_trains_only_the_new_runs(project):
    project.axes("sgd", lr=[0.05, "1e-2"])
    assert project.planned() == {"train": 4, **TAIL}


def test_another_study_added_to_the_configuration_reruns_nothing(project):
    studies = yaml.safe_load((project.folder / "tests/workflow/tiny.yaml").read_text())["studies"]
    project.configure({"studies": {"another": studies["tiny"]}})
    assert project.planned() == {}


@pytest.mark.parametrize(
    "engine", [{"save_every": 1}, {"keep_weights": True}, {"lease_timeout": 30}, {"threads": 2}]
)
def test_how_trainings_are_carried_out_reruns_nothing(project, engine):
    project.configure({"engine": engine})
    assert project.planned() == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--cores", "7"),
        ("--set-resources", "train:runtime=5", "train:mem_mb=2000"),
        ("--workflow-profile", "none", "--cores", "1", "--rerun-triggers", "mtime", "params"),
        ("--set-threads", "train=2"),
    ],
)
def test_cores_profiles_and_limits_rerun_nothing(project, arguments):
    assert project.planned(*arguments) == {}


def test_another_directory_reruns_nothing(project, tmp_path):
    moved = shutil.move(project.folder, tmp_path / "elsewhere")
    assert Project(moved).planned() == {}


def test_copying_without_times_retrains_nothing(project):
    touch_everything(project.folder)
    assert "train" not in project.planned()
    assert "prepare" not in project.planned()


@pytest.mark.parametrize("seed", ["0", "1", "12345"])
def test_the_order_of_python_sets_reruns_nothing(project, seed):
    assert project.planned(PYTHONHASHSEED=seed) == {}


def test_reordered_keys_and_other_spellings_of_numbers_rerun_nothing(project):
    file = project.folder / "tests/workflow/tiny.yaml"
    config = yaml.safe_load(file.read_text())
    tiny = config["studies"]["tiny"]
    tiny["axes"] = dict(reversed(tiny["axes"].items())) | {"init_scale": [1.0, "4"], "epochs": "3"}
    tiny["sweeps"]["sgd"]["axes"] = {"lr": "5e-2", "optimizer": "SGD", "momentum": 0}
    file.write_text(yaml.safe_dump(config, sort_keys=False))
    assert project.planned() == {}


def test_data_deleted_touched_or_made_anew_retrain_nothing(project):
    data = project.folder / "results/data"
    os.utime(data / "digits.npz")
    assert project.planned() == {}
    shutil.rmtree(data)
    assert project.planned() == {}
    assert project.run("results/data/digits.npz") == {"prepare": 1}
    assert project.planned() == {}


def test_a_scale_added_after_data_were_deleted_trains_that_scale_and_the_tail(project):
    shutil.rmtree(project.folder / "results/data")
    project.configure({"studies": {"tiny": {"axes": {"init_scale": [1, 4, 2]}}}})
    before = project.modified()
    assert project.run() == {"prepare": 1, "train": 3, **TAIL}
    assert {path: when for path, when in project.modified().items() if path in before} == before
    assert project.planned() == {}
    assert len(project.run_files()) == 9


def test_a_deleted_run_is_trained_again_to_the_same_bytes(project):
    before = {name: project.run_files(name) for name in ("run.json", "history.csv")}
    deleted = next(iter(before["run.json"]))
    shutil.rmtree(project.folder / "results/runs" / deleted)
    assert project.run()["train"] == 1
    assert {name: project.run_files(name) for name in before} == before


def test_a_deleted_file_of_a_run_retrains_that_run_even_without_data(project):
    shutil.rmtree(project.folder / "results/data")
    first = next(iter(project.run_files()))
    (project.folder / "results/runs" / first / "predictions.npz").unlink()
    assert project.planned() == {"prepare": 1, "train": 1, **TAIL}


def test_an_edited_pin_reruns_nothing(project):
    project.edit("envs/train.yaml", "numpy=", "numpy=9")
    project.edit("envs/analysis.yaml", "pandas=", "pandas=9")
    assert project.planned() == {}


def test_results_copied_without_snakemakes_own_records_retrain_nothing(project):
    shutil.rmtree(project.folder / ".snakemake")
    assert project.planned() == {}


def test_switching_to_conda_retrains_nothing(project):
    if not shutil.which("conda"):
        pytest.skip("conda is not installed")
    assert "train" not in project.planned("--sdm", "conda")
