"""Data sets, prepared once into plain arrays."""


rule prepare:
    """A data set as arrays, with a manifest of what they are."""
    output:
        arrays="results/data/{arrays}.npz",
        manifest="results/data/{arrays}.json",
    params:
        sha256=expected_sha256,
    log:
        "results/logs/data/{arrays}.log",
    conda:
        "../../envs/train.yaml"
    message:
        "prepare the data '{wildcards.arrays}'"
    script:
        "../scripts/prepare.py"
