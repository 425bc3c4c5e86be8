"""JSON whose texts may hold half of a character, as programs write it that cut texts without regard to UTF-16 pairs."""

import json
import re
from typing import Any

import msgspec

REPLACEMENT = "\ufffd"
_SURROGATES = re.compile("[\ud800-\udfff]")


def decode_any(content: bytes) -> Any:
    """The value of a JSON text whose halves of characters are replaced, and that may hold NaN.

    Raises:
        msgspec.DecodeError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return whole_characters(json.loads(content.decode("utf-8-sig", "replace")))
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from error


def whole_characters(value: Any) -> Any:
    """A JSON value whose texts hold U+FFFD in place of each half of a character."""
    if isinstance(value, str):
        return _SURROGATES.sub(REPLACEMENT, value)
    if isinstance(value, list):
        return [whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {whole_characters(name): whole_characters(item) for name, item in value.items()}
    return value
