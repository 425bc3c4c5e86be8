"""A stable fingerprint of any value that JSON can hold."""

import hashlib
import re
from typing import Any

import msgspec

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{32,}(?![0-9a-f])")
_SHOWN = 12  # characters of a digest


def digest_of(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value's canonical JSON (keys sorted, no white space)."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def short_digest(text: str) -> str:
    """What identifies a model, for display: digests in it are cut, an address is left whole."""
    return _DIGEST.sub(lambda found: found[0][:_SHOWN], text)
