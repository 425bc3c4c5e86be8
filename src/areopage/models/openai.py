"""The OpenAI chat protocol, as OpenAI and every compatible server speak it: `/chat/completions` and `/models`.

How providers differ from it stands in `areopage.models.known_providers`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from areopage.cases import Case
from areopage.errors import CallError, CallRejected, CallUnreachable, ModelError, ModelMissing, PromptTooLong, name_list
from areopage.models.error_bodies import CONTENT_FILTER, TOO_LONG_CODES
from areopage.models.json_chat import PROBE, ChatModel
from areopage.models.known_providers import SchemaMode
from areopage.models.openai_replies import BROKEN_OFF, OpenAIReply, completion_of
from areopage.models.port import CALLED, FILTERED, SERVER, Completion, Message, ModelStatus, Options, Schema, sent
from areopage.models.servers import ListedModel, ModelServer
from areopage.models.untaken import renamed
from areopage.models.window import window_of
from areopage.text import names_answer

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
PROBE_TOKENS = 16
"""The smallest limit of an answer that every provider takes."""
MOST_SLOTS = 1024
_MISSING_CODES = ("model_not_found", "DeploymentNotFound")
_NO_MODEL = re.compile(r"\b(?:model|deployment|engine)\b", re.IGNORECASE)
_MISSING = re.compile(
    r"not (?:found|exist|available|valid|supported|served|loaded)|does(?:n't| not) exist|unknown|invalid model|no such",
    re.IGNORECASE,
)


class _OpenAIEntry(msgspec.Struct):
    """A listed model; servers name its window in different ways."""

    id: str
    max_model_len: int | None = None  # vLLM
    context_length: int | None = None  # OpenRouter, Together
    max_context_length: int | None = None  # Mistral
    context_window: int | None = None  # Groq

    @property
    def window(self) -> int | None:
        """In tokens; None where the server does not tell."""
        return self.max_model_len or self.context_length or self.max_context_length or self.context_window or None


class _OpenAIEntries(msgspec.Struct):
    data: list[_OpenAIEntry] | None = None


class _Props(msgspec.Struct):
    total_slots: Annotated[int, msgspec.Meta(ge=1, le=MOST_SLOTS)] | None = None


class OpenAIModel(ChatModel[OpenAIReply]):
    """One model of one server of the OpenAI protocol, as a `LanguageModel`."""

    path = "/chat/completions"
    reply_type = OpenAIReply
    schema_signs = ("response_format", "schema", "json", "guided", "grammar", "format")

    _context_length: int | None = None

    async def check(self) -> ModelStatus:
        """Make sure that the model answers; see `LanguageModel.check`.

        A gateway may serve models that it does not list, or list none: then one short call tells. A refusal of something else
        than the model shows that the model is there. The protocol has no
        digest of weights, and one name may stand for two models on two servers: the address stands in for it.
        """
        digest, name = f"{SERVER}{self.server.address}", self.reference.model
        models = await self._listed()
        entry = next((model for model in models or () if model.name == name), None)
        if entry is not None:
            if self.server.may_cut:  # the server of llama.cpp says how many calls it works on at once
                props = await self.server.look_up_root("/props", _Props)
                self.max_concurrency = props.total_slots if props is not None else None
            self._context_length = entry.context_length
            return ModelStatus(digest=digest, context_length=entry.context_length, slots=self.max_concurrency)
        try:
            await self._ask(self._plain_body(PROBE, {"max_tokens": PROBE_TOKENS}), None)
        except CallRejected as fault:
            self.server.complain_of_key(fault)
            message = str(fault)
            names_model = name in message or _NO_MODEL.search(message) is not None
            is_missing = names_model and _MISSING.search(message) is not None
            if fault.status in (400, 422) and fault.code not in _MISSING_CODES and not is_missing:
                return ModelStatus(digest=digest)
            if models is None:
                advice = "correct the model's name, or the base URL, which usually ends in /v1"
            else:
                advice = f"it has: {name_list(model.name for model in models)}" if models else "it lists none"
            raise ModelMissing(f"{self.server.address} has no model {name!r} ({advice}) [{fault}]") from fault
        except CallError as fault:
            raise self.server.down(fault) from fault
        return ModelStatus(digest=digest)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """As `LanguageModel.generate`; the call of a tool is an answer only that fits a schema, by a name of an answer."""
        completion = await super().generate(messages, options, schema, case=case)
        tool = next((note.removeprefix(CALLED) for note in completion.notes if note.startswith(CALLED)), "")
        if tool and (schema is None or not names_answer(tool)):
            where = f"{self.server.address}{self.path}"
            raise CallRejected(
                f"{where}: the answer is no text, but the call of a tool ({tool}): none was offered in the request"
            )
        return completion

    async def _listed(self) -> tuple[ListedModel, ...] | None:
        """The models that the server lists; None where it has no list, or has none for this key, which may be for calls alone."""
        try:
            return await listed(self.server)
        except ModelError as fault:
            cause = fault.__cause__
            if isinstance(cause, CallRejected) and cause.status in (403, 405, 501):
                return None
            raise

    def _plain_body(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        """The body of a call; num_ctx is not sent, since no server of this protocol takes it."""
        body, provider = chat_body(self.reference.model, messages, options), self.server.provider
        renamed(body, provider.renamed, provider.unsent)
        return {**provider.added, **body}

    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        if mode == "json_schema":
            named = {"name": "verdict", "strict": True, "schema": dict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        if mode == "json_object":
            return {"response_format": {"type": "json_object"}}
        return {"guided_json": dict(schema)} if mode == "guided_json" else {}

    def _window(self, options: Options) -> tuple[int | None, str]:
        return self._context_length, "the server's context length"

    def _was_cut(self, completion: Completion, messages: Sequence[Message], options: Options) -> bool:
        """A count that equals num_ctx is a sign of a cut: some servers cut a longer prompt to a window of their own."""
        count = completion.prompt_tokens
        is_unknown = self._context_length is None and self.server.may_cut
        fills = is_unknown and self._meter.fills_a_usual_window(messages, count)
        return fills or self._meter.was_cut(messages, count, self._context_length or window_of(options.get("num_ctx")))

    def _is_about_schema(self, fault: CallError) -> bool:
        is_settled = isinstance(fault, CallRejected) and fault.code in (CONTENT_FILTER, *TOO_LONG_CODES)
        return not is_settled and super()._is_about_schema(fault)

    def _next_mode(self, fault: CallError, at: int, last: int) -> int | None:
        if self._is_about_schema(fault):
            return at + 1
        if not isinstance(fault, CallRejected) or fault.status not in (400, 422):
            return None
        return None if fault.code in (CONTENT_FILTER, *TOO_LONG_CODES) else last

    def _explained(self, fault: CallError, options: Options) -> Completion:
        """The completion of a call that a content filter refused; any other fault is raised."""
        if isinstance(fault, CallRejected) and fault.code == CONTENT_FILTER:
            return Completion(text="", finish_reason=CONTENT_FILTER, notes=tuple(f"{FILTERED}{name}" for name in fault.filtered))
        if isinstance(fault, CallRejected) and fault.code in TOO_LONG_CODES:
            raise PromptTooLong(str(fault), status=fault.status) from fault
        raise fault

    def _completion(self, reply: OpenAIReply, seconds: float) -> Completion:
        if fault := reply.fault:
            raise self._fault_in(fault)
        choice = next(filter(None, reply.choices or ()), None)
        if choice is not None and (choice.error or choice.finish_reason == "error"):
            raise self._fault_in(choice.error)
        if choice is not None and (choice.finish_reason or "").lower() in BROKEN_OFF:
            raise CallUnreachable(f"{self.server.address}{self.path}: the server broke its answer off ({choice.finish_reason})")
        try:
            return completion_of(reply, choice, seconds)
        except LookupError as error:
            raise CallUnreachable(f"{self.server.address}{self.path}: the answer holds no {error.args[0]}") from error


open_model = OpenAIModel


async def listed(server: ModelServer) -> tuple[ListedModel, ...] | None:
    """The models that a server lists; None where it has no list."""
    server.require_key()
    if not server.provider.lists:
        return None
    try:
        # some servers send the bare list
        reply = await server.look_up("/models", _OpenAIEntries | list[_OpenAIEntry])  # type: ignore[arg-type]
    except CallRejected as fault:
        if fault.status == 404:
            return None
        raise ModelError(f"{server.place} does not list its models: {fault}") from fault
    models = reply if isinstance(reply, list) else reply.data or ()
    return tuple(ListedModel(name=model.id, context_length=model.window) for model in models)


def chat_body(model: str, messages: Sequence[Message], options: Options) -> dict[str, Any]:
    """The body of a chat request: options as they are given, but for those that only Ollama knows.

    `num_predict` becomes `max_tokens` where it is a limit (in Ollama -1 and -2 are none) and `max_tokens` is not given.
    """
    body = {name: value for name, value in options.items() if name not in OLLAMA_ONLY_OPTIONS}
    limit = body.pop("num_predict", None)
    if isinstance(limit, int) and limit > 0:
        body.setdefault("max_tokens", limit)
    return {**body, "model": model, "messages": sent(messages), "stream": False}
