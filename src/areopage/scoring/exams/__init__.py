"""What an exam of a judge on a gold set shows: figures with intervals, marks, and how likely a judge passes."""
