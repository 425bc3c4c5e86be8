"""Small GGUF files for tests: a header, and tensors of zeros."""

import struct
from collections.abc import Mapping


def text(value: str) -> bytes:
    """A text as the format writes it."""
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(values: Mapping[str, object], tensors: int = 0) -> bytes:
    """A file with these texts, whole numbers and lists of texts, and tensors of 64 numbers of 4 bytes."""
    parts = [b"GGUF", struct.pack("<IQQ", 3, tensors, len(values))]
    for name, value in values.items():
        parts.append(text(name))
        if isinstance(value, str):
            parts.append(struct.pack("<I", 8) + text(value))
        elif isinstance(value, int):
            parts.append(struct.pack("<II", 4, value))
        elif isinstance(value, list):
            parts.append(struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value)))
        else:
            raise TypeError(type(value))
    parts += [text(f"t{number}") + struct.pack("<IQIQ", 1, 64, 0, number * 256) for number in range(tensors)]
    header = b"".join(parts)
    return header + b"\0" * (-len(header) % 32) + b"\0" * (256 * tensors)
