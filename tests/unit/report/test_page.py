"""What a person relies on when reading the report: it says what the tables say, and no more."""

import json
import re
from math import nan
from pathlib import Path

import pandas as pd
import pytest

from initmem.analysis.claims import claims_table
from initmem.analysis.tables import value_columns
from initmem.report.page import effort, finding, gaps, write_report
from initmem.study.study import Study, load_study
from places import WORKFLOW

TEMPLATE = WORKFLOW / "report/report.html.j2"
FIGURE_NAMES = ("accuracy_by_scale", "spread_by_regime", "spread_by_clock")
UNDEFINED = dict.fromkeys(
    ("spread_pp", "lo_pp", "hi_pp", "noise_floor_pp", "p_value", "spread_interpolating_pp"), nan
)


def study_of(**sweeps) -> Study:
    """A study of two scales and two seeds: by default one regime for each of C1, C3 and C4."""
    sweeps = sweeps or {
        "low": {"label": "Low SGD", "claims": ["C1"], "axes": {"optimizer": "sgd", "lr": 0.01}},
        "adam": {"label": "Adam", "claims": ["C3"], "axes": {"optimizer": "adam", "lr": 0.02}},
        "l2": {"label": "SGD + L2", "claims": ["C4"], "axes": {"optimizer": "sgd", "lr": 0.1}},
    }
    shared = {"dataset": "digits", "model": "resnet9", "width": 4, "batch_size": 70, "epochs": 2}
    axes = shared | {"weight_decay": 0, "init_scale": [1, 4], "seed": [0, 1]}
    engine = {"threads": 1, "device": "cpu", "save_every": 60, "lease_timeout": 60}
    return load_study(
        {
            "study": "tiny",
            "engine": engine | {"keep_weights": False},
            "data": {},
            "studies": {"tiny": {"title": "A tiny study", "axes": axes, "sweeps": sweeps}},
        }
    )


def runs_of(study: Study, **status: str) -> pd.DataFrame:
    """runs.csv; `status` gives that of a sweep's runs by the sweep's name, else they are done."""
    return pd.DataFrame(
        {
            "run": run_id,
            "configuration": run.configuration,
            "init_scale": run.init_scale,
            "seed": run.seed,
            "status": status.get(study.sweeps_of(run.configuration)[0].name, "done"),
        }
        for run_id, run in study.runs.items()
    )


def spreads_of(study: Study, **values: dict) -> pd.DataFrame:
    """spread.csv; `values` overrides columns of a sweep's configuration by the sweep's name."""
    return pd.DataFrame(
        {
            "configuration": configuration,
            "label": study.label(configuration),
            **value_columns(runs[0]),
            "n_scales": 2,
            "n_seeds": 2,
            "n_runs": 4,
            "n_missing": 0,
            "n_diverged": 0,
            "scales_without_valid_run": nan,
            "scales_unbalanced": nan,
            "spread_pp": 1.0,
            "lo_pp": 0.5,
            "hi_pp": 1.5,
            "noise_floor_pp": 0.5,
            "p_value": 0.2,
            "n_interpolating": 2,
            "spread_interpolating_pp": 1.0,
            "min_train_acc_final": 1.0,
            "mean_test_acc": 0.9,
            "best_test_acc": 0.95,
            "disagreement": 0.1,
            "disagreement_seeds": 0.05,
            "images_lo_pp": nan,
            "images_hi_pp": nan,
            "clock": 0.01,
        }
        | values.get(study.sweeps_of(configuration)[0].name, {})
        for configuration, runs in study.configurations.items()
    )


REMEMBERS = {"spread_pp": 25.0, "lo_pp": 22.0, "hi_pp": 28.0}


def said(study: Study, spreads: pd.DataFrame, **status: str) -> str:
    return finding(study, runs_of(study, **status), spreads)


def page_of(
    tmp_path: Path, study: Study, spreads: pd.DataFrame, figures: bool = True, **status: str
) -> str:
    """The page as written, from tables that went through CSV like those of a workflow."""
    table = tmp_path / "table.csv"
    tables = []
    for frame in (runs_of(study, **status), spreads, claims_table(study, spreads)):
        frame.to_csv(table, index=False)
        tables.append(pd.read_csv(table))
    paths = {name: tmp_path / f"{name}.svg" for name in FIGURE_NAMES}
    if figures:
        for path in paths.values():
            path.write_text("<svg xmlns='http://www.w3.org/2000/svg'><g id='axes_1'/></svg>")
    timing = tmp_path / "timing.json"
    timing.write_text(json.dumps(TIMING))
    write_report(tmp_path / "report.html", study, *tables, paths, [timing], TEMPLATE)
    return (tmp_path / "report.html").read_text()


