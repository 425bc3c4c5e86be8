"""What is written of a run for people and programs: results.json, tables, the HTML report."""
