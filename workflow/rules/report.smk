"""The report: one page that someone who has not read the paper can read."""


localrules:
    so_far,


rule report:
    """The study's question, finding, claims, figures, gaps and costs in one offline page."""
    input:
        runs=f"{STUDY_FOLDER}/runs.csv",
        spread=f"{STUDY_FOLDER}/spread.csv",
        claims=f"{STUDY_FOLDER}/claims.csv",
        figures=collect(f"{STUDY_FOLDER}/figures/{{figure}}.svg", figure=FIGURES),
        timings=study_runs("timing.json"),
    output:
        page=f"{STUDY_FOLDER}/report.html",
    log:
        f"results/logs/{study.name}/report.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        plan=study.digest,
        code=source_digest("scripts/report.py", *REPORT_TEXTS),
    message:
        "write the report"
    script:
        "../scripts/report.py"


rule so_far:
    """The same from the runs that are there, in a folder of its own; nothing is trained for it."""
    log:
        f"results/logs/{study.name}/so_far.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        folder=f"{STUDY_FOLDER}/so_far",
    message:
        "report what has finished so far"
    script:
        "../scripts/so_far.py"
