"""What every request of one server shares."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import cast

from msgspec import Struct
from starlette.requests import Request

from areopage.ledger.quality_records import Submission
from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.suites.loader import Suite


class ServerContext(Struct, frozen=True, kw_only=True):
    """Args:
    ledger: where everything is kept.
    config: the monitor's configuration.
    suite: the suite that answers are judged by.
    submit: stores submissions durably; returns for each whether it is new. It may block: call it in a thread.
    now: the clock, in UTC.
    """

    ledger: Ledger
    config: MonitorConfig
    suite: Suite
    submit: Callable[[Sequence[Submission]], Sequence[bool]]
    now: Callable[[], datetime]


def context_of(request: Request) -> ServerContext:
    """The context of the server that got a request."""
    return cast(ServerContext, request.app.state.context)
