"""Data of the gate demo: support pages of an invented bank, questions, and an areopage.yml."""
