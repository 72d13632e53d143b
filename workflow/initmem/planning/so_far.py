"""Tables, figures and report of a study from the runs that are there, the rest marked missing."""

from pathlib import Path

from initmem.analysis.claims import claims_table
from initmem.analysis.dynamics import dynamics_table
from initmem.analysis.forgetting import forgetting_table, memory_table
from initmem.analysis.tables import (
    read_finished,
    read_table,
    runs_table,
    selected_table,
    spread_table,
    write_table,
)
from initmem.report.figures import FIGURES
from initmem.report.figures.drawing import Tables, save
from initmem.report.page import write_report
from initmem.study import outputs
from initmem.study.study import Study


def write_so_far(study: Study, runs_folder: Path, folder: Path, template: Path) -> int:
    """Write all that the finished runs give into `folder`; how many runs that are.

    The files are those of a finished study, under the same names. Raises UserError for a file of a
    run that is unreadable or of another run.
    """
    finished = read_finished(study, runs_folder)
    selected = selected_table(study, finished, runs_folder)
    spreads = spread_table(study, selected, runs_folder)
    memory = memory_table(study, spreads)
    written = {
        "runs": runs_table(study, finished, runs_folder),
        "selected": selected,
        "dynamics": dynamics_table(study, finished, runs_folder),
        "spread": spreads,
        "claims": claims_table(study, spreads),
        "memory": memory,
        "forgetting_time": forgetting_table(memory),
    }
    for name, table in written.items():
        write_table(table, folder / f"{name}.csv")
    tables = {name: read_table(folder / f"{name}.csv") for name in written}
    figures = {name: folder / "figures" / f"{name}.svg" for name in FIGURES}
    drawn_from = Tables(
        spreads=tables["spread"],
        selected=tables["selected"],
        dynamics=tables["dynamics"],
        memory=tables["memory"],
        forgetting_time=tables["forgetting_time"],
    )
    for name, draw in FIGURES.items():
        figure = draw(drawn_from)
        save(figure, figures[name], figures[name].with_suffix(".png"))
    write_report(
        folder / "report.html",
        study,
        tables["runs"],
        tables["spread"],
        tables["claims"],
        figures,
        [runs_folder / run_id / outputs.TIMING for run_id in study.runs],
        template,
    )
    return len(finished)
