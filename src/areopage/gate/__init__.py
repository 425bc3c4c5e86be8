"""May this answer leave? Evidence in, decision out: pure, in milliseconds, on a CPU."""
