"""What a person relies on when looking at a figure: each mark means what the caption says."""

from math import nan

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from initmem import catalogue
from initmem.figures import FIGURES, MOST_NAMED, MOST_ROWS, save, undefined_reason

SCALES = (0.5, 1.0, 2.0)


def spread_row(name: str, **values) -> dict:
    """A row of spread.csv as the figures read it: three scales, two seeds, all finished."""
    return {
        "configuration": f"digits/{name}",
        "label": name,
        "optimizer": "sgd",
        "n_scales": 3,
        "n_seeds": 2,
        "n_runs": 6,
        "n_missing": 0,
        "n_diverged": 0,
        "spread_pp": 8.0,
        "lo_pp": 6.0,
        "hi_pp": 10.0,
        "noise_floor_pp": 2.0,
        "clock": 0.01,
    } | values


def runs_of(name: str, accuracy=lambda scale, seed: 0.9 - 0.01 * scale, **values) -> list[dict]:
    """Rows of selected.csv: three scales, two seeds, every scale fitted."""
    return [
        {
            "configuration": f"digits/{name}",
            "init_scale": scale,
            "seed": seed,
            "status": "done",
            "test_acc": accuracy(scale, seed),
            "train_acc_final": 1.0,
        }
        | values
        for scale in SCALES
        for seed in (0, 1)
    ]


def draw(name: str, spreads: list[dict], selected: list[dict]) -> Figure:
    return FIGURES[name](pd.DataFrame(spreads), pd.DataFrame(selected))


def marks(figure: Figure) -> list:
    """The drawn marks that have a place, seeds' points apart."""
    lines = [line for axes in figure.axes for line in axes.lines]
    return [line for line in lines if line.get_marker() not in ("None", ".", None, "|", "_")]


def places(lines: list, hollow: bool) -> int:
    """How many hollow, or filled, marks stand in a figure."""
    chosen = [line for line in lines if (line.get_markerfacecolor() == "white") == hollow]
    return sum(int(np.isfinite(line.get_ydata(orig=False)).sum()) for line in chosen)


def words(figure: Figure) -> str:
    """All words in a figure that are not numbers of an axis."""
    texts = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    legends = [text for legend in figure.legends for text in legend.get_texts()]
    return " ".join(" ".join(text.get_text().split()) for text in [*texts, *legends])


def test_a_scale_that_one_seed_does_not_fit_is_hollow_and_the_others_are_filled():
    selected = runs_of("a")
    selected[-1]["train_acc_final"] = 0.99
    figure = draw("accuracy_by_scale", [spread_row("a")], selected)
    assert places(marks(figure), hollow=True) == 1
    assert places(marks(figure), hollow=False) == 2
    assert "hollow: not fitted" in words(figure)


def test_hollow_is_not_explained_where_every_scale_fits():
    figure = draw("accuracy_by_scale", [spread_row("a")], runs_of("a"))
    assert places(marks(figure), hollow=True) == 0
    assert "hollow" not in words(figure)


def test_the_line_goes_through_the_means_in_percent_whose_range_is_the_spread():
    selected = runs_of("a", lambda scale, seed: {0.5: 0.9, 1.0: 0.8, 2.0: 0.7}[scale] + 0.02 * seed)
    figure = draw("accuracy_by_scale", [spread_row("a")], selected)
    line = next(line for line in figure.axes[0].lines if line.get_linestyle() == "-")
    assert line.get_ydata() == pytest.approx([91, 81, 71])


@pytest.mark.parametrize("status", ["diverged", "missing"])
def test_a_scale_without_a_finished_run_is_a_gap_in_the_line(status):
    selected = runs_of("a")
    for row in selected[2:4]:
        row |= {"status": status, "test_acc": nan, "train_acc_final": nan}
    figure = draw("accuracy_by_scale", [spread_row("a")], selected)
    line = next(line for line in figure.axes[0].lines if line.get_linestyle() == "-")
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False]


def test_the_scales_themselves_are_the_ticks():
    figure = draw("accuracy_by_scale", [spread_row("a")], runs_of("a"))
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["0.5", "1", "2"]


def test_regimes_differ_in_marker_and_colour():
    names = [f"r{i}" for i in range(MOST_NAMED)]
    figure = draw("spread_by_clock", [spread_row(name) for name in names], runs_of("r0"))
    drawn = marks(figure)
    assert len({line.get_marker() for line in drawn}) == MOST_NAMED
    assert len({line.get_color() for line in drawn}) == MOST_NAMED


