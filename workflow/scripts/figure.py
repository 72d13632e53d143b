"""Draw one figure."""

from pathlib import Path

from initmem.figures import FIGURES, save
from initmem.logs import job_log
from initmem.tables import read_table

with job_log(Path(snakemake.log[0])):
    draw = FIGURES[snakemake.wildcards.figure]
    figure = draw(
        read_table(Path(snakemake.input.spread)), read_table(Path(snakemake.input.selected))
    )
    save(figure, Path(snakemake.output.svg), Path(snakemake.output.png))
