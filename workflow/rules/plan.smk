"""What a study costs, before it runs."""


localrules:
    plan,


rule calibration:
    """How fast each setting of the study trains on the device at hand."""
    input:
        calibrations,


rule calibrate:
    """How fast one setting trains: network, data, optimizer and batch size."""
    output:
        rates="results/calibration/{setting}.json",
    log:
        "results/logs/calibration/{setting}.log",
    conda:
        "../../envs/train.yaml"
    threads: settings.engine.threads
    params:
        values=setting_values,
    message:
        "calibrate {wildcards.setting}"
    script:
        "../scripts/calibrate.py"


rule plan:
    """Print runs, epochs, images, time and disk of the study, and what of it is there."""
    log:
        f"results/logs/{study.name}/plan.log",
    conda:
        "../../envs/train.yaml"
    message:
        "plan the study {study.name}"
    script:
        "../scripts/plan.py"
