"""Runs, targets, periods and variants beside one another. An extension."""
