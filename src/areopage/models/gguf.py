"""The header of a GGUF file: what kind of model it holds, and whether the file is whole.

The file may come from a stranger. It is read piece by piece, and no length in it is believed that leads out of it. The format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from os import SEEK_CUR
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from areopage.errors import ModelError

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_DIMENSIONS = 8
_LONGEST_VALUE = 1 << 20  # bytes of a text that is read; chat templates have some ten thousand
_SHORT = 4096  # bytes
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
# Bytes of a block of weights and the weights in it, by the number of the type (ggml.h); sizes of other types are not checked.
_BLOCKS = {
    0: (4, 1), 1: (2, 1), 2: (18, 32), 3: (20, 32), 6: (22, 32), 7: (24, 32), 8: (34, 32), 10: (84, 256), 11: (110, 256),
    12: (144, 256), 13: (176, 256), 14: (210, 256), 15: (292, 256), 16: (66, 256), 17: (74, 256), 18: (98, 256), 19: (50, 256),
    20: (18, 32), 21: (110, 256), 22: (82, 256), 23: (136, 256), 24: (1, 1), 25: (2, 1), 26: (4, 1), 27: (8, 1), 28: (8, 1),
    29: (56, 256), 30: (2, 1), 34: (54, 256), 35: (66, 256), 39: (17, 32),
}  # fmt: skip
# Architectures that write no text: they embed texts, or see for another model.
_NO_WRITERS = ("bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "modern-bert", "gemma-embedding", "clip")


class Header(Struct, frozen=True, kw_only=True):
    """What the header says of a model; `context_length` is the number of tokens it was trained with, None where it is silent."""

    architecture: str
    context_length: int | None


class _Damaged(Exception):
    """The header cannot be read further; the text says why."""


def read_header(path: Path) -> Header:
    """Read the header of a model that is to chat.

    Raises:
        ModelError: the file is no GGUF file, is damaged or cut, or holds something else than a whole model for chats.
    """
    try:
        with path.open("rb") as file:
            values = _Reader(file, path.stat().st_size).values()
    except _Damaged as fault:
        raise ModelError(f"{path} {fault}") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    architecture, kind = str(values.get("general.architecture")), str(values.get("general.type", "model"))
    parts, length = values.get("split.count"), values.get(f"{architecture}.context_length")
    if type(parts) is int and parts > 1:
        raise ModelError(f"{path} is one part of a split model: join the parts with llama-gguf-split --merge and name that file")
    if kind != "model" or architecture in _NO_WRITERS:
        what = kind if kind != "model" else architecture
        raise ModelError(f"{path} holds {what[:40]!r}, which writes no text: name a GGUF file of a chat model")
    if not values.get("tokenizer.chat_template"):
        raise ModelError(f"{path} has no chat template: name a GGUF file of a chat model (often called -instruct or -it)")
    return Header(architecture=architecture, context_length=length if type(length) is int and length > 0 else None)


class _Reader:
    """Reads a header front to back."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self._size = size

    def values(self) -> dict[str, Any]:
        """The numbers and texts of the header by name; lists are passed over, and the weights are checked to lie in the file."""
        if self._take(min(len(MAGIC), self._left)) != MAGIC:
            raise _Damaged("is not a GGUF file")
        version = self._number("I")
        if version not in _VERSIONS:
            raise _Damaged(f"is a GGUF file of version {version}: only versions 2 and 3 are read")
        tensors, count = self._number("Q"), self._number("Q")
        values: dict[str, Any] = {}
        for _ in range(self._bounded(count, 12)):
            name = self._text()
            values[name] = self._value(self._number("I"))
        self._check_tensors(self._bounded(tensors, 24), values.get("general.alignment", 32))
        return values

    def _check_tensors(self, count: int, alignment: object) -> None:
        ends = [self._tensor_end() for _ in range(count)]
        if type(alignment) is not int or alignment < 1:
            raise _Damaged(f"is damaged: its alignment is {alignment!r}")
        end = -(-(self._size - self._left) // alignment) * alignment + max(ends, default=0)
        if end > self._size:
            raise _Damaged(f"is cut: it has {self._size:,} bytes and needs {end:,}; fetch it again")

    def _tensor_end(self) -> int:
        """Where a tensor ends, counted from the beginning of the weights."""
        self._text()
        dimensions = self._number("I")
        if dimensions > _MOST_DIMENSIONS:
            raise _Damaged(f"is damaged: a tensor has {dimensions} dimensions")
        weights = 1
        for _ in range(dimensions):
            weights *= self._number("Q")
        block = _BLOCKS.get(self._number("I"), (0, 1))
        return self._number("Q") + weights // block[1] * block[0]

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            self._pass_list()
            return None
        return self._number(self._code(kind))

    def _pass_list(self) -> None:
        kind, count = self._number("I"), self._number("Q")
        if kind == _STRING:
            for _ in range(self._bounded(count, 8)):
                self._skip(int.from_bytes(self._take(8), "little"))
        else:
            self._skip(count * struct.calcsize(self._code(kind)))

    def _code(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise _Damaged(f"is damaged: no GGUF value is of type {kind}")
        return _NUMBERS[kind]

    def _number(self, code: str) -> int:
        return struct.unpack(f"<{code}", self._take(struct.calcsize(f"<{code}")))[0]  # type: ignore[no-any-return]

    def _text(self) -> str:
        length = self._number("Q")
        if length > _LONGEST_VALUE:
            self._skip(length)
            return ""
        return self._take(length).decode("utf-8", "replace")

    def _take(self, length: int) -> bytes:
        data = self._file.read(self._bounded(length, 1))
        if len(data) < length:
            raise _Damaged("was cut while it was read")
        self._left -= length
        return data

    def _skip(self, length: int) -> None:
        if length < _SHORT:  # a seek would drop the buffer
            self._take(length)
            return
        self._file.seek(self._bounded(length, 1), SEEK_CUR)
        self._left -= length

    def _bounded(self, count: int, least: int) -> int:
        """A count of things of which each has at least so many bytes."""
        if count * least > self._left:
            raise _Damaged("is cut within its header, or damaged: fetch it again")
        return count
