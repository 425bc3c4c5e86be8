"""The header of a GGUF file: what kind of model it holds, and whether the file is whole.

The file may come from a stranger: no length in it is believed that leads out of the file, and long lists are passed over.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFValueType

from areopage.errors import ModelError

MAGIC = b"GGUF"
_MOST_PARTS = 100_000  # values or tensors; the largest models have some thousand
_LONGEST_TEXT = 1 << 20  # bytes; chat templates have some ten thousand
# Architectures that write no text: they embed texts, or see for another model.
_NO_WRITERS = ("bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "modern-bert", "gemma-embedding", "clip")


def read_context_length(path: Path) -> int | None:
    """The tokens that a model was trained with, None where its header is silent; a file that cannot chat is a ModelError."""
    values = _values(path)
    architecture, kind = str(values.get("general.architecture")), str(values.get("general.type", "model"))
    parts, length = values.get("split.count"), values.get(f"{architecture}.context_length")
    if type(parts) is int and parts > 1:
        raise ModelError(f"{path} is one part of a split model: join the parts with llama-gguf-split --merge and name that file")
    if kind != "model" or architecture in _NO_WRITERS:
        what = kind if kind != "model" else architecture
        raise ModelError(f"{path} holds {what[:40]!r}, which writes no text: name a GGUF file of a chat model")
    if not values.get("tokenizer.chat_template"):
        raise ModelError(f"{path} has no chat template: name a GGUF file of a chat model (often called -instruct or -it)")
    return length if type(length) is int and length > 0 else None


def _values(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            start = file.read(24)
        if start[:4] != MAGIC:
            raise ModelError(f"{path} is not a GGUF file")
        _, tensors, values = struct.unpack("<4xIQQ", start)
        if max(tensors, values) > _MOST_PARTS:
            raise ValueError(f"{tensors:,} tensors and {values:,} values")
        with np.errstate(all="raise"):
            fields = _BoundedReader(path).fields.values()
            return {field.name: field.contents() for field in fields if field.types != [GGUFValueType.ARRAY]}
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    except (ArithmeticError, LookupError, TypeError, ValueError, struct.error) as error:
        raise ModelError(f"{path} is cut or damaged ({str(error)[:200]!r}): fetch it again") from None


class _BoundedReader(GGUFReader):  # type: ignore[misc]
    """The reader of the format's authors, within limits.

    Theirs reads on behind the end of a file, and takes seconds for the lists of a vocabulary.
    """

    def _get(self, offset: int, dtype: Any, count: int = 1, override_order: Any = None) -> Any:
        self._check_end(offset + np.dtype(dtype).itemsize * int(count))
        return super()._get(offset, dtype, count, override_order)

    def _get_str(self, offset: int) -> Any:
        length, text = super()._get_str(offset)
        if len(text) > _LONGEST_TEXT:
            raise ValueError(f"a text of {len(text):,} bytes")
        return length, text

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:
        if raw_type != GGUFValueType.ARRAY:
            return super()._get_field_parts(orig_offs, raw_type)
        kind, count = GGUFValueType(self._get(orig_offs, np.uint32)[0]), int(self._get(orig_offs + 4, np.uint64)[0])
        end = orig_offs + 12
        if kind == GGUFValueType.STRING:
            self._check_end(end + 8 * count)  # each text has 8 bytes at least
            for _ in range(count):
                end += 8 + int.from_bytes(self.data[end : end + 8].tobytes(), "little")
        elif kind in self.gguf_scalar_to_np:
            end += count * np.dtype(self.gguf_scalar_to_np[kind]).itemsize
        else:
            raise ValueError(f"a list of {kind.name}")
        self._check_end(end)
        return end - orig_offs, [], [], [GGUFValueType.ARRAY]

    def _check_end(self, end: int) -> None:
        if end > len(self.data):
            raise ValueError(f"it has {len(self.data):,} bytes and needs {end:,}")
