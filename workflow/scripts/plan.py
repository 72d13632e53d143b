"""Print what the study costs."""

import os
from pathlib import Path

from initmem.calibration import rough_rates
from initmem.costs import Setting, rates_of_calibrations, rates_of_finished, settings_of
from initmem.device import choose_device, device_name
from initmem.logs import job_log
from initmem.plan import plan_text
from initmem.study import load_config, plan_study
from initmem.tables import read_finished

with job_log(Path(snakemake.log[0])):
    settings = load_config(snakemake.config)
    study, engine = plan_study(settings), settings.engine
    device = choose_device(engine, deterministic=False)
    here = device_name(device), engine.threads
    runs_folder = Path("results/runs")
    finished = read_finished(study, runs_folder)
    by_name = settings_of(study.runs.values())
    rates = {Setting.of(run): rough_rates(run, device, engine.threads) for run in by_name.values()}
    rates |= rates_of_calibrations(by_name, Path("results/calibration"), *here)
    rates |= rates_of_finished(study.runs, finished, runs_folder, *here)
    known = {setting: rate for setting, rate in rates.items() if rate}
    slots = max(1, (os.cpu_count() or 1) // engine.threads) if device.type == "cpu" else 1
    text = plan_text(study, finished.keys(), known, here[0], slots)
print(text)
