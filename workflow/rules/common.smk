"""The plan, and the named helpers that rules ask for values, data and digests."""

import sys
from os.path import exists
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir, "workflow")))

from initmem.study.catalogue import DATASETS, FIGURES, RUN_FILES
from initmem.planning.settings import settings_of
from initmem.digest import source_digest
from initmem.errors import UserError
from initmem.study.run import RUN_ID_PATTERN, run_from_id, split_arrays_id
from initmem.study.config import load_config
from initmem.study.study import plan_study

try:
    settings = load_config(config)
    study = plan_study(settings)
except UserError as error:
    raise WorkflowError(str(error)) from None

STUDY_FOLDER = f"results/{study.name}"
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
    """The prepared data, asked for only while a run has no result: a finished run is a source.

    Asked of thousands of files, for which a Path each would be slow.
    """
    arrays = f"results/data/{planned_run(wildcards).arrays_id}"
    finished = all(exists(f"results/runs/{wildcards.run}/{name}") for name in RUN_FILES)
    return {} if finished else {"data": f"{arrays}.npz", "manifest": f"{arrays}.json"}


def archive_of(wildcards):
    """The archive that a data set is prepared from; none for one that ships with a library."""
    dataset, _ = split_arrays_id(wildcards.arrays)
    archive = f"results/data/archives/{wildcards.arrays}.tar.gz"
    return archive if DATASETS[dataset].archive else []


def expected_sha256(wildcards):
    """The checksum that pins the data; where they come from changes no result."""
    dataset, pin = split_arrays_id(wildcards.arrays)
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
    """An input function that gives the file of this name of every run of the study.

    A function, since each job of a cluster reads the workflow anew and needs no such list.
    """

    def files(wildcards):
        return [f"results/runs/{run}/{name}" for run in study.runs]

    return files


def finished_runs(wildcards):
    """What makes every run of the study finished, in as few names as say it.

    run.json stands for its run; where it is there and another file of the run is not, that one
    is named too.
    """
    wanted = []
    for run in study.runs:
        *others, last = [f"results/runs/{run}/{name}" for name in RUN_FILES]
        wanted.append(last)
        if exists(last):
            wanted += [path for path in others if not exists(path)]
    return wanted


def calibrations(wildcards):
    """The rates of all settings of the study."""
    return [f"results/calibration/{name}.json" for name in settings_of(study.runs.values())]


def setting_values(wildcards):
    """The values of a run that stands for a setting."""
    known = settings_of(study.runs.values())
    if wildcards.setting not in known:
        sys.exit(f"the study '{study.name}' has no setting '{wildcards.setting}'")
    return known[wildcards.setting].stated()


def refuse_without_gpu():
    """Stop trainings meant for a GPU from starting on this machine's CPU, unless that is asked for.

    Not on a cluster, whose login nodes have none, and not for what needs no GPU.
    """
    if not study.needs_gpu or not workflow.local_exec or settings.engine.device == "cpu":
        return
    due = [job for job in workflow.dag.needrun_jobs() if job.rule.name == "train"]
    trainings = sum(job.wildcards.run in study.runs for job in due)
    if trainings and gpu_is_visible() is False:
        raise WorkflowError(
            f"the study '{study.name}' needs a GPU and none is visible: {trainings:,} trainings, in"
            f" all {study.images / 1e9:,.1f} billion training images; `make demo` shows the finding"
            " on a CPU; to start all the same: --config engine='{device: cpu}'"
        )


def gpu_is_visible():
    """Whether torch sees a GPU; None where Snakemake's own environment has no torch to ask."""
    try:
        from initmem.training import device
    except ImportError:
        return None
    return device.gpu_is_visible()
