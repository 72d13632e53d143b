"""From selected predictors to the spread over init scales, and to verdicts."""


rule spread:
    """Largest minus smallest mean test accuracy over init scales, for each configuration."""
    input:
        selected=f"{STUDY_FOLDER}/selected.csv",
        predictions=study_runs("predictions.npz"),
    output:
        table=f"{STUDY_FOLDER}/spread.csv",
    log:
        f"results/logs/{study.name}/spread.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/spread.py"),
    message:
        "measure the spread over init scales"
    script:
        "../scripts/spread.py"


rule claims:
    """Each claim of the paper, judged by the rule fixed beforehand."""
    input:
        spread=f"{STUDY_FOLDER}/spread.csv",
    output:
        table=f"{STUDY_FOLDER}/claims.csv",
    log:
        f"results/logs/{study.name}/claims.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/claims.py"),
    message:
        "judge the claims"
    script:
        "../scripts/claims.py"


rule forgetting:
    """Each configuration's memory relative to C1's, and the clock at which half of it is lost."""
    input:
        spread=f"{STUDY_FOLDER}/spread.csv",
    output:
        memory=f"{STUDY_FOLDER}/memory.csv",
        forgetting_time=f"{STUDY_FOLDER}/forgetting_time.csv",
    log:
        f"results/logs/{study.name}/forgetting.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/forgetting.py"),
    message:
        "fit the forgetting time"
    script:
        "../scripts/forgetting.py"
