"""Build a run from a suite and user options, and estimate what it costs."""
