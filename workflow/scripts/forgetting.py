"""Relate each memory to C1's, and fit the forgetting time."""

from pathlib import Path

from initmem.analysis.forgetting import forgetting_table, memory_table
from initmem.analysis.tables import read_table, write_table
from initmem.logs import job_log
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    spreads = read_table(Path(snakemake.input.spread))
    memory = memory_table(load_study(snakemake.config), spreads)
    write_table(memory, Path(snakemake.output.memory))
    write_table(forgetting_table(memory), Path(snakemake.output.forgetting_time))
