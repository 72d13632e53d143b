"""Trainings, one run a job."""


rule train:
    """One run: train, choose the epoch on validation, keep the predictors' classes."""
    input:
        unpack(data_unless_finished),
    output:
        history="results/runs/{run}/history.csv",
        predictions="results/runs/{run}/predictions.npz",
        timing="results/runs/{run}/timing.json",
        run="results/runs/{run}/run.json",
    log:
        "results/runs/{run}/train.log",
    conda:
        "../../envs/train.yaml"
    threads: settings.engine.threads
    params:
        values=run_values,
    message:
        "train {wildcards.run}"
    script:
        "../scripts/train.py"
