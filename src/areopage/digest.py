"""A stable fingerprint of any value that JSON can hold."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{32,}(?![0-9a-f])")
_SHOWN = 12  # characters of a digest


def digest_of(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value's canonical JSON (keys sorted, no white space)."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def digest_of_list(values: Iterable[Any]) -> str:
    """What `digest_of` gives for a list, without its JSON in memory: an iterator among the values stands for a list."""
    hashed = hashlib.sha256()
    for part in _json_parts(values):
        hashed.update(part)
    return hashed.hexdigest()


def _json_parts(values: Iterable[Any]) -> Iterator[bytes]:
    mark = b"["
    for value in values:
        yield mark
        mark = b","
        if isinstance(value, Iterator):
            yield from _json_parts(value)
        else:
            yield msgspec.json.encode(value, order="deterministic")
    yield b"]" if mark == b"," else b"[]"


def short_digest(text: str) -> str:
    """What identifies a model, for display: digests in it are cut, an address is left whole."""
    return _DIGEST.sub(lambda match: match[0][:_SHOWN], text)
