"""Figures, each from the tables alone."""


rule figure:
    """One figure, as SVG for papers and the report, as PNG for slides."""
    input:
        selected=f"{STUDY_FOLDER}/selected.csv",
        spread=f"{STUDY_FOLDER}/spread.csv",
        dynamics=f"{STUDY_FOLDER}/dynamics.csv",
        memory=f"{STUDY_FOLDER}/memory.csv",
        forgetting_time=f"{STUDY_FOLDER}/forgetting_time.csv",
    output:
        svg=f"{STUDY_FOLDER}/figures/{{figure}}.svg",
        png=f"{STUDY_FOLDER}/figures/{{figure}}.png",
    log:
        f"results/logs/{study.name}/figure_{{figure}}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/figure.py"),
    message:
        "draw {wildcards.figure}"
    script:
        "../scripts/figure.py"