TIMING = {
    "seconds_startup": 1.0,
    "seconds_training": 100.0,
    "seconds_evaluation": 2.0,
    "samples_per_second": 5000.0,
    "device": "CPU (x86_64)",
    "threads": 1,
    "host": "a-host-name",
    "python": "3.11.0",
    "torch": "2.14.1",
    "numpy": "2.4.6",
    "commit": None,
}


def test_the_finding_says_who_remembers_and_who_forgets():
    study = study_of()
    assert said(study, spreads_of(study, low=REMEMBERS)) == (
        "The scale of the initialization is remembered by “Low SGD” (spread of test accuracy"
        " 25.0 pp, 95 % interval 22.0 to 28.0 pp); it is largely forgotten by “Adam” (1.0 pp, 0.5"
        " to 1.5 pp) and “SGD + L2” (1.0 pp, 0.5 to 1.5 pp)."
    )


def test_the_finding_says_so_when_forgetting_is_refuted_or_open():
    study = study_of()
    adam = {"spread_pp": 12.0, "lo_pp": 10.0, "hi_pp": 14.0}
    l2 = {"spread_pp": 2.0, "lo_pp": 1.0, "hi_pp": 3.0}
    text = said(study, spreads_of(study, low=REMEMBERS, adam=adam, l2=l2))
    assert "it is not forgotten by “Adam” (12.0 pp, 10.0 to 14.0 pp)" in text
    assert "whether it is forgotten stays open for “SGD + L2”" in text


def test_without_memory_the_finding_claims_no_forgetting():
    text = said(study_of(), spreads_of(study_of()))
    assert text.startswith("The scale of the initialization is not remembered by “Low SGD”")
    assert "forgotten" not in text
    assert "the regimes expected to forget it: “Adam” (1.0 pp, 0.5 to 1.5 pp)" in text


def test_a_large_spread_without_fitting_leaves_the_finding_open():
    study = study_of()
    text = said(study, spreads_of(study, low=REMEMBERS | {"min_train_acc_final": 0.9}))
    assert text.startswith("Whether the scale of the initialization is remembered stays open for")
    assert "does not fit the training set at every scale" in text


def test_one_seed_leaves_the_finding_open_and_is_said():
    study = study_of()
    one = {"spread_pp": 25.0, "lo_pp": nan, "hi_pp": nan, "n_seeds": 1}
    text = said(study, spreads_of(study, low=one))
    assert "stays open for “Low SGD” (spread of test accuracy 25.0 pp, one seed, so no" in text


def test_a_partial_study_says_so_first():
    study = study_of()
    spreads = spreads_of(study, low=REMEMBERS, adam=UNDEFINED | {"n_missing": 4})
    text = said(study, spreads, adam="missing")
    assert text.startswith("So far, with 8 of 12 planned runs finished: the scale")
    assert "nothing can be said of “Adam” (not run)" in text


@pytest.mark.parametrize(
    ("status", "column", "text"),
    [
        ("missing", "n_missing", "none of the 12 planned runs has finished"),
        ("diverged", "n_diverged", "12 of 12 planned runs have finished, and all of them diverged"),
    ],
)
def test_without_a_spread_there_is_no_finding_and_the_page_still_stands(
    tmp_path, status, column, text
):
    study = study_of()
    sweeps = ("low", "adam", "l2")
    nothing = UNDEFINED | {column: 4, "n_scales": 0, "n_seeds": 0, "n_interpolating": 0}
    spreads = spreads_of(study, **dict.fromkeys(sweeps, nothing))
    statuses = dict.fromkeys(sweeps, status)
    assert text in said(study, spreads, **statuses)
    page = page_of(tmp_path, study, spreads, **statuses)
    assert "Low SGD: all 4 runs" in page
    assert "nan" not in re.sub(r'src="[^"]*"', "", page).lower()


def test_a_study_without_claims_gets_its_extremes_as_the_finding():
    study = study_of(
        a={"label": "A", "axes": {"optimizer": "sgd", "lr": 0.01}},
        b={"label": "B", "axes": {"optimizer": "sgd", "lr": 0.1}},
    )
    text = said(study, spreads_of(study, b=REMEMBERS))
    assert text.startswith("The initialization matters most with “B” (spread of test accuracy 25.0")
    assert text.endswith("and least with “A” (1.0 pp, 0.5 to 1.5 pp).")


