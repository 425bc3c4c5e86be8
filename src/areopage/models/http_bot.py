"""A team's own bot behind an HTTP address, as the configuration describes it: `http:NAME`."""

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import msgspec

from areopage.cases import Case, Document, read_documents
from areopage.errors import CallError, CallRejected, ModelError, ModelMissing, ServerDown, name_list
from areopage.models.contacts import variable_of
from areopage.models.http import JsonServer, Query
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema
from areopage.models.reference import ModelReference
from areopage.models.servers import open_transport
from areopage.models.settings import Bot, ModelSettings

PLACEHOLDER = re.compile(r"\{(?:prompt|id)\}")
NO_JUDGE = "a bot is what is judged: it is never shown the judge's instructions"
# What a gateway says of a server behind it that is away; any other answer is the bot's own.
AWAY = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)


class HttpBot:
    """One bot as a `LanguageModel`. It is sent the question alone: it has a system message and options of its own."""

    max_concurrency: int | None = None

    def __init__(self, reference: ModelReference, bot: Bot, server: JsonServer, path: str, query: Query) -> None:
        self.reference = reference
        self._bot = bot
        self._server = server
        self._path = path
        self._query = query
        self._place = server.address + path

    async def check(self) -> ModelStatus:
        """Check that the bot's address responds, without a question. See `LanguageModel.check`.

        The digest stands for the address and the form of the request: nothing tells which model answers behind them.
        """
        try:
            status = await self._server.probe(self._path)
        except CallError as fault:
            raise self._down(str(fault)) from fault
        if status in AWAY:
            raise self._down(f"it answered {status}")
        form = msgspec.json.encode([self._place, self._bot.method, self._bot.request, self._bot.answer], order="sorted")
        return ModelStatus(digest=f"bot {sha256(form).hexdigest()}", unfit=NO_JUDGE)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask the bot once; see `LanguageModel.generate`.

        System messages, options and a schema do not reach it. Of several turns it gets one text, each turn led by its role.
        """
        values = {"{prompt}": question_of(messages), "{id}": case.id if case is not None else ""}
        started = time.perf_counter()
        if self._bot.method == "GET":
            query = (*self._query, *(_query_item(name, filled(value, values)) for name, value in self._bot.request.items()))
            reply = await self._server.ask(self._path, query, object)
        else:
            reply = await self._server.post(self._path, filled(dict(self._bot.request), values), object, query=self._query)
        seconds = time.perf_counter() - started
        text = self._at("answer", self._bot.answer, reply)
        documents: tuple[Document, ...] = ()
        if not isinstance(text, str):
            raise self._unfit("answer", self._bot.answer, f"stands {_kind_of(text)}, not a text")
        if self._bot.documents:
            try:
                documents = read_documents(self._at("documents", self._bot.documents, reply))
            except ValueError as fault:
                raise self._unfit("documents", self._bot.documents, str(fault)) from None
        return Completion(text=text, seconds=seconds, documents=documents)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    def _at(self, key: str, path: str, reply: object) -> object:
        try:
            return value_at(reply, path)
        except LookupError as fault:
            raise self._unfit(key, path, str(fault.args[0])) from None

    def _unfit(self, key: str, path: str, why: str) -> CallRejected:
        name = self.reference.model
        message = f"{self._place}: at the path {path!r} (bots.{name}.{key}) of what it returned {why}"
        return CallRejected(message, status=HTTPStatus.OK)

    def _down(self, why: str) -> ServerDown:
        return ServerDown(
            f"the bot {self.reference.model!r} does not answer at {self._place}: start it, or correct its url [{why}]"
        )


def open_model(reference: ModelReference, settings: ModelSettings) -> HttpBot:
    """Open a bot of the configuration; nothing is called yet."""
    name = reference.model
    if reference.endpoint:
        raise ModelError(f"{reference}: a bot has its address under `bots`: write http:{name}")
    bot = settings.bots.get(name)
    if bot is None:
        names = name_list(sorted(settings.bots)) or "none is defined"
        raise ModelMissing(f"no bot {name!r}: use one of the configuration's `bots` ({names})")
    if not _holds_prompt(bot.request):
        raise ModelError(f'bots.{name}.request: no text of it holds "{{prompt}}", so the bot would not get the question')
    if bot.method == "GET":
        for key, item in bot.request.items():
            _query_item(key, item)
    bot.contact.check(settings.environment, settings.allowed_variables)
    headers = dict(bot.headers)
    for key, text in bot.headers.items():  # `env:NAME` at the end of a value, as in `Bearer env:NAME`
        if variable := variable_of(text):
            value = settings.environment.get(variable, "").strip()
            if not value:
                raise ModelError(f"bots.{name}.headers.{key}: the environment variable {variable} is not set")
            scheme, space, _ = text.rpartition(" ")
            headers[key] = f"{scheme}{space}{value}"
    # The path keeps its last slash, without which many a bot only redirects. The query may hold a key: it stays out of messages.
    base, path, query = bot.url.partition("?")[0], "", ""
    with suppress(ValueError):  # a broken IPv6 address, which the transport refuses in its own words
        parts = urlsplit(bot.url.strip())
        base, path, query = urlunsplit((parts.scheme, parts.netloc, "", "", "")), parts.path, parts.query
    items = tuple(parse_qsl(query, keep_blank_values=True))
    return HttpBot(reference, bot, open_transport(base, settings, headers), path, items)


def question_of(messages: Sequence[Message]) -> str:
    """What a bot is asked: the one turn as it is; several turns are led by their role."""
    turns = [message for message in messages if message.role != "system"]
    if len(turns) == 1:
        return turns[0].content
    return "\n".join(f"{turn.role}: {turn.content}" for turn in turns)


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """A template with its placeholders replaced in every text; what is put in is not looked through again."""
    if isinstance(value, dict):
        return {key: filled(below, values) for key, below in value.items()}
    if isinstance(value, list):
        return [filled(below, values) for below in value]
    if not isinstance(value, str):
        return value
    return PLACEHOLDER.sub(lambda match: values[match[0]], value)


def _holds_prompt(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_prompt(below) for below in value.values())
    if isinstance(value, list):
        return any(_holds_prompt(below) for below in value)
    return isinstance(value, str) and "{prompt}" in value


def _query_item(name: str, value: object) -> tuple[str, str]:
    if isinstance(value, bool):
        return name, "true" if value else "false"
    if isinstance(value, str | int | float):
        return name, str(value)
    raise ModelError(f"request.{name}: a GET takes texts and numbers, and this is {_kind_of(value)}: use method POST")


def value_at(data: object, path: str) -> object:
    """The value at a dotted path; a number counts from 0 into a list, "" is the whole."""
    here = data
    walked: list[str] = []
    for key in path.split(".") if path else []:
        place = f"under {'.'.join(walked)!r} " if walked else ""
        if isinstance(here, dict):
            if key not in here:
                raise LookupError(f"there is no {key!r}: {place}it has {name_list(map(short, here)) or 'nothing'}")
            here = here[key]
        elif isinstance(here, list):
            if not key.isascii() or not key.isdigit() or int(key) >= len(here):
                raise LookupError(f"there is no {key!r}: {place}it has a list of {len(here)}")
            here = here[int(key)]
        else:
            raise LookupError(f"there is no {key!r}: {place}it has {_kind_of(here)}")
        walked.append(key)
    return here


def short(key: object) -> str:
    """A key of a foreign object as a message can show it."""
    text = str(key)
    return "".join(char if char.isprintable() else "?" for char in text[:40])


def _kind_of(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}
    return kinds.get(type(value), "null" if value is None else "something else")
