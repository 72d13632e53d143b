"""Tables from hand-made runs with known answers: gaps, divergence, one seed, ties."""

from math import nan

import numpy as np
import pandas as pd
import pytest

from fabricated import config, fake, plan
from initmem.analysis.tables import (
    read_finished,
    runs_table,
    selected_table,
    spread_table,
    undefined_reason,
)
from initmem.errors import UserError
from initmem.study.study import load_study


def spreads(study, root) -> pd.Series:
    finished = read_finished(study, root)
    table = spread_table(study, selected_table(study, finished, root), root)
    assert len(table) == 1
    return table.iloc[0]


ACCURACY = {(1.0, 0): 0.9, (1.0, 1): 0.8, (2.0, 0): 0.7, (2.0, 1): 0.6}


def by_cell(accuracies, root, study) -> None:
    for run in study.runs.values():
        if (run.init_scale, run.seed) in accuracies:
            fake(root, run, accuracies[run.init_scale, run.seed])


def test_a_complete_configuration_has_the_spread_of_its_means(tmp_path):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    row = spreads(study, tmp_path)
    assert row["spread_pp"] == pytest.approx(20)
    assert row["noise_floor_pp"] == pytest.approx(0, abs=1e-9)
    assert (row["n_scales"], row["n_seeds"], row["n_missing"], row["n_diverged"]) == (2, 2, 0, 0)
    assert (row["best_test_acc"], row["mean_test_acc"]) == pytest.approx((0.85, 0.75))
    assert (row["label"], row["sweeps"], row["lr"]) == ("SGD", "sgd", 0.1)
    assert row["claims"] == ""


def test_disagreement_between_scales_and_between_seeds(tmp_path):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    row = spreads(study, tmp_path)
    assert row["disagreement"] == pytest.approx(0.2)
    assert row["disagreement_seeds"] == pytest.approx(0.1)


def test_only_scales_that_fit_with_every_seed_count_as_interpolating(tmp_path):
    study = plan(init_scale=[1, 2, 4])
    for run in study.runs.values():
        fits = 0.9 if (run.init_scale, run.seed) == (4, 1) else 1.0
        fake(tmp_path, run, 0.9 - run.init_scale / 10, train_acc=fits)
    row = spreads(study, tmp_path)
    assert row["spread_pp"] == pytest.approx(30)
    assert (row["n_interpolating"], row["spread_interpolating_pp"]) == (2, pytest.approx(10))
    assert row["min_train_acc_final"] == 0.9


def test_a_missing_run_is_counted_and_its_seed_left_out(tmp_path):
    study = plan()
    by_cell({cell: v for cell, v in ACCURACY.items() if cell != (2.0, 1)}, tmp_path, study)
    row = spreads(study, tmp_path)
    assert (row["n_missing"], row["n_seeds"], row["scales_unbalanced"]) == (1, 1, "2")
    assert row["spread_pp"] == pytest.approx(20)
    assert row[["lo_pp", "hi_pp", "noise_floor_pp", "p_value"]].isna().all()


def test_with_one_seed_the_bootstrap_over_test_images_stands_apart(tmp_path):
    study = plan(seed=0)
    by_cell(ACCURACY, tmp_path, study)
    row = spreads(study, tmp_path)
    assert row["images_lo_pp"] < 20 < row["images_hi_pp"]
    assert np.isnan(row["lo_pp"])


def test_a_scale_whose_runs_all_diverged_is_named_and_not_zero(tmp_path):
    study = plan(init_scale=[1, 2, 4])
    for run in study.runs.values():
        fake(tmp_path, run, None if run.init_scale == 4 else ACCURACY[run.init_scale, run.seed])
    row = spreads(study, tmp_path)
    assert (row["n_diverged"], row["scales_without_valid_run"], row["n_scales"]) == (2, "4", 2)
    assert row["spread_pp"] == pytest.approx(20)


@pytest.mark.parametrize("diverged", [True, False])
def test_a_configuration_without_any_result_has_a_row_without_numbers(tmp_path, diverged):
    study = plan()
    for run in study.runs.values():
        if diverged:
            fake(tmp_path, run, None)
    row = spreads(study, tmp_path)
    assert np.isnan(row["spread_pp"])
    assert np.isnan(row["best_test_acc"])
    assert row["n_diverged" if diverged else "n_missing"] == 4


def test_one_scale_alone_has_no_spread(tmp_path):
    study = plan(init_scale=1)
    by_cell(ACCURACY, tmp_path, study)
    row = spreads(study, tmp_path)
    assert np.isnan(row["spread_pp"])
    assert row["n_scales"] == 1


