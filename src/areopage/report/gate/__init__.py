"""What the gate decided, in words for people."""
