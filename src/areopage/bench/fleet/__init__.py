"""Benchmark runs that workers carry out on any number of machines: parts by server, their work, and a run's progress."""
