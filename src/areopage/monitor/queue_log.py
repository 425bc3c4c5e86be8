"""What the queue's library logs, as lines for people: it looks at its database ten times a second, and quotes each statement."""

import logging
import re
import time
import traceback
from collections.abc import Callable

AGAIN_AFTER = 60.0
LONGEST = 300
FAULT = re.compile(r"\((?:\w+\.)+\w+\) ([^\n]+)")
"""How SQLAlchemy begins what a database says: `(sqlite3.OperationalError) database or disk is full`; the statement follows."""


class ShortLog(logging.Filter):
    """Makes one line of each record, and lets the same one through once a minute."""

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Args:
        place: where the queue lies, as it may be shown.
        clock: seconds.
        """
        super().__init__()
        self._place, self._clock = place, clock
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten a record; False where the same was said less than a minute ago."""
        now = self._clock()
        said = {line: at for line, at in self._said.items() if now - at < AGAIN_AFTER}
        line = self._line(record)
        again = line in said
        self._said = said if again else {**said, line: now}
        record.msg, record.args, record.exc_info, record.exc_text, record.stack_info = line, (), None, None, None
        return not again

    def _line(self, record: logging.LogRecord) -> str:
        """A database's fault by what the database says; anything else by its first line, and its fault's last one."""
        message = record.getMessage()
        fault = record.exc_info[1] if record.exc_info else None
        if fault is not None:
            message += "\n" + "".join(traceback.format_exception_only(fault))
        found = FAULT.search(message)
        if found:
            return f"{self._place}: the queue cannot be used, which is tried again: {found[1]}"
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        return f"{self._place}: {' '.join(lines[:1] + lines[1:][-1:])[:LONGEST]}"
