"""Untrusted texts without what a terminal obeys."""

from unicodedata import category


def visible(text: str, *, keep_spaces: bool = False) -> str:
    """An untrusted text without terminal control characters; every kind of space is a plain one.

    Args:
        keep_spaces: spaces stay of their kind, so that a line is not broken at one that does not break.
    """
    return "".join(_visible_sign(sign, keep_spaces) for sign in text.replace("\r\n", "\n"))


def _visible_sign(sign: str, keep_spaces: bool) -> str:
    if sign.isprintable() or sign in "\n\t":
        return sign
    if category(sign) == "Zs":
        return sign if keep_spaces else " "
    return "\ufffd"
