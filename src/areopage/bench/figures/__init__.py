"""Figures of a run: each in one file, with how it is computed, what a report shows of it, and beside it its words."""
