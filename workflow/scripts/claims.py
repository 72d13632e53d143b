"""Judge the paper's claims."""

from pathlib import Path

from initmem.analysis.claims import claims_table
from initmem.analysis.tables import read_table, write_table
from initmem.logs import job_log
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    spreads = read_table(Path(snakemake.input.spread))
    table = claims_table(load_study(snakemake.config), spreads)
    write_table(table, Path(snakemake.output.table))
