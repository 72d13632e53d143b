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
    arrays=rf"(?:{'|'.join(DATASETS)})(?:-[0-9a-f]{{8}})?",


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


def manifest_unless_finished(wildcards):
    """What the prepared data are, asked for together with them."""
    return [Path(file).with_suffix(".json") for file in [data_unless_finished(wildcards)] if file]


def archive_of(wildcards):
    """The archive that a data set is prepared from; none for one that ships with a library."""
    facts = DATASETS[wildcards.arrays.split("-")[0]]
    return f"results/data/archives/{wildcards.arrays}.tar.gz" if facts.archive else []


def expected_sha256(wildcards):
    """The checksum that pins the data; where they come from changes no result."""
    dataset, _, pin = wildcards.arrays.partition("-")
    known = [DATASETS[dataset].sha256]
    if dataset in settings.data:
        known.append(settings.data[dataset].sha256)
    if not pin:
        return known[0]
    for sha256 in filter(None, known):
        if sha256.startswith(pin):
            return sha256
    sys.exit(f"no checksum in config.yaml under data.{dataset} begins with '{pin}'")


def study_runs(name):
    """One file of every run of the study."""
    return collect(f"results/runs/{{run}}/{name}", run=study.runs)


def refuse_without_gpu():
    """Stop a study that needs a GPU from starting on this machine's CPU, unless that is asked for.

    Not on a cluster, whose login nodes have none.
    """
    if study.needs_gpu and workflow.local_exec and settings.engine.device != "cpu":
        from initmem.device import gpu_is_visible

        if not gpu_is_visible():
            raise WorkflowError(
                f"the study '{study.name}' needs a GPU and none is visible: {len(study.runs):,}"
                f" trainings, {study.images / 1e9:,.0f} billion training images; `make demo` shows the"
                " finding on a CPU; to start all the same: --config engine='{device: cpu}'"
            )
