"""What goes to llama.cpp's chat and what comes back: plain data in, a `Completion` out."""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from areopage.errors import CallRejected, ModelError
from areopage.models import Completion, Message, OpenAIReply, Options, Schema, read_logprobs, sent, text_of

DEFAULT_N_CTX = 4096  # tokens
DEFAULT_MAX_TOKENS = 512  # a small model may never stop
MAX_STRING = 320  # characters of a string that a schema leaves open
MAX_ITEMS = 2  # items of a list that a schema leaves open
# Other names of llama.cpp's options, so that a judge can be moved here from another provider.
_ALIASES = {"num_ctx": "n_ctx", "num_thread": "n_threads", "num_predict": "max_tokens", "n_predict": "max_tokens"}
# Options of other providers that say how a server uses its machine: they change no answer.
_MACHINE_OPTIONS = frozenset({"keep_alive", "main_gpu", "num_gpu", "num_batch"})
_SAMPLING = frozenset(
    [
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "typical_p",
        "seed",
        "repeat_penalty",
        "repeat_last_n",
        "presence_penalty",
        "frequency_penalty",
        "stop",
        "max_tokens",
        "logprobs",
        "top_logprobs",
        "cache_prompt",
    ]
)


class Loading(Struct, frozen=True, kw_only=True):
    """How a model is loaded: the length of its context in tokens, and how many threads compute."""

    n_ctx: int
    n_threads: int


class _LlamaFault(Struct, frozen=True):
    """What llama.cpp says when it will not answer; the last two only where the prompt is too long."""

    message: str = "no reason given"
    code: int = 400
    n_prompt_tokens: int | None = None
    n_ctx: int | None = None


def chat_request(messages: Sequence[Message], options: Options, trained: int | None = None) -> tuple[Loading, dict[str, Any]]:
    """How the model must be loaded for a call, and the request to make of it, but for what its schema demands."""
    named = {_ALIASES.get(name, name): value for name, value in options.items() if name not in _MACHINE_OPTIONS}
    n_ctx = _whole("n_ctx", named.pop("n_ctx", usual_context(trained)))
    if trained is not None and n_ctx > trained:
        raise ModelError(f"option n_ctx of an embedded model is {n_ctx}: this model was trained with {trained} tokens at most")
    # Half of the processors that this process may use, often the cores: a thread that waits for a busy processor holds all others
    # up at every token.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    loading = Loading(n_ctx=n_ctx, n_threads=_whole("n_threads", named.pop("n_threads", max(1, usable // 2))))
    unknown = sorted(set(named) - _SAMPLING)
    if unknown:
        raise ModelError(
            f"unknown option {unknown[0]!r} of an embedded model: use n_ctx, n_threads, {', '.join(sorted(_SAMPLING))}"
        )
    request = {
        "messages": sent(messages),
        "max_tokens": DEFAULT_MAX_TOKENS,
        # What llama.cpp keeps of the last prompt changes the last digits of the next answer.
        "cache_prompt": False,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return loading, request | named


def usual_context(trained: int | None) -> int:
    """The context of a call that asks for none, in tokens."""
    return min(DEFAULT_N_CTX, trained or DEFAULT_N_CTX)


def _whole(name: str, value: object) -> int:
    if type(value) is not int or value < 1:
        raise ModelError(f"option {name} of an embedded model is {value!r}: write a whole number above 0")
    return value


def terse_schema(schema: Schema) -> dict[str, Any]:
    """A stricter JSON schema that makes a small model come to an end: what fits it fits the one that was asked for.

    Strings without a limit get one (320 characters, 160 inside a list), lists too (2 items), and no free white space is left
    between values: small models repeat themselves, and fill pages with white space, where a grammar lets them.
    """
    separators = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return {**_bounded(schema, MAX_STRING), "x-guidance": separators}


def _bounded(schema: Schema, length: int) -> dict[str, Any]:
    """The schema with limits on its strings and lists, where it has none, down through properties and items."""
    if schema.get("type") == "string" and not {"maxLength", "enum", "const", "pattern", "format"} & set(schema):
        return {**schema, "maxLength": max(length, schema.get("minLength", 0))}
    if schema.get("type") == "array" and isinstance(schema.get("items"), Mapping):
        most = {"maxItems": max(MAX_ITEMS, schema.get("minItems", 0))} | dict(schema)
        return {**most, "items": _bounded(schema["items"], length // 2)}
    if isinstance(schema.get("properties"), Mapping):
        return {**schema, "properties": {name: _bounded(inner, length) for name, inner in schema["properties"].items()}}
    return dict(schema)


def read_chunks(chunks: Sequence[Mapping[str, Any]], seconds: float, asked: str) -> Completion:
    """Put the pieces of a streamed answer together."""
    read = msgspec.convert(chunks, list[OpenAIReply])
    for chunk in read:
        if chunk.error is not None:
            fault = msgspec.convert(chunk.error, _LlamaFault)
            reason = fault.message
            if fault.n_prompt_tokens is not None and fault.n_ctx is not None:
                sizes = f"the prompt has {fault.n_prompt_tokens} tokens and the context holds {fault.n_ctx}"
                reason = f"{sizes}: raise the option n_ctx or shorten the case"
            raise CallRejected(f"{asked}: {reason}", status=fault.code)
    choices = [choice for chunk in read for choice in chunk.choices or () if choice is not None]
    tokens = [choice.logprobs.get("content") or () for choice in choices if isinstance(choice.logprobs, dict)]
    usage = next((chunk.usage for chunk in reversed(read) if chunk.usage), None)
    return Completion(
        text="".join(text_of(choice.delta) for choice in choices if choice.delta is not None),
        finish_reason=next((choice.finish_reason for choice in reversed(choices) if choice.finish_reason), "stop"),
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        seconds=seconds,
        logprobs=read_logprobs([*chain.from_iterable(tokens)]),
    )
