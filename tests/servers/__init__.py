"""What tests talk to: a server that speaks Ollama's and OpenAI's protocol, the command as a process, a small suite."""

PATIENCE = 120.0
"""Seconds that a test waits for something that is sure to come; a busy machine needs many times what an idle one does."""
