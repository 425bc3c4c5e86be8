"""What reads and counts answers, evaluations and decisions."""
