"""Benchmarks: a target answers a dataset, and a jury scores the answers."""
