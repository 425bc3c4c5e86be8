"""Correct judges' scores by people's labels: means, shares, categories, scales, and how many labels that takes."""
