"""Runs of several targets by one panel, and of one target in time order."""
