"""Fit the gate to labels: thresholds with a promise, weights, and what a new configuration would change."""
