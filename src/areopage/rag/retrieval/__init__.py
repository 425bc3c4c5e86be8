"""Retrieval: embedders, the vector store, calibrated similarity."""
