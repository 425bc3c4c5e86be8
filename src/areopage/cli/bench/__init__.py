"""`areopage bench`: benchmark runs on the console."""
