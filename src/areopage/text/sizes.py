"""The size of texts."""


def byte_length(text: str) -> int:
    """How many bytes a text has in UTF-8; half of a surrogate pair counts as one sign of one byte."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
