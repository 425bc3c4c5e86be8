"""A run beside others, or beside production."""
