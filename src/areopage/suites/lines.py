"""JSON Lines files of a suite whose lines are of one type."""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from areopage.errors import DatasetError

_MAX_BYTES = 50_000_000

_Line = TypeVar("_Line")


def typed_lines(path: Path, kind: type[_Line]) -> Iterator[tuple[int, _Line]]:
    """Yield each line of a file with its number; blank lines are passed over.

    A byte order mark is allowed. Only a line feed ends a line: JSON texts may hold other separators.

    Raises:
        DatasetError: the file is larger than 50 MB, or a line is not UTF-8 or not of this type.
    """
    if path.stat().st_size > _MAX_BYTES:
        raise DatasetError(f"{path}: larger than {_MAX_BYTES:,} bytes")
    for number, line in enumerate(path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            line.decode()
            yield number, msgspec.json.decode(line, type=kind)
        except UnicodeDecodeError:
            raise DatasetError(f"{path}:{number}: the text is not UTF-8: save the file as UTF-8") from None
        except (msgspec.DecodeError, RecursionError) as fault:
            raise DatasetError(f"{path}:{number}: {fault}") from None
