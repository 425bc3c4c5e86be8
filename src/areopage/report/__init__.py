"""Output of results for people and programs: results.json, tables, HTML reports."""
