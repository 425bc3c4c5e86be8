"""Adaptive passes: how noisy a judge's passes are, and where one more pass is worth its price."""
