"""The graph from a question to the answer that the user receives."""
