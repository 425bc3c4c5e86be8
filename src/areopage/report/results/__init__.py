"""`results.json`: its records, made from a run."""
