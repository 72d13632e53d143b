"""What is asked for: a study and its runs; and the files that stand for a finished run."""
