"""Runs of several targets, and of one target over time."""
