"""The CIFAR path with the real snakemake: archive, prepared arrays, trainings without a network."""

import shutil
import subprocess

import pytest

from archive import write_archive
from tiny_project import TAIL, Project, refusal

AXES = {
    "dataset": "cifar10",
    "subset": 80,
    "model": ["resnet9", "resnet18"],
    "width": 8,
    "epochs": 1,
    "init_scale": 1,
    "seed": 0,
}


@pytest.fixture
def cifar(fresh, tmp_path) -> Project:
    """The tiny study on a small archive that lies on this machine."""
    sha256 = write_archive(tmp_path / "small.tar.gz")
    source = {"sources": [str(tmp_path / "small.tar.gz")], "sha256": sha256, "size": None}
    fresh.configure({"data": {"cifar10": source}})
    sweeps = {"sgd": {"label": "SGD", "axes": {"optimizer": "sgd", "lr": 0.05, "seed": 0}}}
    fresh.configure({"studies": {"tiny": {"axes": AXES, "sweeps": sweeps}}})
    fresh.configure({"studies": {"tiny": {"sweeps": {"adam": {"axes": AXES}}}}})
    return fresh


def test_an_archive_is_brought_prepared_once_and_trained_on(cifar, tmp_path):
    targets = cifar.targets()
    assert len(targets) == 4
    assert cifar.run(*targets) == {"download": 1, "prepare": 1, "train": 4}
    assert {path.split("/")[0][:8] for path in cifar.run_files()} == {"cifar10-"}
    cifar.configure({"data": {"cifar10": {"sources": ["https://mirror.invalid/a.tar.gz"]}}})
    (cifar.folder / targets[0]).unlink()
    assert cifar.planned(*targets) == {"train": 1}
    shutil.rmtree(cifar.folder / "results/data")
    assert cifar.planned(*targets[1:]) == {}
    assert cifar.planned(*targets) == {"download": 1, "prepare": 1, "train": 1}


def test_a_touched_archive_retrains_nothing(cifar):
    target = cifar.targets()[0]
    cifar.run(target)
    (archive,) = (cifar.folder / "results/data/archives").glob("*.tar.gz")
    archive.touch()
    assert cifar.planned(target) == {}


def test_a_corrupted_archive_stops_before_any_training(cifar):
    target = cifar.targets()[0]
    prepared = target.split("/")[2].removesuffix("-n80")
    archive = cifar.folder / f"results/data/archives/{prepared}.tar.gz"
    cifar.run(str(archive.relative_to(cifar.folder)))
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    archive.write_bytes(content)
    said = refusal(cifar.snakemake(target))
    assert "has the SHA-256" in said
    assert "delete it" in said
    assert cifar.run_files() == {}


def test_trainings_need_no_network(cifar):
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody cut off its network")
    target = cifar.targets()[0]
    prepared = target.split("/")[2].removesuffix("-n80")
    cifar.run(f"results/data/{prepared}.npz")
    done = subprocess.run(
        ["unshare", "-rn", *cifar.command(target)],
        cwd=cifar.folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert (cifar.folder / target).exists()


def test_an_archive_that_is_nowhere_stops_the_study_with_one_line(cifar, tmp_path):
    (tmp_path / "small.tar.gz").unlink()
    said = refusal(cifar.snakemake(*cifar.targets()))
    assert "small.tar.gz" in said
    assert cifar.run_files() == {}


def test_a_study_for_a_gpu_is_planned_anywhere_and_started_only_with_one(fresh):
    fresh.configure({"studies": {"tiny": {"needs_gpu": True}}, "engine": {"device": "auto"}})
    assert fresh.planned()["train"] == 6
    said = refusal(fresh.snakemake(CUDA_VISIBLE_DEVICES=""))
    assert "the study 'tiny' needs a GPU and none is visible: 6 trainings" in said
    assert "--config engine='{device: cpu}'" in said
    assert not (fresh.folder / "results/runs").exists()
    assert fresh.run("results/data/digits.npz") == {"prepare": 1}
    small = "results/runs/digits/resnet9-w2_sgd_lr0.5_b350_wd0_e1/scale1_seed0/run.json"
    done = fresh.snakemake("-c", "1", small, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, "a training that is none of the study's needs no GPU"


def test_what_needs_no_gpu_goes_on_without_one(project):
    project.configure({"studies": {"tiny": {"needs_gpu": True, "title": "Renamed"}}})
    project.configure({"engine": {"device": "auto"}})
    assert project.run() == TAIL


@pytest.mark.parametrize(("study", "runs"), [("paper", 300), ("grid", 6600)])
def test_the_full_studies_are_planned_in_whole(fresh, study, runs):
    assert fresh.planned("--config", f"study={study}") == {
        "download": 1,
        "prepare": 1,
        "train": runs,
        **TAIL,
    }
