"""Comparisons: tests of differences, families of tests, what drives a change, and tests that are valid under repeated looking."""
