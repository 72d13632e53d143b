"""A run's identity: equal values have one readable id, and an id gives its run back."""

import pytest
from pydantic import ValidationError

from initmem.errors import UserError
from initmem.study.fields import first_problem, number
from initmem.study.run import RUN_ID_PATTERN, Run, rare_values, run_from_id

BASE = {
    "dataset": "digits",
    "model": "resnet9",
    "width": 8,
    "optimizer": "sgd",
    "lr": 0.001,
    "batch_size": 70,
    "weight_decay": 0,
    "epochs": 30,
    "init_scale": 1,
    "seed": 0,
}
EVERYTHING = {
    "optimizer": "rmsprop",
    "momentum": 0.9,
    "optimizer_args": {"alpha": 0.95, "centered": True},
    "lr": 1e-05,
    "subset": 500,
    "split": 3,
    "data_sha256": "ab" * 32,
    "scaled": "linear",
    "decayed": "weights",
    "eval_every": 5,
    "deterministic": True,
    "protocol": 12,
    "init_scale": 0.03125,
    "seed": 4,
}


def problem(**values) -> str:
    with pytest.raises(ValidationError) as caught:
        Run(**BASE | values)
    return first_problem(caught.value)


@pytest.mark.parametrize(
    ("values", "frozen"),
    [
        ({}, "digits/resnet9-w8_sgd_lr0.001_b70_wd0_e30/scale1_seed0"),
        (
            {"momentum": 0.9, "weight_decay": 5e-4, "init_scale": 0.5, "seed": 2},
            "digits/resnet9-w8_sgd-m0.9_lr0.001_b70_wd0.0005_e30/scale0.5_seed2",
        ),
        (
            {"optimizer": "adamw", "scaled": "conv", "init_scale": 8},
            "digits/resnet9-w8_adamw_lr0.001_b70_wd0_e30_scaled-conv/scale8_seed0",
        ),
        (
            {"optimizer": "adam", "optimizer_args": {"betas": [0.9, 0.99]}},
            "digits/resnet9-w8_adam-x342ce708_lr0.001_b70_wd0_e30/scale1_seed0",
        ),
        (
            EVERYTHING,
            "digits-abababab-n500-split3/"
            "resnet9-w8_rmsprop-m0.9-x948f610b_lr1e-05_b70_wd0-weights_e30"
            "_scaled-linear_ev5_det_p12/scale0.03125_seed4",
        ),
    ],
)
def test_ids_are_frozen(values, frozen):
    assert Run(**BASE | values).id == frozen


@pytest.mark.parametrize("lr", [0.001, "1e-3", "0.001", "1.0e-3", ".001", 1e-3])
def test_one_number_written_in_many_ways_is_one_run(lr):
    assert Run(**BASE | {"lr": lr}) == Run(**BASE)


def test_stating_a_default_does_not_change_the_run():
    spelled_out = BASE | {
        "momentum": 0.0,
        "scaled": "all",
        "decayed": "all",
        "eval_every": 1,
        "split": 0,
        "subset": 700,
        "image_size": 8,
        "optimizer_args": {"nesterov": False, "dampening": 0},
        "deterministic": "false",
    }
    assert Run(**spelled_out) == Run(**BASE)
    adam = BASE | {"optimizer": "adam"}
    stated = adam | {"optimizer_args": {"eps": "1e-8", "betas": [0.9, "0.999"]}}
    assert Run(**stated) == Run(**adam)


def test_a_truth_value_is_not_the_number_one():
    true, one = (BASE | {"optimizer_args": {"nesterov": value}} for value in (True, 1))
    assert Run(**true).id != Run(**one).id


def test_stated_values_are_in_one_order_whatever_the_order_they_were_given_in():
    reordered = dict(reversed((BASE | EVERYTHING).items()))
    assert repr(Run(**reordered).stated()) == repr(Run(**BASE | EVERYTHING).stated())
    assert list(Run(**BASE).stated()) == sorted(BASE)


def test_the_shipped_optimizers_answer_to_their_class_names_too():
    assert Run(**BASE | {"optimizer": "AdamW"}) == Run(**BASE | {"optimizer": "adamw"})


def test_the_order_of_optimizer_arguments_does_not_change_the_run():
    first = BASE | {"optimizer": "Adagrad", "optimizer_args": {"lr_decay": 0.1, "eps": 1}}
    second = BASE | {"optimizer": "Adagrad", "optimizer_args": {"eps": 1.0, "lr_decay": "0.1"}}
    assert Run(**first).id == Run(**second).id


@pytest.mark.parametrize(
    "values", [{}, EVERYTHING, {"lr": 1e-05}, {"init_scale": 1e17}, {"seed": 2**53 + 1}]
)
def test_an_id_gives_back_the_run_that_it_was_made_from(values):
    run = Run(**BASE | values)
    assert run_from_id(run.id, rare_values({run.id: run})) == run


