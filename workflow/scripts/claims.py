"""Judge the paper's claims."""

from pathlib import Path

from initmem.claims import claims_table
from initmem.logs import job_log
from initmem.study import load_study
from initmem.tables import read_table, write_table

with job_log(Path(snakemake.log[0])):
    spreads = read_table(Path(snakemake.input.spread))
    table = claims_table(load_study(snakemake.config), spreads)
    write_table(table, Path(snakemake.output.table))
