"""Trace files: their records, and their export from the ledger."""
