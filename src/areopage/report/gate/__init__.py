"""The report on the gate's decisions."""
