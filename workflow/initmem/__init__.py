"""Initialization memory: plan, train, select and measure. Knows nothing of Snakemake.

A folder for each stage, in the order in which data flow: study, data, training, analysis, report,
planning; each uses only those before it. The modules beside them are the ground that all stand on.
What the Snakefile imports imports no NumPy, torch or pandas: each job of a cluster parses it again.
"""
