"""`areopage suites` and `areopage criteria`."""
