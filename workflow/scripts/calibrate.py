"""Measure how fast one setting trains here."""

import time

STARTED = time.monotonic()

from pathlib import Path

from initmem.files import atomic_write, json_bytes
from initmem.logs import job_log
from initmem.study.config import load_config
from initmem.study.run import Run

with job_log(Path(snakemake.log[0])):
    from initmem.planning.calibration import calibrate

    run = Run(**snakemake.params.values)
    measured = calibrate(run, load_config(snakemake.config).engine, STARTED)
    with atomic_write(Path(snakemake.output.rates)) as file:
        file.write(json_bytes(measured))
