"""League tables and trends as pages, tables and files."""
