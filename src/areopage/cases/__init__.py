"""What is judged: cases, documents, personas, and the readers of datasets."""
