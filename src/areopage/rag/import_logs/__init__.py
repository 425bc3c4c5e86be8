"""Import of logs that other systems left."""
