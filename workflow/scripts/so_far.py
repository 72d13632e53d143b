"""Write the report of what has finished so far."""

from pathlib import Path

from initmem.logs import job_log
from initmem.planning.so_far import write_so_far
from initmem.study.study import load_study

with job_log(Path(snakemake.log[0])):
    study = load_study(snakemake.config)
    folder = Path(snakemake.params.folder)
    template = Path(snakemake.scriptdir).parent / "report" / "report.html.j2"
    count = write_so_far(study, Path("results/runs"), folder, template)
print(f"{count} of {len(study.runs)} runs have finished; {folder}/report.html says what they show")
