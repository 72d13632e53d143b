"""What a person relies on when looking at a figure: each mark means what the caption says."""

from math import nan

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from initmem.analysis.dynamics import COLUMNS, FOLLOWED
from initmem.analysis.forgetting import forgetting_table
from initmem.analysis.tables import CONFIGURATION_VALUES, wholly_scaled
from initmem.report.figures import FIGURES
from initmem.report.figures.drawing import MOST_NAMED, Tables, save
from initmem.report.figures.epochs import MOST_FOLLOWED
from initmem.report.figures.spread import MOST_ROWS
from initmem.study import catalogue

SCALES = (0.5, 1.0, 2.0)


def spread_row(name: str, **values) -> dict:
    """A row of spread.csv as the figures read it: three scales, two seeds, all finished."""
    return {
        **dict.fromkeys(CONFIGURATION_VALUES, "same"),
        "configuration": f"digits/{name}",
        "label": name,
        "claims": nan,
        "optimizer": "sgd",
        "scaled": "all",
        "epochs": 3,
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


def dynamics_of(selected: list[dict], epochs: int = 3, **values) -> list[dict]:
    """Rows of dynamics.csv that go with those of selected.csv."""
    cells = {(r["configuration"], r["init_scale"]) for r in selected if r["status"] == "done"}
    return [
        {"configuration": configuration, "init_scale": scale, "epoch": epoch, "n_seeds": 2}
        | dict.fromkeys(FOLLOWED, 0.1 * epoch)
        | values
        for configuration, scale in sorted(cells)
        for epoch in range(1, epochs + 1)
    ]


def memory_of(spreads: list[dict]) -> pd.DataFrame:
    """Rows of memory.csv that go with those of spread.csv: relative to a spread of 8 pp."""
    rows = wholly_scaled(pd.DataFrame(spreads))
    columns = ["configuration", "label", "optimizer", "clock", "spread_pp"]
    return rows[columns].assign(is_reference=False, relative_memory=rows["spread_pp"] / 8)


def draw(
    name: str, spreads: list[dict], selected: list[dict], dynamics: list[dict] | None = None
) -> Figure:
    """A figure; without rows of its own dynamics.csv is one that goes with the others."""
    followed = dynamics_of(selected) if dynamics is None else dynamics
    memory = memory_of(spreads)
    return FIGURES[name](
        Tables(
            spreads=pd.DataFrame(spreads),
            selected=pd.DataFrame(selected),
            dynamics=pd.DataFrame(followed, columns=list(COLUMNS)),
            memory=memory,
            forgetting_time=forgetting_table(memory),
        )
    )


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


@pytest.mark.parametrize("name", ["spread_by_regime", "spread_by_clock", "memory_by_clock"])
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


@pytest.mark.parametrize("name", ["accuracy_by_scale", "spread_by_regime", "spread_by_clock"])
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


def lines_of(axes) -> list:
    return [line for line in axes.lines if len(line.get_xdata())]


def test_the_short_training_is_followed_above_the_longer_one_of_the_same():
    short = spread_row("short", claims="C1")
    longer = spread_row("longer", claims="C2", epochs=30)
    other = spread_row("other", claims="C2", epochs=30, lr="another")
    rows = [other, longer, short]
    selected = [run for row in rows for run in runs_of(row["label"])]
    figure = draw("accuracy_over_epochs", rows, selected)
    assert [axes.get_ylabel() for axes in figure.axes] == ["short", "", "longer", ""]
    assert all(axes.get_xscale() == "log" for axes in figure.axes)
    assert "scale 0.5 scale 1 scale 2" in words(figure)


def test_training_and_validation_accuracy_are_drawn_in_percent_a_line_for_each_scale():
    followed = dynamics_of(runs_of("a"), train_acc=0.9, val_acc=0.4)
    figure = draw("accuracy_over_epochs", [spread_row("a", claims="C1")], runs_of("a"), followed)
    training, validation = figure.axes
    assert len(lines_of(training)) == len(lines_of(validation)) == len(SCALES)
    assert lines_of(training)[0].get_ydata() == pytest.approx([90, 90, 90])
    assert lines_of(validation)[0].get_ydata() == pytest.approx([40, 40, 40])


def test_the_weights_are_followed_for_a_regime_of_each_claim_and_optimizer():
    rows = [
        spread_row("low", claims="C1"),
        spread_row("long", claims="C2"),
        spread_row("adam", claims="C3", optimizer="adam"),
        spread_row("adam again", claims="C3", optimizer="adam"),
        spread_row("nadam", claims="C3", optimizer="nadam"),
        spread_row("l2", claims="C4"),
        spread_row("between"),
    ]
    selected = [run for row in rows for run in runs_of(row["label"])]
    figure = draw("weights_over_epochs", rows, selected)
    labels = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
    assert labels == ["low", "adam", "nadam", "l2"]


def test_a_study_without_claims_is_followed_too():
    rows = [spread_row("a"), spread_row("b")]
    selected = [run for row in rows for run in runs_of(row["label"])]
    for name, count in (("weights_over_epochs", 2), ("accuracy_over_epochs", 1)):
        labels = [axes.get_ylabel() for axes in draw(name, rows, selected).axes]
        assert [label for label in labels if label] == ["a", "b"][:count]


def test_a_single_epoch_is_a_mark(tmp_path):
    followed = dynamics_of(runs_of("a"), epochs=1)
    figure = draw("weights_over_epochs", [spread_row("a")], runs_of("a"), followed)
    drawn = [line for axes in figure.axes for line in axes.lines]
    assert [line.get_marker() for line in drawn] == ["."] * 2 * len(SCALES)
    save(figure, tmp_path / "a.svg", tmp_path / "a.png")


def test_a_remembering_regime_without_a_finished_run_is_not_replaced_by_another():
    rows = [spread_row("low", claims="C1"), spread_row("adam", claims="C3", optimizer="adam")]
    figure = draw("accuracy_over_epochs", rows, runs_of("adam"))
    assert "No run of a regime put forward as remembering (claim C1) has finished." in words(figure)


def test_regimes_that_find_no_room_are_counted():
    rows = [spread_row(f"r{i}") for i in range(MOST_FOLLOWED + 2)]
    selected = [run for row in rows for run in runs_of(row["label"])]
    figure = draw("weights_over_epochs", rows, selected)
    assert len(figure.axes) == 2 * MOST_FOLLOWED
    assert "2 more: not shown" in words(figure)


@pytest.mark.parametrize("norms", [(9, 12, 15), (1, 60)])
def test_norms_have_ticks_whether_they_lie_close_together_or_far_apart(norms):
    followed = [
        row | {"weight_norm": norm} for norm in norms for row in dynamics_of(runs_of("a"), epochs=2)
    ]
    axes = draw("weights_over_epochs", [spread_row("a")], runs_of("a"), followed).axes[0]
    low, high = axes.get_ylim()
    assert sum(low <= tick <= high for tick in axes.get_yticks()) >= 2


def test_what_is_scaled_is_compared_where_nothing_else_differs():
    rows = [
        spread_row("unlike", lr="another", scaled="conv"),
        spread_row("a", claims="C1"),
        spread_row("b", scaled="conv"),
        spread_row("c", scaled="linear"),
    ]
    selected = [run for row in rows for run in runs_of(row["label"])]
    figure = draw("what_is_scaled", rows, selected)
    assert figure.axes[0].get_title() == "a"
    assert words(figure) == "all weights convolutions only last, linear layer only"


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([], "always scales the same weights"),
        ([spread_row("b", scaled="conv", lr="another")], "No two configurations"),
    ],
)
def test_where_nothing_differs_in_what_is_scaled_only_the_figure_says_so(others, said):
    assert said in words(draw("what_is_scaled", [spread_row("a"), *others], runs_of("a")))


