"""The append-only store of runs, answers and judgments: SQLite by default, PostgreSQL by URL."""
