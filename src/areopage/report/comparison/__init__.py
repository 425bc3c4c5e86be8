"""Comparisons of runs as pages, Markdown and files."""
