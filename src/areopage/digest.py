"""A stable fingerprint of any value that JSON can hold."""

import hashlib
from typing import Any

import msgspec


def digest_of(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value's canonical JSON (keys sorted, no white space)."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()
