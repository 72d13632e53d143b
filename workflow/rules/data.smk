"""Data sets, prepared once into plain arrays."""


rule prepare:
    """A data set as arrays, with a manifest of what they are."""
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
