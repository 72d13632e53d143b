"""Download one archive."""

from pathlib import Path

from initmem.data.download import fetch
from initmem.logs import job_log
from initmem.study.config import load_config
from initmem.study.run import split_arrays_id

with job_log(Path(snakemake.log[0])):
    dataset, _ = split_arrays_id(snakemake.wildcards.arrays)
    source = load_config(snakemake.config).data[dataset]
    fetch(
        sources=source.sources,
        target=Path(snakemake.output.archive),
        sha256=snakemake.params.sha256,
        size=source.size,
    )
