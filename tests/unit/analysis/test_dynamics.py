"""The table over epochs: means over seeds, few enough epochs, nothing of unfinished runs."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from fabricated import fake, plan
from initmem.analysis.dynamics import COLUMNS, MOST_EPOCHS, dynamics_table, log_spaced
from initmem.analysis.tables import read_finished
from initmem.errors import UserError
from initmem.study import outputs


def table_of(study, root) -> pd.DataFrame:
    return dynamics_table(study, read_finished(study, root), root)


def cell(table: pd.DataFrame, scale: float) -> pd.DataFrame:
    return table[table["init_scale"] == scale].set_index("epoch")


def test_seeds_are_averaged_at_each_scale_and_epoch(tmp_path):
    study = plan()
    for run in study.runs.values():
        base = 0.1 * run.init_scale + 0.2 * run.seed
        fake(tmp_path, run, 0.9, val=(base, base + 0.1))
    table = table_of(study, tmp_path)
    assert table.columns.tolist() == list(COLUMNS)
    assert table["n_seeds"].unique().tolist() == [2]
    assert cell(table, 1)["val_acc"].to_dict() == pytest.approx({1: 0.2, 2: 0.3})
    assert cell(table, 2)["val_acc"].to_dict() == pytest.approx({1: 0.3, 2: 0.4})


def test_a_diverged_and_a_missing_run_do_not_count(tmp_path):
    study = plan()
    for run in study.runs.values():
        if (run.init_scale, run.seed) != (2, 0):
            fake(tmp_path, run, None if run.init_scale == 1 and run.seed else 0.9)
    table = table_of(study, tmp_path)
    assert cell(table, 1)["n_seeds"].tolist() == cell(table, 2)["n_seeds"].tolist() == [1, 1]


def test_without_any_finished_run_the_table_has_its_columns_and_no_row(tmp_path):
    table = table_of(plan(), tmp_path)
    assert table.empty
    assert table.columns.tolist() == list(COLUMNS)


def test_a_long_training_keeps_few_epochs_the_first_and_the_last_among_them(tmp_path):
    study = plan()
    for run in study.runs.values():
        fake(tmp_path, run, 0.9, val=np.linspace(0.1, 0.9, 500))
    epochs = cell(table_of(study, tmp_path), 1).index
    assert len(epochs) <= MOST_EPOCHS
    assert (epochs[0], epochs[-1]) == (1, 500)


@pytest.mark.parametrize("last", [1, 2, 60, 61, 300, 5000])
@pytest.mark.parametrize("every", [1, 5])
def test_kept_epochs_are_recorded_ones_spaced_evenly_on_a_logarithmic_axis(last, every):
    recorded = sorted({*range(every, last + 1, every), last})
    kept = log_spaced(recorded, 60)
    assert set(kept) <= set(recorded)
    assert kept == sorted(set(kept))
    assert (kept[0], kept[-1]) == (recorded[0], recorded[-1])
    assert len(kept) <= 60
    if len(recorded) <= 60:
        assert kept == recorded
    widest = (recorded[-1] / recorded[0]) ** (1 / 59)
    for before, after in pairwise(kept):
        assert after <= before * widest + 2 * every


def test_an_unreadable_history_is_named_with_the_remedy(tmp_path):
    study = plan()
    run = next(iter(study.runs.values()))
    fake(tmp_path, run, 0.9)
    (tmp_path / run.id / outputs.HISTORY).write_text("epoch,val_acc\n1,0.5\n")
    with pytest.raises(UserError, match=r"history.csv cannot be read .*delete it"):
        table_of(study, tmp_path)
