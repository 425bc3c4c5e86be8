"""Tests of what is written of a run."""
