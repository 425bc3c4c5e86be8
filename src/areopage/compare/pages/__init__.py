"""Pages of the server that compare."""
