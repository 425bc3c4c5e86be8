"""The menu: the pages of what a server is configured for and of what its ledger holds."""

from contextlib import suppress
from typing import get_args

from starlette.requests import Request

from areopage.errors import StorageError
from areopage.ledger import ApiKey, Content
from areopage.server.access import Actor, actor_of
from areopage.server.context import ServerContext, context_of

HOME = "/monitor"
Place = tuple[str, str]
"""A page's path, and the key of its name."""

_MONITOR: tuple[Place, ...] = (
    (HOME, "menu_overview"),
    ("/monitor/answers", "nav_answers"),
    ("/monitor/alerts", "nav_alerts"),
    ("/monitor/queue", "menu_queue"),
)
_GOLDEN, _GATE, _RUNS = ("/monitor/golden", "menu_golden"), ("/gate", "nav_gate"), ("/runs", "nav_runs")
_REVIEW, _AGREEMENT, _CHAT = ("/review", "nav_review"), ("/agreement", "nav_agreement"), ("/chat", "nav_chat")


def places_of(request: Request) -> list[Place]:
    """The menu of a request. Where nothing is configured or stored yet, it has all pages: each says how to begin."""
    context, actor = context_of(request), actor_of(request)
    return _menu(context, actor, _configured(context) | _stored(context, actor))


def home_of(context: ServerContext, actor: Actor | ApiKey | None) -> str:
    """The page shown after sign-in: the first one of the menu that has content, else the first one."""
    if actor is None:
        return HOME
    menu = _menu(context, actor, _stored(context, actor) - {"labels"} or _configured(context))
    return menu[0][0] if menu else _CHAT[0]


def _menu(context: ServerContext, actor: Actor | ApiKey | None, used: frozenset[Content]) -> list[Place]:
    chat = [_CHAT] if context.rag is not None else []
    if actor is not None and actor.role == "ask":
        return chat
    used = used or frozenset(get_args(Content))
    whole = actor is None or not actor.collections  # a key with a scope sees neither runs nor golden questions
    monitored = [*_MONITOR, *([_GOLDEN] if whole else [])] if "monitor" in used else []
    gate = [_GATE] if "gate" in used else []
    runs = [_RUNS] if "runs" in used and whole else []
    agreement = [_AGREEMENT] if used - {"gate"} else []
    return [*monitored, *gate, *runs, _REVIEW, *agreement, *chat]


def _stored(context: ServerContext, actor: Actor | ApiKey | None) -> frozenset[Content]:
    """What the ledger holds, as far as the actor may know of it; a visitor that has not signed in learns nothing."""
    if actor is None or actor.role == "ask":
        return frozenset()
    with suppress(StorageError):
        contents = context.ledger.contents()
        return contents - {"runs"} if actor.collections else contents
    return frozenset()


def _configured(context: ServerContext) -> frozenset[Content]:
    section = context.config.section
    gate: frozenset[Content] = frozenset(["gate"] if context.rag is not None or section.gate else [])
    return gate | frozenset[Content](["monitor"] if section.monitor.model_fields_set else [])
