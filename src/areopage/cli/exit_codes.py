"""With which codes commands end; the same for all of them."""

DONE = 0
"""All was done, and what can fail has passed."""
FAILED = 1
"""What can fail has failed: a fault, a difference, a drop, an answer that is held."""
USER_ERROR = 2
INCONCLUSIVE = 3
"""Too little could be read or scored to tell."""
BUDGET_SPENT = 4
"""The next call might have cost more than was left of `--budget`: everything is kept, and a higher budget resumes it."""
INTERRUPTED = 130
