"""A user's mistake gives one clear line and a non-zero exit, before anything is run."""

import pytest

from tiny_project import refusal


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("study=demmo", "configuration: study: 'demmo' is unknown; one of"),
        ("colour=red", "configuration: colour: unknown key"),
        ("engine={threads: none}", "configuration: engine.threads: not a number (given: 'none')"),
        (
            "studies={tiny: {axes: {lr: abc}, sweeps: {sgd: {axes: {lr: abc}}}}}",
            "studies.tiny.sweeps.sgd.lr: not a number (given: 'abc')",
        ),
    ],
)
def test_a_wrong_key_or_value_is_named_before_anything_runs(fresh, override, told):
    said = refusal(fresh.snakemake("-n", "--config", override))
    (line,) = [line for line in said.splitlines() if told in line]
    assert line
    assert not (fresh.folder / "results/tiny").exists()


@pytest.mark.parametrize(
    "path",
    [
        "results/runs/lr-abc/run.json",
        "results/runs/digits/resnet9-w2_sgd_lr-abc_b50_wd0_e3/scale1_seed0/run.json",
        "results/runs/digits/resnet9-w2_sgd_lr0.1_b50_wd0_e3/scale1_seed0/other.json",
    ],
)
def test_a_nonsense_path_is_no_rules_output(fresh, path):
    assert "MissingRuleException" in refusal(fresh.snakemake("-n", path))


def test_a_path_in_another_spelling_is_refused_with_the_right_one(fresh):
    path = "results/runs/digits/resnet9-w2_sgd_lr1e-1_b50_wd0_e3/scale1_seed0/run.json"
    said = refusal(fresh.snakemake("-n", path))
    assert "did you mean 'digits/resnet9-w2_sgd_lr0.1_b50_wd0_e3/scale1_seed0'" in said


def test_any_run_can_be_asked_for_by_its_path_whether_planned_or_not(fresh):
    path = "results/runs/digits/resnet9-w2_sgd-m0.9_lr1e-05_b50_wd0_e3/scale0.5_seed7/run.json"
    assert fresh.planned(path) == {"prepare": 1, "train": 1}


def test_lists_and_numbers_on_the_command_line_mean_what_they_do_in_the_file(fresh):
    in_file = fresh.planned()
    override = (
        "studies={tiny: {title: T, axes: {dataset: digits, subset: 100, model: resnet9, width: 2,"
        " batch_size: 50, weight_decay: 0, epochs: 3, init_scale: [1, 4], seed: [0, 1],"
        " deterministic: false}, sweeps: {sgd: {label: S, axes: {optimizer: sgd, lr: 5e-2}},"
        " adam: {label: A, axes: {optimizer: adam, lr: 0.001, seed: 0}}}}}"
    )
    assert fresh.planned("--config", override) == in_file


def test_wrong_data_stop_the_study_with_the_key_and_no_training(fresh):
    fresh.configure({"data": {"digits": {"sha256": "0" * 64}}})
    said = refusal(fresh.snakemake("-c", "1"))
    assert "set data.digits.sha256 in config.yaml" in said
    assert fresh.run_files() == {}
    assert not list((fresh.folder / "results/data").glob("*.npz"))


def test_an_optimizer_that_torch_lacks_is_told_in_one_line(fresh):
    fresh.axes("adam", optimizer="Adamski")
    said = refusal(fresh.snakemake("-c", "2"))
    assert "optimizer: torch.optim has no class 'Adamski'" in said
    assert len(fresh.run_files()) == 4
