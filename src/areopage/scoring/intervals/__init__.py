"""Intervals of means, scores, differences and shares: what other cases of the same kind may give."""
