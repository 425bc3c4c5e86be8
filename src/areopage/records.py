"""Records that are made from other records."""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

Record = TypeVar("Record", bound=Struct)


def record_from(kind: type[Record], record: Struct, **others: Any) -> Record:
    """A record with the values of another one in the fields of the same names; `others` are the remaining fields."""
    same = [name for name in kind.__struct_fields__ if name not in others]
    return kind(**{name: getattr(record, name) for name in same}, **others)


def plain_data(record: Struct) -> dict[str, Any]:
    """A record as JSON has it: objects, lists, texts, numbers; times in ISO 8601."""
    data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return data
