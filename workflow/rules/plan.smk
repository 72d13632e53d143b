"""What a study costs, before it runs, and how far it is."""


localrules:
    plan,
    status,


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


rule status:
    """Print what of the study is done, at work, stopped or missing, and how long the rest takes."""
    log:
        f"results/logs/{study.name}/status.log",
    conda:
        "../../envs/train.yaml"
    message:
        "look at the study {study.name}"
    script:
        "../scripts/status.py"
