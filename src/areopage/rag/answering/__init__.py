"""The graph from a question to what the user gets: its nodes, the grey band’s judge, the cache, what is noted."""