def test_stated_values_are_enough_to_remake_the_run():
    run = Run(**BASE | EVERYTHING)
    assert Run(**run.stated()) == run


def test_stated_values_leave_out_what_is_default():
    assert set(Run(**BASE).stated()) == set(BASE)


def test_all_values_are_spelled_out_for_people():
    values = Run(**BASE | {"optimizer": "adam"}).values()
    assert values["optimizer_args"]["betas"] == [0.9, 0.999]
    assert values["image_size"] == 8
    assert len(values["data_sha256"]) == 64
    assert Run(**BASE).values()["momentum"] == 0


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "lr-abc",
        "digits/resnet9-w8_sgd_lr-abc_b70_wd0_e30/scale1_seed0",
        "digits/resnet9-w8_adam_w_lr0.001_b70_wd0_e30/scale1_seed0",
        "digits/resnet9-w8_sgd_lr0.001_b70_wd0_e30/scale1_seed0/more",
        "digits/resnet9-w8_sgd_lr0.001_b70_wd0_e30/scale1_seedNA",
        "digits/resnet9-w8_sgd_lr0.001_b70_wd0_e0/scale1_seed0",
        "digits/vgg-w8_sgd_lr0.001_b70_wd0_e30/scale1_seed0",
        "digits/resnet9-w8_sgd-xdeadbeef_lr0.001_b70_wd0_e30/scale1_seed0",
        "digits/resnet9-w8_sgd_lr1.2.3_b70_wd0_e30/scale1_seed0",
        "digits/resnet9-w8_sgd_lr0.0010_b70_wd0_e30/scale1_seed0",
        "digits/resnet9-w08_sgd_lr0.001_b70_wd0_e30/scale1_seed0",
    ],
)
def test_a_nonsense_id_is_refused_in_one_line(nonsense):
    with pytest.raises(UserError) as caught:
        run_from_id(nonsense)
    assert "\n" not in str(caught.value)
    assert f"'{nonsense}'" in str(caught.value)


def test_an_id_in_another_spelling_is_refused_with_the_right_one():
    with pytest.raises(UserError, match=r"did you mean 'digits/resnet9-w8_sgd_lr0\.001_b70"):
        run_from_id("digits/resnet9-w8_sgd_lr1e-3_b70_wd0_e30/scale1_seed0")


def test_every_part_of_a_path_stays_below_100_bytes():
    longest = Run(
        **BASE | EVERYTHING | {"width": 512, "lr": 0.00025, "weight_decay": 0.0005, "epochs": 5000}
    )
    assert max(len(part) for part in longest.id.split("/")) <= 100


def test_ids_match_the_pattern_that_paths_are_recognized_by():
    import re

    for values in ({}, EVERYTHING):
        assert re.fullmatch(RUN_ID_PATTERN, Run(**BASE | values).id)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"lr": "abc"}, "lr: not a number (given: 'abc')"),
        ({"lr": True}, "lr: a number is needed, not a truth value (given: True)"),
        ({"lr": float("nan")}, "lr: input should be a finite number (given: nan)"),
        ({"lr": "1_000"}, "lr: not a number (given: '1_000')"),
        ({"epochs": 1.5}, "epochs: "),
        ({"seed": -1}, "seed: "),
        ({"widht": 8}, "widht: unknown key"),
        ({"optimizer": "adma"}, "optimizer: unknown; one of sgd, adam"),
        ({"dataset": "mnist"}, "dataset: unknown; one of digits, cifar10"),
        ({"optimizer": "adam", "momentum": 0.9}, "momentum: adam takes none"),
        ({"optimizer_args": {"lr": 1}}, "optimizer_args: lr is a value of its own"),
        ({"batch_size": 233}, "batch_size: 233 leaves a last batch of one of 700"),
        ({"batch_size": 1}, "batch_size: "),
        ({"batch_size": 701}, "batch_size: 701 is more than the 700 training images"),
        ({"subset": 55}, "subset: a multiple of 10"),
        ({"subset": 710}, "subset: a multiple of 10 up to 700"),
        ({"model": "resnet18", "width": 7}, "width: resnet18 needs 8 or more"),
        ({"image_size": 16}, "image_size: digits comes in 8 only"),
        ({"eval_every": 31}, "eval_every: 31 is more than 30 epochs"),
    ],
)
def test_a_wrong_value_is_refused_by_name(values, told):
    assert told in problem(**values)


def test_whole_numbers_may_be_written_as_text_or_in_powers_of_ten():
    assert Run(**BASE | {"epochs": "3e1", "batch_size": "70", "width": 8.0}) == Run(**BASE)


def test_number_leaves_alone_what_is_no_text():
    assert number(3) == 3
    assert number(None) is None


def test_steps_count_the_short_last_batch():
    run = Run(**BASE | {"batch_size": 64})
    assert (run.steps_per_epoch, run.steps) == (11, 330)
