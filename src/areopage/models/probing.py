"""One small call to a model, to see what it supports."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from areopage.errors import CallRejected
from areopage.models.port import ANSWERED_BY, NOT_SENT, LanguageModel, Message, Schema
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


async def probe(model: LanguageModel) -> str:
    """Say in one line what a small call shows; without log-probabilities where the server refuses them."""
    try:
        completion = await model.generate(_ASKED, {**_OPTIONS, **_LOGPROBS}, _SCHEMA)
    except CallRejected as fault:
        if fault.hopeless or "logprobs" not in str(fault):
            raise
        completion = await model.generate(_ASKED, _OPTIONS, _SCHEMA)
    mode = model.schema_mode if isinstance(model, TellsSchemaMode) else "?"
    has_limits = isinstance(model, TellsAllowances) and bool(model.allowances())
    try:
        answer = msgspec.json.decode(completion.text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    fits = isinstance(answer, dict) and type(answer.get("score")) is int
    parts = [
        f"schema by {mode}{'' if fits else ' (the answer does not fit it)'}",
        f"log-probabilities {'yes' if completion.logprobs else 'no'}",
        f"rate headers {'yes' if has_limits else 'no'}",
        f"thoughts {'apart' if completion.reasoning else 'none'}",
    ]
    for begin, told in ((NOT_SENT, "not taken: "), (ANSWERED_BY, "answered by ")):
        if names := [note.removeprefix(begin) for note in completion.notes if note.startswith(begin)]:
            parts.append(f"{told}{', '.join(names)}")
    if completion.finish_reason not in ("stop", "length"):
        parts.append(f"the answer ended by {completion.finish_reason}")
    prompts, answers = completion.prompt_tokens, completion.completion_tokens
    counts = "?" if prompts is None or answers is None else f"{prompts} + {answers}"
    return f"{'; '.join(parts)} (one call, {counts} tokens)"
