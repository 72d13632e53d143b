"""Prepare one data set."""

from pathlib import Path

from initmem.data.arrays import prepare
from initmem.logs import job_log
from initmem.study.run import split_arrays_id

with job_log(Path(snakemake.log[0])):
    prepare(
        dataset=split_arrays_id(snakemake.wildcards.arrays)[0],
        expected_sha256=snakemake.params.sha256,
        archive=Path(snakemake.input.archive) if snakemake.input.archive else None,
        arrays_file=Path(snakemake.output.arrays),
        manifest_file=Path(snakemake.output.manifest),
    )
