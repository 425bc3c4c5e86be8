"""Execute a run: answers of the target, then judge by judge."""
