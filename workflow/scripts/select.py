"""List a study's runs and their selected predictors."""

from pathlib import Path

from initmem.analysis.tables import read_finished, runs_table, selected_table, write_table
from initmem.logs import job_log
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    study = load_study(snakemake.config)
    folder = Path("results/runs")
    finished = read_finished(study, folder)
    write_table(runs_table(study, finished, folder), Path(snakemake.output.runs))
    write_table(selected_table(study, finished, folder), Path(snakemake.output.selected))
