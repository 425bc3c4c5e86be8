"""What tests talk to: a server that speaks Ollama's and OpenAI's protocol, the command as a process, a small suite."""