def test_every_planned_run_is_listed_with_its_status(tmp_path):
    study = plan(momentum=[0, 0.9], optimizer="rmsprop")
    first, second, *_ = study.runs.values()
    fake(tmp_path, first, 0.9)
    fake(tmp_path, second, None)
    table = runs_table(study, read_finished(study, tmp_path), tmp_path)
    assert table["status"].tolist() == ["done", "diverged"] + ["missing"] * 6
    assert table["momentum"].tolist() == [0, 0.9] * 4


def test_configurations_without_momentum_are_not_dropped(tmp_path):
    study = load_study(config())
    for run in study.runs.values():
        fake(tmp_path, run, 0.5)
    table = spread_table(
        study, selected_table(study, read_finished(study, tmp_path), tmp_path), tmp_path
    )
    assert table["optimizer"].tolist() == ["sgd", "sgd", "adam"]
    assert table["momentum"].isna().tolist() == [False, False, True]


def test_the_selected_epoch_is_the_earliest_of_the_best(tmp_path):
    study = plan(seed=0, init_scale=1)
    (run,) = study.runs.values()
    fake(tmp_path, run, 0.5, val=(0.2, 0.7, 0.7))
    table = selected_table(study, read_finished(study, tmp_path), tmp_path)
    assert table["selected_epoch"].tolist() == [2]


def test_a_diverged_run_is_never_selected_even_when_its_last_accuracy_is_best(tmp_path):
    study = plan(seed=0, init_scale=1)
    (run,) = study.runs.values()
    fake(tmp_path, run, None, val=(0.2, 0.99))
    table = selected_table(study, read_finished(study, tmp_path), tmp_path)
    assert table["selected_epoch"].isna().all()
    assert table["test_acc"].isna().all()


def test_a_history_that_selects_another_epoch_is_found(tmp_path):
    study = plan(seed=0, init_scale=1)
    (run,) = study.runs.values()
    fake(tmp_path, run, 0.5, val=(0.2, 0.7))
    path = tmp_path / run.id / "history.csv"
    path.write_text(path.read_text().replace("0.2", "0.8"))
    with pytest.raises(UserError, match=r"selects epoch 1, run\.json says 2; delete"):
        selected_table(study, read_finished(study, tmp_path), tmp_path)


@pytest.mark.parametrize("name", ["run.json", "history.csv", "predictions.npz"])
@pytest.mark.parametrize("damage", ["empty", "truncated"])
def test_a_damaged_file_is_named_with_the_remedy(tmp_path, name, damage):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    path = tmp_path / next(iter(study.runs)) / name
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3] if damage == "truncated" else b"")
    with pytest.raises(UserError, match=rf"{name} .*(delete|again)"):
        spreads(study, tmp_path)


def test_the_result_of_another_run_in_a_runs_place_is_found(tmp_path):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    first, second, *_ = study.runs
    (tmp_path / first / "run.json").write_bytes((tmp_path / second / "run.json").read_bytes())
    with pytest.raises(UserError, match="is of another run"):
        read_finished(study, tmp_path)


def test_a_result_under_another_default_is_not_taken_for_this_runs(tmp_path):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    path = tmp_path / next(iter(study.runs)) / "run.json"
    path.write_text(path.read_text().replace('"split": 0', '"split": 1'))
    with pytest.raises(UserError, match="or of other defaults"):
        read_finished(study, tmp_path)


def test_a_result_from_before_a_new_value_existed_is_still_this_runs(tmp_path):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    path = tmp_path / next(iter(study.runs)) / "run.json"
    content = path.read_text()
    assert '    "eval_every": 1,\n' in content
    path.write_text(content.replace('    "eval_every": 1,\n', ""))
    assert len(read_finished(study, tmp_path)) == 4


def test_kept_weights_are_listed_and_missing_ones_reported(tmp_path):
    study = plan()
    by_cell(ACCURACY, tmp_path, study)
    (tmp_path / next(iter(study.runs)) / "weights.pt").touch()
    table = runs_table(study, read_finished(study, tmp_path), tmp_path)
    assert table["weights_kept"].tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({}, ""),
        ({"spread_pp": nan, "n_missing": 6}, "not run"),
        ({"spread_pp": nan, "n_diverged": 6}, "all runs diverged"),
        ({"spread_pp": nan, "n_diverged": 3, "n_missing": 3, "n_scales": 0}, "no finished run"),
        ({"spread_pp": nan, "n_seeds": 0}, "no seed finished at every scale"),
        ({"spread_pp": nan, "n_scales": 1}, "one scale only"),
    ],
)
def test_the_reason_for_an_undefined_spread_is_the_true_one(values, reason):
    counts = {"spread_pp": 8.0, "n_runs": 6, "n_scales": 3, "n_seeds": 2}
    counts |= {"n_missing": 0, "n_diverged": 0}
    assert undefined_reason(pd.Series(counts | values)) == reason
