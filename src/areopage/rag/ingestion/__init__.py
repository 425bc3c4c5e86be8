"""Documents into a collection: files read, cut into chunks, embedded and written."""
