"""The store of runs, answers and judgments: SQLite, or PostgreSQL by URL."""
