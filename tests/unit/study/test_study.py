"""A configuration becomes a plan: typed, deduplicated, and refused by name when it is wrong."""

import copy

import pytest
import yaml

from fabricated import CONFIG, config
from initmem.errors import UserError
from initmem.study.config import load_config
from initmem.study.study import load_study
from places import ROOT


def refusal(changed: dict) -> str:
    with pytest.raises(UserError) as caught:
        load_study(changed)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_sweep_is_the_product_of_its_axes():
    study = load_study(CONFIG)
    assert len(study.runs) == 2 * 2 * 2 + 2 * 2
    assert len(study.configurations) == 3


def test_equal_runs_of_two_sweeps_and_of_two_spellings_are_one_run():
    changed = config(lr=[0.1, "1e-1", 0.01])
    changed["studies"]["tiny"]["sweeps"]["again"] = {
        "label": "Again",
        "axes": {"optimizer": "SGD", "lr": "0.10"},
    }
    study = load_study(changed)
    assert list(study.runs) == list(load_study(CONFIG).runs)
    shared = "digits/resnet9-w2_sgd_lr0.1_b64_wd0_e2"
    assert [sweep.name for sweep in study.sweeps_of(shared)] == ["sgd", "again"]


def test_a_grown_grid_keeps_the_ids_of_what_it_had():
    grown = load_study(config(lr=[0.1, 0.01, 1e-5], momentum=[0, 0.9], batch_size=[64, 128]))
    assert set(load_study(CONFIG).runs) < set(grown.runs)


def test_numbers_and_truth_values_given_as_text_are_what_they_say():
    as_text = copy.deepcopy(CONFIG)
    tiny = as_text["studies"]["tiny"]
    tiny["axes"] |= {"epochs": "2", "init_scale": ["1", "2.0"], "seed": ["0", "1"]}
    tiny["axes"] |= {"deterministic": "false"}
    tiny["sweeps"]["sgd"]["axes"]["lr"] = ["0.1", "1e-2"]
    as_text["engine"] |= {"keep_weights": "false", "threads": "1"}
    assert load_study(as_text) == load_study(CONFIG)
    assert load_config(as_text).engine.keep_weights is False


def test_a_label_tells_what_varies_within_a_sweep():
    study = load_study(CONFIG)
    labels = [study.label(configuration) for configuration in study.configurations]
    assert labels == ["SGD (lr 0.1)", "SGD (lr 0.01)", "Adam"]


def test_optimizers_with_and_without_momentum_stand_side_by_side():
    study = load_study(config(optimizer=["sgd", "rmsprop"], momentum=[0.9, 0]))
    assert len(study.configurations) == 2 * 2 * 2 + 1
    assert not any("NA" in run or "nan" in run or "None" in run for run in study.runs)


def test_the_digest_changes_with_the_runs_and_the_sweeps_and_with_nothing_else():
    digest = load_study(CONFIG).digest
    assert load_study(config(lr=[0.1, 0.01, 0.3])).digest != digest
    relabelled = copy.deepcopy(CONFIG)
    relabelled["studies"]["tiny"]["sweeps"]["sgd"]["label"] = "Other"
    assert load_study(relabelled).digest != digest
    engine = copy.deepcopy(CONFIG)
    engine["engine"]["save_every"] = 5
    engine["studies"]["more"] = engine["studies"]["tiny"]
    assert load_study(engine).digest == digest


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"lr": ["abc"]}, "studies.tiny.sweeps.sgd.lr: not a number (given: 'abc')"),
        ({"learning_rate": 1}, "studies.tiny.sweeps.sgd: unknown axis 'learning_rate'"),
        ({"lr": []}, "studies.tiny.sweeps.sgd: axis 'lr' has no value"),
        ({"protocol": 2}, "unknown axis 'protocol'"),
        ({"width": 0}, "studies.tiny.sweeps.sgd.width: "),
        ({"optimizer": {"name": "sgd"}}, "studies.tiny.sweeps.sgd.optimizer: "),
        ({"dataset": {"name": "digits"}}, "studies.tiny.sweeps.sgd.dataset: "),
        ({"dataset": [["digits"]]}, "studies.tiny.sweeps.sgd.dataset: "),
        ({"dataset": ["digits", None]}, "studies.tiny.sweeps.sgd.dataset: "),
    ],
)
def test_a_wrong_axis_is_refused_by_name(axes, told):
    assert told in refusal(config(**axes))


def test_a_missing_axis_is_named():
    changed = copy.deepcopy(CONFIG)
    del changed["studies"]["tiny"]["axes"]["epochs"]
    assert "studies.tiny.sweeps.sgd.epochs: is missing" in refusal(changed)


def test_an_unknown_key_is_refused_wherever_it_stands():
    for place in ([], ["engine"], ["data", "digits"], ["studies", "tiny"]):
        changed = copy.deepcopy(CONFIG)
        section = changed
        for key in place:
            section = section[key]
        section["colour"] = "red"
        assert ".".join([*place, "colour"]) + ": unknown key" in refusal(changed)


def test_an_unknown_study_is_refused_with_those_there_are():
    assert refusal(CONFIG | {"study": "demmo"}).endswith("'demmo' is unknown; one of tiny")


def test_an_unknown_data_set_is_refused_by_name():
    assert "data: 'digts' is unknown; one of digits, cifar10, cifar100" in refusal(
        CONFIG | {"data": {"digts": {}}}
    )


@pytest.mark.parametrize("name", ["runs", "data", "logs", "a/b", "", "-x"])
def test_a_study_may_not_take_a_name_that_is_in_use_or_no_folder(name):
    changed = copy.deepcopy(CONFIG)
    changed["studies"][name] = changed["studies"]["tiny"]
    refusal(changed)


def test_the_shipped_configuration_is_valid_for_every_study():
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text())
    for name in shipped["studies"]:
        assert load_study(shipped | {"study": name}).runs


def test_plain_snakemake_runs_the_papers_study_and_make_has_the_small_ones():
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text())
    assert shipped["study"] == "paper"
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"--config study={name} $(CONFIG)\n" in makefile for name in ("demo", "mini"))


def test_the_labels_of_the_shipped_studies_name_no_more_than_the_axes_given_several_values():
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text())
    for name in shipped["studies"]:
        study = load_study(shipped | {"study": name})
        labels = [study.label(configuration) for configuration in study.configurations]
        assert not any("optimizer_args" in label or "momentum" in label for label in labels)
        assert len(set(labels)) == len(labels)


def test_a_configuration_is_put_forward_for_the_claims_of_all_its_sweeps():
    changed = config(lr=0.1)
    changed["studies"]["tiny"]["sweeps"]["sgd"]["claims"] = ["C4", "C1"]
    study = load_study(changed)
    assert [study.claims_of(name) for name in study.configurations] == [["C1", "C4"], ["C3"]]


@pytest.mark.parametrize("name", ["runs", "data", "logs", "calibration"])
def test_a_study_may_not_take_the_name_of_a_folder_that_all_studies_share(name):
    changed = copy.deepcopy(CONFIG)
    changed["studies"][name] = changed["studies"].pop("tiny")
    changed["study"] = name
    assert f"results/{name} is taken" in refusal(changed)
