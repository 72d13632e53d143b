"""One run trained: from its initialization to the files that it leaves."""