def test_many_regimes_are_counted_rather_than_named():
    rates = [0.01 * step for step in range(1, 8)]
    study = study_of(
        low={"label": "Low", "claims": ["C1"], "axes": {"optimizer": "sgd", "lr": rates}}
    )
    text = said(study, spreads_of(study, low=REMEMBERS))
    assert "remembered by 7 configurations (spread 25.0 to 25.0 pp)" in text


def test_the_page_loads_nothing_and_runs_nothing(tmp_path):
    page = page_of(tmp_path, study_of(), spreads_of(study_of()))
    addresses = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)|url\(([^)]*)\)|@import""", page)
    assert len(addresses) == len(FIGURE_NAMES)
    assert all(source.startswith("data:image/svg+xml") for source, _ in addresses)
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page


def test_labels_and_titles_are_text_and_never_markup(tmp_path):
    axes = {"optimizer": "sgd", "lr": 0.01}
    study = study_of(low={"label": "<b>x</b> & co", "claims": ["C1"], "axes": axes})
    page = page_of(tmp_path, study, spreads_of(study, low=REMEMBERS))
    assert "<b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt; &amp; co" in page


def test_a_verdict_is_told_by_sign_and_word(tmp_path):
    page = page_of(tmp_path, study_of(), spreads_of(study_of(), low=REMEMBERS))
    text = re.sub(r"<[^>]*>", "", page)
    assert "✓reproduced" in text
    assert "○not run" in text


def test_runs_that_are_missing_or_diverged_are_listed_by_name(tmp_path):
    study = study_of()
    runs = runs_of(study, adam="diverged")
    runs.loc[1, "status"] = "missing"
    assert gaps(study, runs, "missing") == ["Low SGD: scale 1 (seed 1)"]
    assert gaps(study, runs, "diverged") == ["Adam: all 4 runs"]
    assert gaps(study, runs_of(study), "missing") == []
    page = page_of(tmp_path, study, spreads_of(study))
    assert page.count("<p>Nothing.</p>") == 2


def test_an_undefined_spread_is_a_reason_in_the_table_and_no_number(tmp_path):
    study = study_of()
    spreads = spreads_of(study, low=REMEMBERS, adam=UNDEFINED | {"n_diverged": 4})
    assert "undefined: all runs diverged" in page_of(tmp_path, study, spreads)


def test_the_bootstrap_over_images_is_shown_for_one_seed_only_and_labelled(tmp_path):
    study = study_of()
    without = page_of(tmp_path, study, spreads_of(study))
    one = {"n_seeds": 1, "lo_pp": nan, "hi_pp": nan, "images_lo_pp": 3.0, "images_hi_pp": 7.0}
    page = page_of(tmp_path, study, spreads_of(study, low=one))
    assert "bootstrap over test images" not in without
    assert "One seed: bootstrap over test images" in page
    assert "3.0 to 7.0" in page
    assert "one seed: none" in page


def test_figures_stand_with_their_captions_and_words_for_those_who_do_not_see_them(tmp_path):
    page = page_of(tmp_path, study_of(), spreads_of(study_of()))
    for name in FIGURE_NAMES:
        caption = (TEMPLATE.parent / f"{name}.rst").read_text().split()
        assert " ".join(caption) in page
    assert page.count('alt="') == len(FIGURE_NAMES)


def test_a_figure_that_was_not_drawn_is_said_to_be_missing(tmp_path):
    page = page_of(tmp_path, study_of(), spreads_of(study_of()), figures=False)
    assert page.count("this figure has not been drawn") == len(FIGURE_NAMES)


def test_time_and_versions_are_summed_and_the_host_is_not_named(tmp_path):
    paths = []
    for number, training in enumerate((100.0, 3600.0)):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(TIMING | {"seconds_training": training, "torch": f"2.{number}"}))
        paths.append(path)
    took = effort([*paths, tmp_path / "absent.json"])
    assert took["training"] == "1 h 1 min"
    assert (took["n_records"], took["n_without"]) == (2, 1)
    assert took["used"]["torch"] == "2.0 (1 runs), 2.1 (1 runs)"
    assert "a-host-name" not in page_of(tmp_path, study_of(), spreads_of(study_of()))
