"""Untrusted texts without what a terminal obeys."""

from unicodedata import category


def visible(text: str, *, keep_spaces: bool = False) -> str:
    """An untrusted text without terminal control characters; every kind of space is a plain one.

    Args:
        keep_spaces: spaces stay of their kind, so that a line is not broken at one that does not break.
    """
    signs = text.replace("\r\n", "\n")
    spaces = {sign: sign if keep_spaces else " " for sign in set(signs) if category(sign) == "Zs"}
    return "".join(sign if sign.isprintable() or sign in "\n\t" else spaces.get(sign, "\ufffd") for sign in signs)
