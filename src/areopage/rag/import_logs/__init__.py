"""Import of other systems' logs."""
