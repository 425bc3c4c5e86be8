"""What writes answers, judgments, evaluations and the state of processes."""
