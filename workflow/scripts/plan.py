"""Print what the study costs."""

from pathlib import Path

from initmem.analysis.tables import read_finished
from initmem.logs import job_log
from initmem.planning.calibration import machine_at_hand
from initmem.planning.plan import plan_text
from initmem.study.config import load_config
from initmem.study.study import plan_study

with job_log(Path(snakemake.log[0])):
    settings = load_config(snakemake.config)
    study, folder = plan_study(settings), Path("results/runs")
    finished = read_finished(study, folder)
    here = machine_at_hand(study, finished, settings.engine, folder, Path("results/calibration"))
    text = plan_text(study, finished.keys(), here.rates, here.device, here.slots)
print(text)
