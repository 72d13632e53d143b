"""Train one run."""

import time

STARTED = time.monotonic()

import os
from pathlib import Path

from initmem.logs import job_log
from initmem.study.config import load_config
from initmem.study.run import Run

with job_log(Path(snakemake.log[0])):
    from initmem.training.sitting import Sitting, train

    run = Run(**snakemake.params.values)
    limited = "SLURM_JOB_ID" in os.environ
    train(
        run,
        Path(snakemake.input.get("data") or f"results/data/{run.arrays_id}.npz"),
        Path(snakemake.output.run).parent,
        Sitting.of_job(
            load_config(snakemake.config).engine,
            STARTED,
            snakemake.resources.get("runtime") if limited else None,
        ),
    )
