"""Write the report."""

from pathlib import Path

from initmem.analysis.tables import read_table
from initmem.logs import job_log
from initmem.report.page import write_report
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    write_report(
        page=Path(snakemake.output.page),
        study=load_study(snakemake.config),
        runs=read_table(Path(snakemake.input.runs)),
        spreads=read_table(Path(snakemake.input.spread)),
        claims=read_table(Path(snakemake.input.claims)),
        figures={Path(path).stem: Path(path) for path in snakemake.input.figures},
        timings=[Path(path) for path in snakemake.input.timings],
        template=Path(snakemake.scriptdir).parent / "report" / "report.html.j2",
    )
