"""The gate at answer time: people's labels, the judge of doubtful sentences, figures and logs of decisions."""
