"""Areopage: juries of judges that say whether answers of a language model are safe, right and grounded."""

__version__ = "0.1.0"
