"""Follow accuracies and weights over the epochs of every configuration."""

from pathlib import Path

from initmem.analysis.dynamics import dynamics_table
from initmem.analysis.tables import read_finished, write_table
from initmem.logs import job_log
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    study = load_study(snakemake.config)
    folder = Path("results/runs")
    table = dynamics_table(study, read_finished(study, folder), folder)
    write_table(table, Path(snakemake.output.table))
