"""One small call to a model, to see what it supports."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec import Struct

from areopage.errors import CallRejected
from areopage.models.call_notes import ANSWERED_BY, NOT_SENT
from areopage.models.port import Completion, LanguageModel, Message, Schema
from areopage.models.rate_headers import Allowance
from areopage.models.retry import TellsAllowances

_ASKED = (Message("system", "You answer with one JSON object."), Message("user", 'Give the JSON object {"score": 1}.'))
_SCHEMA: Schema = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 5}},
    "required": ["score"],
    "additionalProperties": False,
}
_OPTIONS: Mapping[str, Any] = {"temperature": 0.0, "seed": 1, "max_tokens": 512}  # room for the thoughts of a reasoning model
_LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 5}


@runtime_checkable
class TellsSchemaMode(Protocol):
    """A model that knows how its server is told a schema."""

    @property
    def schema_mode(self) -> str:
        """As the last call found out; "none": by the prompt alone."""
        ...


class Supported(Struct, frozen=True, kw_only=True):
    """What one call showed.

    Args:
        schema_mode: how the server is told a schema; "" where the model does not say.
        fits: whether the answer fits the schema.
        logprobs: whether log-probabilities came.
        untaken: options that were not sent, since the model or its provider does not take them.
        thinks: whether thoughts came beside the answer.
        limits: whether the server says what is left of its limits.
        answered_by: who answered behind a gateway; "" where no gateway says so.
    """

    schema_mode: str
    fits: bool
    logprobs: bool
    untaken: tuple[str, ...]
    thinks: bool
    limits: bool
    answered_by: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None

    def line(self) -> str:
        """What is supported, for a person, in one line."""
        counts = (
            "?" if None in (self.prompt_tokens, self.completion_tokens) else f"{self.prompt_tokens} + {self.completion_tokens}"
        )
        parts = [
            f"schema by {self.schema_mode or '?'}{'' if self.fits else ' (the answer does not fit it)'}",
            f"log-probabilities {'yes' if self.logprobs else 'no'}",
            f"rate headers {'yes' if self.limits else 'no'}",
            f"thoughts {'apart' if self.thinks else 'none'}",
        ]
        if self.untaken:
            parts.append(f"not taken: {', '.join(self.untaken)}")
        if self.answered_by:
            parts.append(f"answered by {self.answered_by}")
        if self.finish_reason not in ("stop", "length"):
            parts.append(f"the answer ended by {self.finish_reason}")
        return f"{'; '.join(parts)} (one call, {counts} tokens)"


async def probe(model: LanguageModel) -> Supported:
    """Make one small call, or once more without log-probabilities where the server refuses them.

    Raises:
        CallError: the call fails.
    """
    try:
        completion = await model.generate(_ASKED, {**_OPTIONS, **_LOGPROBS}, _SCHEMA)
    except CallRejected as fault:
        if fault.hopeless or "logprobs" not in str(fault):
            raise
        completion = await model.generate(_ASKED, _OPTIONS, _SCHEMA)
    left: tuple[Allowance, ...] = model.allowances() if isinstance(model, TellsAllowances) else ()
    return Supported(
        schema_mode=model.schema_mode if isinstance(model, TellsSchemaMode) else "",
        fits=_fits(completion),
        logprobs=bool(completion.logprobs),
        untaken=_named(completion, NOT_SENT),
        thinks=bool(completion.reasoning),
        limits=bool(left),
        answered_by=", ".join(_named(completion, ANSWERED_BY)),
        finish_reason=completion.finish_reason,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
    )


def _fits(completion: Completion) -> bool:
    try:
        answer = msgspec.json.decode(completion.text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(answer, dict) and type(answer.get("score")) is int


def _named(completion: Completion, begin: str) -> tuple[str, ...]:
    return tuple(note.removeprefix(begin) for note in completion.notes if note.startswith(begin))
