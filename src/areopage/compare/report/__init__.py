"""What comparisons say: pages, files, texts."""
