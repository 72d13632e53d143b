"""Measure the spread of every configuration."""

from pathlib import Path

from initmem.analysis.tables import read_table, spread_table, write_table
from initmem.logs import job_log
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    selected = read_table(Path(snakemake.input.selected))
    table = spread_table(load_study(snakemake.config), selected, Path("results/runs"))
    write_table(table, Path(snakemake.output.table))