def test_an_undefined_spread_is_said_in_words_and_never_drawn_as_zero():
    undefined = dict.fromkeys(("spread_pp", "lo_pp", "hi_pp", "noise_floor_pp"), nan)
    gone = spread_row("gone", n_diverged=6, n_scales=0, n_seeds=0, **undefined)
    figure = draw("spread_by_regime", [spread_row("a"), gone], runs_of("a"))
    assert places(marks(figure), hollow=False) == 1
    assert "no spread: all runs diverged" in words(figure)


@pytest.mark.parametrize("name", ["spread_by_regime", "spread_by_clock"])
def test_one_seed_is_hollow_and_said(name):
    one = spread_row("one", n_seeds=1, lo_pp=nan, hi_pp=nan, noise_floor_pp=nan)
    figure = draw(name, [spread_row("a"), one], runs_of("a"))
    assert places(marks(figure), hollow=True) == 1
    assert "one seed" in words(figure)


def test_a_clock_of_zero_and_one_not_stated_stand_apart():
    rows = [spread_row("a"), spread_row("b", clock=0.0), spread_row("c", clock=nan)]
    figure = draw("spread_by_clock", rows, runs_of("a"))
    apart, timed = figure.axes
    assert [label.get_text() for label in apart.get_xticklabels()] == ["zero", "not\nstated"]
    assert timed.get_xscale() == "log"
    assert places(marks(figure), hollow=False) == 3


def test_configurations_without_a_spread_are_counted_in_the_clock_figure():
    rows = [spread_row("a"), spread_row("b", spread_pp=nan, n_missing=6)]
    assert "1 without a spread" in words(draw("spread_by_clock", rows, runs_of("a")))


@pytest.mark.parametrize("name", FIGURES)
def test_many_configurations_are_grouped_by_optimizer(name):
    rows = [
        spread_row(
            f"c{i}", optimizer=("sgd", "adam")[i % 2], spread_pp=float(i % 9), lo_pp=0.0, hi_pp=12.0
        )
        for i in range(MOST_ROWS + 2)
    ]
    selected = [run for row in rows for run in runs_of(row["label"])]
    figure = draw(name, rows, selected)
    assert len(figure.legends[0].get_texts()) <= 4
    assert "c17" not in words(figure)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(
    ("status", "counted", "said"),
    [
        ("missing", {"n_missing": 6}, "none of the 6 planned runs has finished"),
        ("diverged", {"n_diverged": 6}, "all 6 finished runs diverged"),
    ],
)
def test_without_data_a_figure_is_a_sentence(name, status, counted, said):
    undefined = dict.fromkeys(("spread_pp", "lo_pp", "hi_pp", "noise_floor_pp"), nan)
    rows = [spread_row("a", n_scales=0, n_seeds=0, **counted, **undefined)]
    selected = runs_of("a", status=status, test_acc=nan, train_acc_final=nan)
    figure = draw(name, rows, selected)
    assert not figure.axes
    assert said in words(figure)


def test_a_single_scale_is_drawn_and_has_no_spread():
    rows = [spread_row("a", n_scales=1, spread_pp=nan, lo_pp=nan, hi_pp=nan, noise_floor_pp=nan)]
    selected = [run for run in runs_of("a") if run["init_scale"] == 1]
    assert places(marks(draw("accuracy_by_scale", rows, selected)), hollow=False) == 1
    assert "one scale only" in words(draw("spread_by_regime", rows, selected))


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
    assert undefined_reason(pd.Series(spread_row("a", **values))) == reason


def test_a_figure_drawn_anew_has_the_same_bytes_even_under_other_settings(tmp_path, monkeypatch):
    written = []
    for name in ("first", "second"):
        svg = tmp_path / f"{name}.svg"
        save(draw("spread_by_clock", [spread_row("a")], runs_of("a")), svg, tmp_path / "x.png")
        written.append(svg.read_bytes())
        monkeypatch.setitem(matplotlib.rcParams, "font.size", 20)
    assert written[0] == written[1]


def test_a_label_with_dollar_signs_stays_as_it_is_written(tmp_path):
    rows = [spread_row("costs $5 & $6")]
    save(draw("spread_by_regime", rows, runs_of("a")), tmp_path / "a.svg", tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_every_figure_of_the_catalogue_can_be_drawn():
    assert tuple(FIGURES) == catalogue.FIGURES
