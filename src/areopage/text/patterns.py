"""Patterns that are compiled when they are first used: long ones take milliseconds, and most runs do without most of them."""

import re
from typing import Any, cast


class _Late:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """An attribute of the compiled pattern, found once."""
        method = getattr(re.compile(*self._given), name)
        setattr(self, name, method)
        return method


def late_pattern(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """What `re.compile` returns, compiled at its first use."""
    return cast(re.Pattern[str], _Late(pattern, flags))
