"""One configuration, and what the command line and the server build from it."""
