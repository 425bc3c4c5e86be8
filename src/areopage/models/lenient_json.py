"""JSON of servers: what is whole is read as it is; of a reply with one broken field the rest is kept.

Gateways cut a text within a character, write NaN, or count tokens in words. The answer in such a reply is paid for.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import msgspec

T = TypeVar("T")

_SURROGATES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def decode_reply(content: bytes, into: type[T]) -> T:
    """Read a reply of a server.

    Args:
        content: JSON in UTF-8.
        into: the record to read; a field that is not as declared is left out where it has a default.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, RecursionError: it cannot be read.
    """
    try:
        return msgspec.json.decode(content, type=into)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = decode_any(content)
    try:
        return cast(T, _converted(value, into))
    except msgspec.ValidationError as error:
        raise msgspec.DecodeError(str(error)) from error


def decode_any(content: bytes) -> Any:
    """The value of a JSON text whose halves of characters are replaced, and that may hold NaN.

    Raises:
        msgspec.DecodeError: it is no JSON.
    """
    try:
        return whole_characters(json.loads(content.decode("utf-8", "replace")))
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


def _converted(value: Any, into: Any) -> Any:
    """A value as a type; of a record, a field that does not fit is left out where it has a default."""
    try:
        return msgspec.convert(value, into, strict=False)
    except msgspec.ValidationError:
        record = next((kind for kind in _kinds(into) if _is_record(kind)), None)
        items = next((kind for kind in _kinds(into) if get_origin(kind) is list), None)
        if record is not None and isinstance(value, dict):
            return record(**dict(_fields(value, record)))
        if items is not None and isinstance(value, list):
            return [_converted(item, get_args(items)[0]) for item in value]
        raise


def _fields(value: dict[str, Any], record: Any) -> Iterator[tuple[str, Any]]:
    for field in msgspec.structs.fields(record):
        if field.encode_name not in value:
            if field.required:
                raise msgspec.ValidationError(f"no field {field.encode_name!r}")
            continue
        try:
            yield field.name, _converted(value[field.encode_name], field.type)
        except msgspec.ValidationError:
            if field.required:
                raise


def _kinds(into: Any) -> tuple[Any, ...]:
    """The types that a declaration allows."""
    is_union = get_origin(into) is Union or type(into).__name__ == "UnionType"
    return get_args(into) if is_union else (into,)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
