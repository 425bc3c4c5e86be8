"""What code can see in a text, in English and French; pure: no I/O, no clock."""
