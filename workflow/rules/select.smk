"""What each run of the study came to."""


rule select:
    """Every planned run with its status, and its validation-selected predictor's accuracies."""
    input:
        runs=study_runs("run.json"),
        histories=study_runs("history.csv"),
    output:
        runs=f"{STUDY_FOLDER}/runs.csv",
        selected=f"{STUDY_FOLDER}/selected.csv",
    log:
        f"results/logs/{study.name}/select.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/select.py"),
    message:
        "select the validation-best predictors"
    script:
        "../scripts/select.py"
