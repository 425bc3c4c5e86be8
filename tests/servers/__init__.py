"""What tests talk to: a server that speaks Ollama's and OpenAI's protocol, the command as a process, a small suite."""

import os

PATIENCE = 120.0
"""Seconds that a test waits for something that is sure to come; a busy machine needs many times what an idle one does."""
THOROUGH = os.environ.get("AREOPAGE_TESTS") == "full"
"""Whether tests take the time for more examples and longer texts."""
HUGE = 1_000_000 if THOROUGH else 100_000
"""Characters of a hostile text: a method that is quadratic takes minutes or hours for it, one that is linear a moment."""