def test_a_comparison_without_a_finished_run_gives_way_to_one_that_has_some():
    rows = [
        spread_row("a"),
        spread_row("ac", scaled="conv"),
        spread_row("b", lr="another"),
        spread_row("bc", lr="another", scaled="conv"),
    ]
    figure = draw("what_is_scaled", rows, runs_of("bc"))
    assert figure.axes[0].get_title() == "b"
    assert "1 more comparisons: not shown" in words(figure)
    nothing = draw("what_is_scaled", rows[:2], runs_of("c"))
    assert "No run that compares what is scaled has finished." in words(nothing)


def test_the_title_of_a_comparison_leaves_out_what_is_compared():
    rows = [
        spread_row("SGD (scaled all)"),
        spread_row("SGD (scaled conv)", scaled="conv"),
    ]
    selected = [run for row in rows for run in runs_of(row["label"])]
    assert draw("what_is_scaled", rows, selected).axes[0].get_title() == "SGD"


@pytest.mark.parametrize("name", ["accuracy_by_scale", "spread_by_clock"])
def test_what_scales_only_a_part_is_compared_apart(name):
    rows = [spread_row("a"), spread_row("b", scaled="conv")]
    selected = [run for row in rows for run in runs_of(row["label"])]
    assert words(draw(name, rows, selected)) == "a"
    assert words(draw(name, rows[1:], runs_of("b"))) == "b"


def test_a_regime_looks_the_same_in_every_figure():
    rows = [spread_row("part", scaled="conv"), spread_row("whole")]
    selected = [run for row in rows for run in runs_of(row["label"])]
    in_spread = marks(draw("spread_by_regime", rows, selected))[1]
    in_accuracy = marks(draw("accuracy_by_scale", rows, selected))[0]
    assert in_spread.get_color() == in_accuracy.get_color()
    assert in_spread.get_marker() == in_accuracy.get_marker()


def falling(count: int, time: float) -> list[dict]:
    """Rows of spread.csv whose spread falls from 8 pp to half of it at a clock of `time`."""
    return [
        spread_row(f"r{place}", clock=clock, spread_pp=8 / (1 + clock / time))
        for place, clock in enumerate(np.geomspace(1e-3, 1e3, count))
    ]


def test_memory_over_the_clock_shows_the_fit_and_the_clocks_that_the_paper_gives():
    figure = draw("memory_by_clock", falling(8, time=2.0), runs_of("r0"))
    assert places(marks(figure), hollow=False) == 8
    assert "300 epochs" in words(figure)
    assert "5,000 epochs" in words(figure)
    assert "forgetting time 2" in words(figure)


def test_memory_over_the_clock_says_what_it_cannot_fit_or_place():
    rows = [*falling(4, time=2.0), spread_row("none", clock=nan)]
    shown = words(draw("memory_by_clock", rows, runs_of("r0")))
    assert "too few for a fit" in shown
    assert "1 without a memory or a clock" in shown


def test_memory_over_clocks_that_do_not_bound_the_forgetting_time_shows_no_curve():
    level = [row | {"spread_pp": 8 - place % 2} for place, row in enumerate(falling(9, time=1e6))]
    figure = draw("memory_by_clock", level, runs_of("r0"))
    assert "not bounded by these clocks" in words(figure)
    assert "fit, all together" not in words(figure)
