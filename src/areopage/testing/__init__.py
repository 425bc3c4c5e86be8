"""Claims on answers that tests make: a sample of answers becomes a run, and the run decides."""
