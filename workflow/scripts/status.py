"""Print how far the study is."""

from pathlib import Path

from initmem.analysis.tables import read_finished
from initmem.logs import job_log
from initmem.planning.calibration import machine_at_hand
from initmem.planning.status import standings_of, status_text
from initmem.study.config import load_config
from initmem.study.study import plan_study

with job_log(Path(snakemake.log[0])):
    settings = load_config(snakemake.config)
    study, engine, folder = plan_study(settings), settings.engine, Path("results/runs")
    finished = read_finished(study, folder)
    standings = standings_of(study, finished, folder, engine.lease_timeout)
    here = machine_at_hand(study, finished, engine, folder, Path("results/calibration"))
    text = status_text(study, standings, here.rates, here.slots)
print(text)
