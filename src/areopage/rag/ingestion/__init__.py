"""Ingestion: files are read, cut into chunks, embedded and stored."""
