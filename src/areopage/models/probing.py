"""One small call to a model, to see what it supports."""

from collections.abc import Mapping
from typing import Any

import msgspec

from areopage.errors import CallError, CallRejected, ModelError
from areopage.models.adapters import open_model
from areopage.models.batches import has_batches
from areopage.models.port import ANSWERED_BY, NOT_SENT, Message, Schema
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

_ASKED = (Message("system", "You answer with one JSON object."), Message("user", 'Give the JSON object {"score": 1}.'))
_SCHEMA: Schema = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 5}},
    "required": ["score"],
    "additionalProperties": False,
}
_OPTIONS: Mapping[str, Any] = {"temperature": 0.0, "seed": 1, "max_tokens": 512}  # room for the thoughts of a reasoning model
_LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 5}


async def probe_model(reference: ModelReference, settings: ModelSettings) -> str:
    """Make one small call to a model, and say in one line what it supports.

    Raises:
        ModelError: the call fails.
    """
    model = open_model(reference, settings)
    try:
        try:
            completion = await model.generate(_ASKED, {**_OPTIONS, **_LOGPROBS}, _SCHEMA)
        except CallRejected as fault:
            if fault.hopeless or "logprobs" not in str(fault):
                raise
            completion = await model.generate(_ASKED, _OPTIONS, _SCHEMA)
    except CallError as fault:
        raise ModelError(f"{reference}: one small call failed: {fault}") from fault
    finally:
        await model.aclose()
    mode, has_limits = getattr(model, "schema_mode", "?"), bool(getattr(model, "allowances", tuple)())
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
    for begin, label in ((NOT_SENT, "not taken: "), (ANSWERED_BY, "answered by ")):
        if names := [note.removeprefix(begin) for note in completion.notes if note.startswith(begin)]:
            parts.append(f"{label}{', '.join(names)}")
    if completion.finish_reason not in ("stop", "length"):
        parts.append(f"the answer ended by {completion.finish_reason}")
    prompts, answers = completion.prompt_tokens, completion.completion_tokens
    counts = "?" if prompts is None or answers is None else f"{prompts} + {answers}"
    batches = "batches by --batch" if has_batches(reference) else "no batches"
    return f"{'; '.join(parts)} (one call, {counts} tokens); {batches}"
