"""Write cells that a spreadsheet shows and never runs."""

import re
from typing import Any

# Full-width signs too: some spreadsheets level them to the plain ones before they look for a formula.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_CONTROL = ("\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


def inert_cell(value: Any) -> str:
    """Return the text of a cell; one that would start a formula gets a leading apostrophe.

    A formula starts with `=`, `+`, `-` or `@`, also behind white space; a leading tab or line end is taken for one.
    A plain number such as `-1.5` stays a number. None is an empty cell.
    """
    text = "" if value is None else str(value)
    if _NUMBER.fullmatch(text):
        return text
    return f"'{text}" if text.startswith(_CONTROL) or text.lstrip().startswith(_FORMULA) else text
