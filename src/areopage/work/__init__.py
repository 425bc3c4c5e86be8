"""Work that survives the death of its process: handlers, a durable queue, workers and recovery."""
