"""Exchange with other tools and benchmarks: imports of suites and datasets, exports of runs. An extension."""
