"""The report on the quality of answers in production: gathered, then written as HTML, Markdown or JSON."""
