"""The OpenAI chat protocol, as OpenAI and every compatible server speak it: `/chat/completions` and `/models`.

How providers differ from it stands in `areopage.models.dialects`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.cases.records import Case
from areopage.errors import (
    CallError,
    CallRejected,
    CallUnreachable,
    ModelMissing,
    PromptTooLong,
    name_list,
)
from areopage.models.call_notes import FILTERED
from areopage.models.dialects import SchemaMode, schema_fields
from areopage.models.error_bodies import CONTENT_FILTER, TOO_LONG_CODES, error_of
from areopage.models.json_chat import HostedModel
from areopage.models.lenient_json import decode_reply
from areopage.models.openai_replies import (
    Reply,
    ReplyMessage,
    Usage,
    cost_of,
    end_of,
    error_status,
    notes_of,
    prompt_filters,
    reasoning_of,
    refusal_of,
    text_of,
)
from areopage.models.openai_server import Connection, connect
from areopage.models.port import SERVER, Completion, Message, ModelStatus, Options, Schema, sent
from areopage.models.reference import ModelReference
from areopage.models.servers import read_logprobs
from areopage.models.settings import ModelSettings
from areopage.models.untaken import renamed
from areopage.models.window import PromptMeter, window_of

CHAT = "/chat/completions"
# Left out of every call: they size or place a model in memory, which no server of this protocol lets a caller do,
# and strict servers refuse a call with a name they do not know.
OLLAMA_ONLY_OPTIONS: frozenset[str] = frozenset(
    {
        "keep_alive",
        "low_vram",
        "main_gpu",
        "num_batch",
        "num_ctx",
        "num_gpu",
        "num_keep",
        "num_thread",
        "numa",
        "think",
        "use_mlock",
        "use_mmap",
    }
)
PROBE = (Message("user", "ok"),)
PROBE_TOKENS = 16
"""The smallest limit of an answer that every provider takes."""
_NO_MODEL = re.compile(r"\b(?:model|deployment|engine)\b", re.IGNORECASE)
_MISSING = re.compile(
    r"not (?:found|exist|available|valid|supported|served|loaded)|does(?:n't| not) exist|unknown|invalid model|no such",
    re.IGNORECASE,
)
_OF_SCHEMA = ("response_format", "schema", "json", "guided", "grammar", "format")


class OpenAIModel(HostedModel[SchemaMode]):
    """One model of one server of the OpenAI protocol, as a `LanguageModel`."""

    def __init__(self, reference: ModelReference, connection: "Connection") -> None:
        super().__init__(reference, connection.server, connection.modes)
        self._connection = connection
        self._dialect = connection.dialect
        self._meter = PromptMeter()
        self._context_length: int | None = None
        self._slots: int | None = None

    @property
    def max_concurrency(self) -> int | None:
        """The server's slots, where `check` found that it tells; None: the caller decides."""
        return self._slots

    async def check(self) -> ModelStatus:
        """Make sure that the model answers; see `LanguageModel.check`.

        A gateway may serve models that it does not list, or list none: then one short call tells. A refusal of something else
        than the model shows that the model is there. The protocol has no
        digest of weights, and one name may stand for two models on two servers: the address stands in for it.
        """
        digest = f"{SERVER}{self._server.address}"
        listed = await self._connection.models()
        name = self._reference.model
        found = next((model for model in listed or () if model.name == name), None)
        if found is not None and self._dialect.lists:
            self._context_length, self._slots = found.context_length, await self._connection.slots()
            return ModelStatus(digest=digest, context_length=found.context_length, slots=self._slots)
        try:
            await self._answer(PROBE, {"max_tokens": PROBE_TOKENS}, None)
        except CallRejected as fault:
            self._connection.complain_of_key(fault)
            if fault.status in (400, 422) and not _speaks_of_model(fault, name):
                return ModelStatus(digest=digest)
            if listed is None:
                advice = "correct the model's name, or the base URL, which usually ends in /v1"
            else:
                advice = f"it has: {name_list(model.name for model in listed)}" if listed else "it lists none"
            raise ModelMissing(f"{self._server.address} has no model {name!r} ({advice}) [{fault}]") from fault
        except CallError as fault:
            raise self._connection.down(fault) from fault
        return ModelStatus(digest=digest)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once, or once more without the schema where the server refuses it; see `LanguageModel.generate`.

        The option num_ctx is not sent, since no server of this protocol takes it. A count that equals it is a sign of a cut all
        the same: some servers cut a longer prompt to a window of their own.
        """
        self._refuse_too_long(messages)
        try:
            completion = await self._answer(messages, options, schema)
        except CallRejected as fault:
            completion = self._filtered(fault)
        return self._noted(completion, messages, options)

    def _noted(self, completion: Completion, messages: Sequence[Message], options: Options) -> Completion:
        """A completion that says what was not sent, and whether the server cut the prompt."""
        if notes := self._untaken.notes(options, self._dialect.unsent):
            completion = msgspec.structs.replace(completion, notes=(*completion.notes, *notes))
        return self._marked(completion, messages, options)

    def _filtered(self, fault: CallRejected) -> Completion:
        """The completion of a call that a content filter refused; any other fault is raised."""
        if fault.code == CONTENT_FILTER:
            return Completion(text="", finish_reason=CONTENT_FILTER, notes=tuple(f"{FILTERED}{one}" for one in fault.filtered))
        if fault.code in TOO_LONG_CODES:
            raise PromptTooLong(str(fault), status=fault.status) from fault
        raise fault

    def _plain_body(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        """The body of a call, with the names that the provider has for options."""
        body, dialect = chat_body(self._reference.model, messages, options), self._dialect
        if dialect.renamed or dialect.unsent:
            renamed(body, dialect.renamed, dialect.unsent)
        return {**dialect.added, **body} if dialect.added else body

    def body(self, messages: Sequence[Message], options: Options, schema: Schema | None = None) -> dict[str, Any]:
        """The body of a call, for a service that makes it later.

        Raises:
            PromptTooLong: see `generate`.
        """
        self._refuse_too_long(messages)
        plain = self._untaken.applied(self._plain_body(messages, options))
        return plain if schema is None else {**plain, **schema_fields(self._modes[0], schema)}

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from the rejection of a call that a service made; whether it is worth another try."""
        return self._untaken.learn(fault, self._plain_body(PROBE, options))

    def read(self, reply: bytes, messages: Sequence[Message], options: Options) -> Completion:
        """Read the body of an answer that a service brought; its time is not known and is 0.

        Raises:
            CallError: it is an error, or not an answer.
        """
        try:
            found = decode_reply(reply, Reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CallUnreachable(f"{self._server.address}: the answer is not the JSON expected") from error
        try:
            completion = self._completion(found, 0.0)
        except CallRejected as fault:
            completion = self._filtered(fault)
        return self._noted(completion, messages, options)

    def _refuse_too_long(self, messages: Sequence[Message]) -> None:
        if refusal := self._meter.refusal(messages, self._context_length, "the server's context length"):
            raise PromptTooLong(f"{self._reference}: {refusal}")

    def _marked(self, completion: Completion, messages: Sequence[Message], options: Options) -> Completion:
        """A completion that says whether the server cut the prompt."""
        counted = completion.prompt_tokens
        window = self._context_length or window_of(options.get("num_ctx"))
        unknown = self._context_length is None and self._connection.may_cut
        cut = unknown and self._meter.fills_a_usual_window(messages, counted)
        cut = cut or self._meter.was_cut(messages, counted, window)
        return msgspec.structs.replace(completion, prompt_cut=True) if cut else completion

    async def _answer(self, messages: Sequence[Message], options: Options, schema: Schema | None) -> Completion:
        body, query = self._plain_body(messages, options), self._connection.query
        return await self._ask(CHAT, body, schema, Reply, self._completion, query)

    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        return schema_fields(mode, schema)

    def _following(self, fault: CallRejected, at: int, last: int) -> int | None:
        if fault.status not in (400, 422) or fault.code in (CONTENT_FILTER, *TOO_LONG_CODES):
            return None
        return at + 1 if any(sign in str(fault) for sign in _OF_SCHEMA) else last

    def _fault_inside(self, error: object) -> CallError:
        """The fault that an answer with a status of success holds."""
        body = error_of({"error": error})
        return self._server.fault(CHAT, error_status(error), body.message, body=body)

    def _completion(self, reply: Reply, seconds: float) -> Completion:
        if reply.error:
            raise self._fault_inside(reply.error)
        if not reply.choices and (stopped := prompt_filters(reply)) is not None:
            return Completion(
                text="", finish_reason=CONTENT_FILTER, seconds=seconds, notes=tuple(f"{FILTERED}{name}" for name in stopped)
            )
        choice = next(filter(None, reply.choices or ()), None)
        if choice is None:
            raise CallUnreachable(f"{self._server.address}{CHAT}: the answer holds no choice")
        if choice.error or choice.finish_reason == "error":
            raise self._fault_inside(choice.error)
        finish_reason = end_of(choice.finish_reason)
        message = choice.message or choice.delta or (ReplyMessage(content=choice.text) if choice.text is not None else None)
        if message is None and finish_reason != CONTENT_FILTER:
            raise CallUnreachable(f"{self._server.address}{CHAT}: the answer holds no message")
        usage, message = reply.usage or Usage(), message or ReplyMessage()
        text = text_of(message)
        if refused := refusal_of(message):
            text, finish_reason = refused, "refusal"
        tokens = choice.logprobs.get("content") if isinstance(choice.logprobs, dict) else None
        return Completion(
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=seconds,
            logprobs=read_logprobs(tokens),
            notes=notes_of(reply.provider, finish_reason, choice),
            reasoning=reasoning_of(message),
            cost=cost_of(usage),
        )


def _speaks_of_model(fault: CallRejected, name: str) -> bool:
    """Whether a refusal says that the model is not there."""
    message = str(fault)
    return fault.code in ("model_not_found", "DeploymentNotFound") or (
        (name in message or _NO_MODEL.search(message) is not None) and _MISSING.search(message) is not None
    )


def open_model(reference: ModelReference, settings: ModelSettings) -> OpenAIModel:
    """Open a model of a compatible server; nothing is called yet.

    Raises:
        ModelError: the endpoint is unknown, or an address is none.
    """
    return OpenAIModel(reference, connect(reference.endpoint, settings, reference.provider, reference.model))


def chat_body(model: str, messages: Sequence[Message], options: Options) -> dict[str, Any]:
    """The body of a chat request: options as they are given, but for those that only Ollama knows.

    `num_predict` becomes `max_tokens` where it is a limit (in Ollama -1 and -2 are none) and `max_tokens` is not given.
    """
    body = {name: value for name, value in options.items() if name not in OLLAMA_ONLY_OPTIONS}
    limit = body.pop("num_predict", None)
    if isinstance(limit, int) and limit > 0:
        body.setdefault("max_tokens", limit)
    return {**body, "model": model, "messages": sent(messages), "stream": False}
