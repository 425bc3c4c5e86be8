"""The quality of answers in production: evaluations, alerts, golden questions."""
