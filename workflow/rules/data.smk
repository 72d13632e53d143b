"""Data sets, prepared once into plain arrays."""


localrules:
    download,


rule download:
    """An archive, from the first of its sources whose bytes have the right checksum."""
    output:
        archive="results/data/archives/{arrays}.tar.gz",
    log:
        "results/logs/data/{arrays}_download.log",
    conda:
        "../../envs/train.yaml"
    params:
        sha256=expected_sha256,
    message:
        "download {wildcards.arrays}"
    script:
        "../scripts/download.py"


rule prepare:
    """A data set as arrays, with a manifest of what they are."""
    input:
        archive=archive_of,
    output:
        arrays="results/data/{arrays}.npz",
        manifest="results/data/{arrays}.json",
    log:
        "results/logs/data/{arrays}.log",
    conda:
        "../../envs/train.yaml"
    params:
        sha256=expected_sha256,
    message:
        "prepare the data '{wildcards.arrays}'"
    script:
        "../scripts/prepare.py"
