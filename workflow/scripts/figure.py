"""Draw one figure."""

from pathlib import Path

from initmem.analysis.tables import read_table
from initmem.logs import job_log
from initmem.report.figures import FIGURES
from initmem.report.figures.drawing import Tables, save

with job_log(Path(snakemake.log[0])):
    tables = Tables(
        spreads=read_table(Path(snakemake.input.spread)),
        selected=read_table(Path(snakemake.input.selected)),
        dynamics=read_table(Path(snakemake.input.dynamics)),
        memory=read_table(Path(snakemake.input.memory)),
        forgetting_time=read_table(Path(snakemake.input.forgetting_time)),
    )
    figure = FIGURES[snakemake.wildcards.figure](tables)
    save(figure, Path(snakemake.output.svg), Path(snakemake.output.png))
