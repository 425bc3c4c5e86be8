"""What a jury is worth, by people's labels: independent judges, each judge's errors, and whether it may replace a person."""
