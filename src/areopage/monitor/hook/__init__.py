"""Background scoring: a decorator and a middleware that write answers to a spool, and never harm the answer."""
