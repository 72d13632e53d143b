"""What each run of the study came to, and how it got there."""


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


rule dynamics:
    """Accuracies and weights at some epochs, means over seeds for each configuration and scale."""
    input:
        runs=study_runs("run.json"),
        histories=study_runs("history.csv"),
    output:
        table=f"{STUDY_FOLDER}/dynamics.csv",
    log:
        f"results/logs/{study.name}/dynamics.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/dynamics.py"),
    message:
        "follow the trainings over epochs"
    script:
        "../scripts/dynamics.py"
