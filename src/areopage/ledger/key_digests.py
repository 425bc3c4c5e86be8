"""Digests of keys: 128 bits of each, in two arrays. Keys are hashes, or random: two of them never share both halves."""

from binascii import Error, hexlify, unhexlify

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.ledger.number_columns import Keys

Halves = NDArray[np.uint64]

_AT_ONCE = 4_096  # keys that are hashed together: few enough to stay in the processor's cache
_MIXED, _SUMMED = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
"""Odd numbers with irregular bits."""


class Digests(Struct, frozen=True):
    """The first and the second 64 bits of the digest of each key."""

    first: Halves
    second: Halves


def digests_of(keys: Keys) -> Digests:
    """The digests of keys, whatever the width of the array."""
    first, second = np.empty(len(keys), dtype=np.uint64), np.empty(len(keys), dtype=np.uint64)
    size = keys.dtype.itemsize
    for start in range(0, len(keys), _AT_ONCE):
        some = np.ascontiguousarray(keys[start : start + _AT_ONCE])
        words = np.zeros((len(some), -(-size // 8) * 8), dtype=np.uint8)
        words[:, :size] = some.view(np.uint8).reshape(len(some), size)
        mixed, summed, factor = np.zeros(len(some), dtype=np.uint64), np.zeros(len(some), dtype=np.uint64), 1
        for word in words.view(np.uint64).T:
            further = (mixed ^ word) * np.uint64(_MIXED)
            mixed = np.where(word == 0, mixed, further ^ (further >> np.uint64(29)))  # keys of any width of the array alike
            factor = factor * _SUMMED % 2**64
            summed += (word ^ (word >> np.uint64(31))) * np.uint64(factor)
        first[start : start + len(some)], second[start : start + len(some)] = mixed, summed
    return Digests(first, second)


class KeptKeys:
    """Keys that wait until they are looked up: two characters of a hash take one byte."""

    def __init__(self, keys: Keys) -> None:
        packed = _packed(keys)
        self._type, self._kept = keys.dtype, keys if packed is None else packed

    def whole(self) -> Keys:
        """The keys as they were."""
        return np.frombuffer(hexlify(self._kept), dtype=self._type) if isinstance(self._kept, bytes) else self._kept


def _packed(keys: Keys) -> bytes | None:
    """The bytes of keys in hexadecimal, all of one even length; None where they are not."""
    text = keys.tobytes()
    try:
        packed = unhexlify(text)
    except Error:
        return None
    return packed if keys.dtype.itemsize % 2 == 0 and hexlify(packed) == text else None
