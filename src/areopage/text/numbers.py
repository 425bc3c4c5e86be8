"""Numbers in digits and their value, in English and French."""

import re
from decimal import Decimal

DIGITS = re.compile("[0-9]+")


def decimal_of(written: str) -> Decimal:
    """The value of a number in English or French writing.

    The last `.` or `,` is its decimal mark unless exactly three digits follow it: 1.000 and 1,000 are a thousand, 0.125 is not.
    """
    if written.isdigit():
        return Decimal(written)
    digits = re.sub(r"[^0-9.,]", "", written)
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return Decimal(digits)
    whole, mark, rest = digits[:last], digits[last], digits[last + 1 :]
    grouped = len(rest) == 3 and whole not in ("", "0") and (mark in whole or not re.search("[.,]", whole)) and " " not in written
    whole = re.sub("[.,]", "", whole)
    return Decimal(whole + rest) if grouped else Decimal(f"{whole or '0'}.{rest}")
