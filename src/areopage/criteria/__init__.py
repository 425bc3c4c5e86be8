"""What is asked of a response: criteria, their registry and prompt files, selection, and the judge's prompt."""
