"""Delivery of alerts with Apprise, which is imported at the first message."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from areopage.errors import MissingExtra

if TYPE_CHECKING:
    from apprise import NotifyBase

MessageSeverity = Literal["info", "success", "warning", "failure"]
"""Apprise's types of message, which services turn into colours and priorities."""

FROM_ENVIRONMENT = "env:"
ATTEMPTS = 12
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=1)
LOGGER = "apprise"
SHORTEST_SECRET = 4
MESSAGE_LENGTH = 200

logger = logging.getLogger(__name__)


class AlertMessage(Struct, frozen=True, kw_only=True):
    """A message of plain text.

    The fields after `severity` go to webhooks beside the text.

    Args:
        rule: of the alert, also of one that has ended.
        key: rule and subject: the same when an alert opens and when it ends.
        answer_id, score: of a single answer.
    """

    title: str
    body: str
    severity: MessageSeverity = "info"
    rule: str = ""
    key: str = ""
    answer_id: str = ""
    score: float | None = None


class SentAlert(Struct, frozen=True, kw_only=True):
    """The delivery to one address. `place` names the address without its secrets; `error` is "" on success."""

    place: str
    error: str = ""


def send(urls: Sequence[str], message: AlertMessage, environment: Mapping[str, str]) -> list[SentAlert]:
    """Send a message to every address in turn; blocks until all replied.

    Raises:
        MissingExtra: Apprise is not installed.
    """
    return [_send_one(place_of(position, url), url, message, environment) for position, url in enumerate(urls, start=1)]


def _send_one(place: str, url: str, message: AlertMessage, environment: Mapping[str, str]) -> SentAlert:
    """Send a message to one address; a fault is reported without any part of the address."""
    try:
        import apprise
    except ImportError:
        raise MissingExtra("sending alerts", "monitor") from None
    address = resolved(url, environment)
    if not address:
        return SentAlert(place=place, error=f"the environment variable {url.removeprefix(FROM_ENVIRONMENT)} is not set")
    asset = apprise.AppriseAsset(app_id="Areopage", app_desc="Areopage", async_mode=False)
    with _heard() as messages:
        service = apprise.Apprise.instantiate(address, asset=asset)
        if service is None or isinstance(service, str):
            return SentAlert(
                place=place, error="this is no Apprise URL that can be used: see the page of the service in its manual"
            )
        _add_fields(service, message)
        sender = apprise.Apprise(asset=asset)
        sender.add(service)
        kind = apprise.NotifyType(message.severity)
        arrived = bool(
            sender.notify(title=message.title, body=message.body, notify_type=kind, body_format=apprise.NotifyFormat.TEXT)
        )
    if arrived:
        return SentAlert(place=place)
    return SentAlert(place=place, error=masked(messages[-1] if messages else "the service did not take it", address))


def _add_fields(service: "NotifyBase", message: AlertMessage) -> None:
    """Add the fields of an alert to what a JSON webhook gets; an address that names a field (`?:score=mark`) renames it."""
    from apprise.plugins.custom_json import NotifyJSON

    if isinstance(service, NotifyJSON):
        fields = {"rule": message.rule, "key": message.key, "id": message.answer_id}
        values = {name: value or None for name, value in fields.items()} | {"score": message.score}
        renamed = {str(service.payload_extras.pop(name, "") or name): value for name, value in values.items()}
        service.payload_extras.update(renamed)


def resolved(url: str, environment: Mapping[str, str]) -> str:
    """Resolve an address; an unset variable of `env:NAME` gives ""."""
    return environment.get(url.removeprefix(FROM_ENVIRONMENT), "").strip() if url.startswith(FROM_ENVIRONMENT) else url


def unset(urls: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Warnings about addresses whose environment variable is not set."""
    return [
        f"alerts.urls: {place_of(position, url)}: the environment variable is not set, so nothing is sent there: set it"
        for position, url in enumerate(urls, start=1)
        if not resolved(url, environment)
    ]


def place_of(position: int, url: str) -> str:
    """A displayable address: its number and kind, or its variable."""
    kind = url if url.startswith(FROM_ENVIRONMENT) else f"{url.partition('://')[0]}://…" if "://" in url else "…"
    return f"url {position} ({kind})"


def masked(message: str, address: str) -> str:
    """A message on one line, without any part of the address."""
    pieces = sorted({piece for piece in re.split(r"[^\w.~%-]+", address.partition("://")[2]) if piece}, key=len, reverse=True)
    for piece in pieces:
        if len(piece) >= SHORTEST_SECRET:
            message = message.replace(piece, "***")
    printable = "".join(char if char.isprintable() else " " for char in message)
    return " ".join(printable.split())[:MESSAGE_LENGTH]


def next_attempt(attempts: int, now: datetime) -> datetime | None:
    """The time of the next delivery attempt; None gives up after about seven hours."""
    if attempts >= ATTEMPTS:
        return None
    return now + min(FIRST_PAUSE * (1 << (attempts - 1)), LONGEST_PAUSE)


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Apprise's warnings, kept out of every log while something is sent: they may quote an address with its keys."""
    messages: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger = logging.getLogger(LOGGER)
    listener, propagated = Listener(logging.WARNING), logger.propagate
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield messages
    finally:
        logger.propagate = propagated
        logger.removeHandler(listener)
