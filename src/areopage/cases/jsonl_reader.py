"""Read JSON Lines object by object, in memory that does not grow with the file."""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from areopage.cases.rows import MAX_RECORD, BadRow, Row, clip, is_deep
from areopage.cases.text_encoding import refuse_binary
from areopage.errors import DatasetError

_DECODER = msgspec.json.Decoder()


def read_jsonl(path: Path) -> Iterator[Row | BadRow]:
    """Yield one row per line; a row's number is its line's. Blank lines are passed over.

    Raises:
        DatasetError: the file is not text, or a line is longer than `MAX_RECORD` bytes.
    """
    refuse_binary(path)
    number = 0
    with path.open("rb") as stream:
        while line := stream.readline(MAX_RECORD + 1):
            number += 1
            if len(line) > MAX_RECORD:
                raise DatasetError(f"{path}: line {number} is longer than {MAX_RECORD:,} bytes: write one object per line")
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            if line.strip():
                yield _read_line(number, line)


def _read_line(number: int, line: bytes) -> Row | BadRow:
    try:
        value: Any = _DECODER.decode(line)
    except UnicodeDecodeError:
        reason = "the line is not UTF-8"
    except msgspec.DecodeError as fault:
        reason = f"not valid JSON: {fault}"
    except RecursionError:
        reason = "the JSON is nested too deeply"
    else:
        if isinstance(value, dict) and not is_deep(value):
            return Row(number, tuple(value), tuple(value.values()))
        reason = "the JSON is nested too deeply" if isinstance(value, dict) else "the line is not a JSON object"
    return BadRow(number, reason, clip(line.decode("utf-8", "replace").strip()))
