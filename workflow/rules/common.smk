"""The plan, and the named helpers that rules ask for values, data and digests."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir, "workflow")))

from initmem.catalogue import DATASETS, RUN_FILES
from initmem.digest import source_digest
from initmem.errors import UserError
from initmem.run import RUN_ID_PATTERN, run_from_id
from initmem.study import load_config, plan_study

try:
    settings = load_config(config)
    study = plan_study(settings)
except UserError as error:
    raise WorkflowError(str(error)) from None

STUDY_FOLDER = f"results/{study.name}"
FIGURES = ("accuracy_by_scale", "spread_by_regime", "spread_by_clock")
REPORT_TEXTS = ("report/report.html.j2", *(f"report/{figure}.rst" for figure in FIGURES))


wildcard_constraints:
    run=RUN_ID_PATTERN,
    arrays=r"[a-z][a-z0-9]*(?:-[0-9a-f]{8})?",


def planned_run(wildcards):
    """The run that a path stands for, whether or not this study plans it.

    Ends with the one line of the mistake: Snakemake adds a traceback to every other exception.
    """
    try:
        return study.runs.get(wildcards.run) or run_from_id(wildcards.run, study.rare)
    except UserError as error:
        sys.exit(str(error))


def run_values(wildcards):
    """What a training depends on beside the data: its values that differ from their defaults.

    Defaults are left out so that a new value, whose default changes nothing, reruns nothing.
    """
    return planned_run(wildcards).stated()


def data_unless_finished(wildcards):
    """The prepared data, asked for only while a run has no result: a finished run is a source."""
    run = planned_run(wildcards)
    folder = Path("results/runs", wildcards.run)
    finished = all((folder / name).exists() for name in RUN_FILES)
    return [] if finished else f"results/data/{run.arrays_id}.npz"


def expected_sha256(wildcards):
    """The checksum that prepared arrays must have; URLs and mirrors change no result."""
    dataset = wildcards.arrays.split("-")[0]
    for run in study.runs.values():
        if run.arrays_id == wildcards.arrays:
            return run.values()["data_sha256"]
    if dataset == wildcards.arrays and dataset in DATASETS:
        return DATASETS[dataset].sha256
    raise WorkflowError(f"no data set '{wildcards.arrays}' in this study")


def study_runs(name):
    """One file of every run of the study."""
    return collect(f"results/runs/{{run}}/{name}", run=study.runs)
