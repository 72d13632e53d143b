"""Initialization memory: plan, train, select and measure. Knows nothing of Snakemake.

Modules that the Snakefile imports (`errors`, `catalogue`, `run`, `study`, `digest`) import no
torch and no pandas: every job of a cluster parses the Snakefile again.
"""
