"""Retrieval-augmented answers behind the gate: documents in, answers out. An extension."""
