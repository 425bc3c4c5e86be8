"""How far a score can be trusted: the record of it, and the page that says it in plain words."""
