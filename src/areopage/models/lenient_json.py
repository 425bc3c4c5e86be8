"""JSON of servers: what is whole is read as it is; of a reply with one broken field the rest is kept; a stream is joined.

Gateways cut a text within a character, write NaN, or count tokens in words. The answer in such a reply is paid for.
"""

from typing import Any, TypeVar, Union, cast, get_args, get_origin

import msgspec

from areopage.models.streamed import joined_stream
from areopage.text import decode_any

T = TypeVar("T")


def decode_reply(content: bytes, into: type[T]) -> T:
    """Read a reply of a server."""
    try:
        return msgspec.json.decode(content, type=into)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _decoded(content)
    try:
        return cast(T, _converted(value, into))
    except msgspec.ValidationError as error:
        raise msgspec.DecodeError(str(error)) from error


def _decoded(content: bytes) -> Any:
    try:
        return decode_any(content)
    except msgspec.DecodeError:
        if (joined := joined_stream(content)) is None:
            raise
        return joined


def _converted(value: Any, into: Any) -> Any:
    """A value as a type; of a record, a field that does not fit is left out where it has a default."""
    try:
        return msgspec.convert(value, into, strict=False)
    except msgspec.ValidationError:
        is_union = get_origin(into) is Union or type(into).__name__ == "UnionType"
        kinds = get_args(into) if is_union else (into,)
        record = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)), None)
        items = next((kind for kind in kinds if get_origin(kind) is list), None)
        if items is not None and isinstance(value, list):
            return [_converted(item, get_args(items)[0]) for item in value]
        if record is None or not isinstance(value, dict):
            raise
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(record):
        try:
            if field.encode_name not in value:
                raise msgspec.ValidationError(f"no field {field.encode_name!r}")
            fields[field.name] = _converted(value[field.encode_name], field.type)
        except msgspec.ValidationError:
            if field.required:
                raise
    return record(**fields)
