"""The port to a language model, and its adapters."""
