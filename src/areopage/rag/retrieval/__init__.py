"""From a question to documents: embedders, the vector store, similarity that means something."""
