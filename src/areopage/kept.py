"""What is read from data files of the package, kept beside its compiled modules: reading YAML takes longer than a report.

Nothing is kept where Python keeps no compiled modules: where it is told so, or may not write beside the package.
"""

import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")

PACKAGE = Path(__file__).parent
KEPT = Path(cache_from_source(__file__)).parent
"""The folder of what is kept."""


def kept_file(path: Path, text: bytes, form: type[T], read: Callable[[], T]) -> T:
    """What a file holds; one of the package is read once for all processes. See `kept`."""
    if PACKAGE not in path.parents:
        return read()
    return kept(".".join(path.relative_to(PACKAGE).parts), text, form, read)


def kept(name: str, text: bytes, form: type[T], read: Callable[[], T]) -> T:
    """What is made of a text, once for all processes as long as the text stays the same.

    Args:
        name: of what is made.
        text: all that it depends on.
        form: its type; a value that msgspec would return as another one is not kept.
        read: makes it.
    """
    place = KEPT / f"{name}.{sys.implementation.cache_tag}"
    digest = blake2b(text, digest_size=16).digest()
    with suppress(OSError, msgspec.MsgspecError):
        content = place.read_bytes()
        if content.startswith(digest):
            return msgspec.msgpack.decode(content[len(digest) :], type=form)
    value = read()
    with suppress(TypeError, OverflowError, msgspec.MsgspecError):
        encoded = msgspec.msgpack.encode(value)
        if msgspec.msgpack.decode(encoded, type=form) == value:
            keep(place, digest + encoded)
    return value


def keep(place: Path, content: bytes) -> None:
    """Write a file where it may be written: as a whole, since other processes may read it at any moment."""
    if sys.dont_write_bytecode:
        return
    begun = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            begun.write_bytes(content)
            begun.replace(place)
        finally:
            begun.unlink(missing_ok=True)
