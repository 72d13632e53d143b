"""From the files of finished runs to tables, statistics and verdicts."""
