"""Variants of an A/B test beside one of them."""
