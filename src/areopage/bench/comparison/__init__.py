"""Comparison of finished runs: what is compared, what came of it, and what drives the difference."""
