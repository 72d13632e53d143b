"""Initialization memory: how much of a random initialization survives training.

A study (config.yaml) is planned as runs. Each run is trained once and keeps its predictions; the
tail of the DAG turns the runs of a study into spreads, claims, figures and a report.
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/spread.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/plan.smk"


onstart:
    refuse_without_gpu()


rule all:
    """The whole study: its report, and with it everything the report is made of.

    Runs are named too: behind a finished table Snakemake would not miss one that was deleted.
    """
    input:
        runs=finished_runs,
        report=f"{STUDY_FOLDER}/report.html",
        figures=collect(f"{STUDY_FOLDER}/figures/{{figure}}.png", figure=FIGURES),
