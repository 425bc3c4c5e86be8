"""`areopage monitor`: answers in production."""
