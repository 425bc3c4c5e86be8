"""What a monitor does by the clock, whoever of its workers is there to do it."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from msgspec import Struct


class Duty(Struct, frozen=True, kw_only=True):
    """One regular task. Each tick of its schedule is carried out once, by one worker, over all that share the ledger.

    Args:
        name: unique among the duties.
        schedule: a cron expression in UTC; six fields where the first is seconds.
        run: the task; it is given the moment it was due.
    """

    name: str
    schedule: str
    run: Callable[[datetime], Awaitable[None]]
