"""The report of a benchmark run: its page, the page of its cases, and their sections."""
