"""Results of a run, computed from the ledger without calling a model."""
