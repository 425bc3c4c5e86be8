"""The demonstration: recorded answers and verdicts go through the exact pipeline, without a server, a key or a download."""
