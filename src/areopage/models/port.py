"""The one port through which every language model is called, as a target and as a judge."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from areopage.cases import Case, Document
from areopage.models.reference import ModelReference

# Of running text in English and French; code, figures and other scripts take more tokens.
CHARACTERS_PER_TOKEN = 4.0


Options = Mapping[str, Any]
Schema = Mapping[str, Any]


class TokenLogprob(Struct, frozen=True):
    """A generated token with its natural-log probability, and the likeliest others at its place.

    `raw` are its bytes, where the server states others than those of its text: a token may be a part of a character.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()
    raw: bytes = b""

    @property
    def written(self) -> bytes:
        """What the token adds to the answer in UTF-8."""
        return self.raw or self.token.encode("utf-8", "replace")


class Message(Struct, frozen=True):
    """One message of a chat.

    `constant`: how many characters at its beginning many calls share; a model in this process computes them once.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    constant: int = 0


def sent(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as servers take them: strict ones refuse a field that they do not know."""
    return [{"role": message.role, "content": message.content} for message in messages]


SERVER = "server "
"""How a digest begins that names a server, in place of weights: its models have it in common."""

# What a call's notes begin with. A judge's judgment has them among its steps.
NOT_SENT = "not_sent:"
"""The name of an option that was left out follows."""
ANSWERED_BY = "answered_by:"
"""The provider that answered behind a gateway follows."""
FILTERED = "filtered:"
"""A category of a content filter follows."""
STOP_REASON = "stop_reason:"
"""The provider's own word for why the answer ended follows."""
CALLED = "called:"
"""The tool follows whose arguments stand for the text."""
_NOTES = (NOT_SENT, ANSWERED_BY, FILTERED, STOP_REASON, CALLED)

ONLY_THOUGHTS = "the server sent the whole text as reasoning; correct its reasoning parser for this model, or switch it off"
"""What is said of an answer without text whose reasoning is not empty."""

MAX_TOKENS = 10**8
"""The largest count of tokens that is believed: no model takes or writes as many in a call. Sums of calls can be stored."""


def drop_impossible_counts(record: Struct) -> None:
    """Let a new record say nothing of counts of tokens that cannot be."""
    for name in ("prompt_tokens", "completion_tokens"):
        count = getattr(record, name)
        if count is not None and not 0 <= count <= MAX_TOKENS:
            force_setattr(record, name, None)


class Completion(Struct, frozen=True, kw_only=True):
    """What a model answered. `seconds` is the wall time of the call.

    Token counts are None where the server is silent, or reports what cannot be a count.

    `finish_reason` is the server's word: "stop", "length" (cut), "content_filter", ...
    `prompt_cut` is true where the server shows signs of having dropped part of the prompt.
    `documents` are what a bot says that its answer rests on; other models name none.
    `notes` say what a reader of the answer must know of the call: options that were not sent, who answered behind a gateway, what
    a content filter found. `reasoning` is what the model thought, where the server gives it beside the text.
    `billed_tokens` is what the prompt is billed as, in tokens at the full price, where the provider bills kept beginnings at
    another price; `cost` is what the call cost in US dollars, where the provider says so.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    logprobs: tuple[TokenLogprob, ...] | None = None
    prompt_cut: bool = False
    documents: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()
    reasoning: str = ""
    billed_tokens: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        """Drop token counts that cannot be."""
        drop_impossible_counts(self)
        if self.prompt_tokens is None:
            force_setattr(self, "billed_tokens", None)

    @property
    def only_thoughts(self) -> bool:
        """Whether an answer that ended by itself has reasoning and no text."""
        return bool(self.reasoning.strip()) and not self.text.strip() and self.finish_reason == "stop"


class ModelStatus(Struct, frozen=True, kw_only=True):
    """What a check of a model found.

    Args:
        digest: identifies the weights, where the server tells it; else what identifies the server, after `SERVER`.
        context_length: in tokens.
        slots: how many calls the server works on at once, where it tells.
        unfit: why the model is unfit to judge, where that is known beforehand ("" otherwise).
    """

    digest: str = ""
    context_length: int | None = None
    slots: int | None = None
    unfit: str = ""


class LanguageModel(Protocol):
    """A model that can be asked. One instance serves many concurrent calls up to `max_concurrency`."""

    @property
    def reference(self) -> ModelReference:
        """What the user called it."""

    @property
    def max_concurrency(self) -> int | None:
        """How many calls it can take at once; None where the caller decides."""

    async def check(self) -> ModelStatus:
        """Make sure that the model can be called.

        Raises:
            ServerDown: nothing answers at its address.
            ModelMissing: the server does not have it.
            ModelError: it cannot be used as configured.
        """

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once; no retries here.

        Args:
            messages: the chat so far, the system message first if there is one.
            options: the model's options under the provider's own names (temperature, num_ctx, ...).
            schema: a JSON schema that the answer must fit, where the server can hold to it.
            case: the case that a target is asked about: recordings look it up, and a bot is sent its id.

        Raises:
            CallTimedOut, CallUnreachable, CallRejected: see `areopage.errors`.
        """

    async def aclose(self) -> None:
        """Release connections and memory."""


def call_notes_in(steps: Sequence[str]) -> tuple[str, ...]:
    """Of a judgment's steps those that are notes of its call."""
    return tuple(step for step in steps if step.startswith(_NOTES))


class _AlternativeToken(Struct):
    token: str
    logprob: float


class _StatedToken(_AlternativeToken):
    top_logprobs: tuple[_AlternativeToken, ...] | None = None
    bytes: tuple[int, ...] | None = None


def read_logprobs(tokens: object) -> tuple[TokenLogprob, ...] | None:
    """Read the list of tokens that both protocols give; None where there is none, or where it has another shape.

    An answer that was paid for is not thrown away because its log-probabilities cannot be read.
    """
    if not tokens:
        return None
    try:
        stated = msgspec.convert(tokens, list[_StatedToken])
    except msgspec.ValidationError:
        return None
    logprobs: list[TokenLogprob] = []
    for item in stated:
        # nothing where the server states no bytes but those of the text, or what cannot be bytes
        raw = bytes(item.bytes) if item.bytes and all(0 <= code < 256 for code in item.bytes) else b""
        raw = b"" if raw == item.token.encode("utf-8", "replace") else raw
        top = tuple((other.token, other.logprob) for other in item.top_logprobs or ())
        logprobs.append(TokenLogprob(item.token, item.logprob, top, raw))
    return tuple(logprobs)
