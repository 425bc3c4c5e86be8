"""Text analysis in English and French; pure: no I/O, no clock."""
