"""The report on the quality of answers in production."""
