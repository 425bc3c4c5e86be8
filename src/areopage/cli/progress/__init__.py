"""Progress of long commands and of runs, and the log of a run."""
