"""The commands that examine and audit judges."""
