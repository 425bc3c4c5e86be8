"""Differences of scores and failures, tested and corrected."""
