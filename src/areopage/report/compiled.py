"""Compiled templates, kept beside the compiled modules of the package: compiling them takes longer than a report."""

import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from jinja2 import compiler
from jinja2.bccache import Bucket, BytecodeCache

from areopage.kept import KEPT, keep

_DIGEST = 16  # bytes


class CompiledTemplates(BytecodeCache):
    """Compiled templates, each used as long as its text, Python and the compiler of Jinja are the same; see `areopage.kept`."""

    def __init__(self, language: str) -> None:
        """Args:
        language: of the filters, which are applied to constants when a template is compiled.
        """
        made = Path(compiler.__file__).stat()
        self._ending = f"{language}.{sys.implementation.cache_tag}-{made.st_size:x}-{made.st_mtime_ns:x}.jinja"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket, unless what is kept was made of another text."""
        with suppress(OSError):
            content = self._place(bucket).read_bytes()
            if content[:_DIGEST] == _digest_of(content[_DIGEST:]):
                bucket.bytecode_from_string(content[_DIGEST:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        content = bucket.bytecode_to_string()
        keep(self._place(bucket), _digest_of(content) + content)

    def _place(self, bucket: Bucket) -> Path:
        return KEPT / f"{bucket.key}.{self._ending}"


def _digest_of(content: bytes) -> bytes:
    """By which a file that is broken is told."""
    return blake2b(content, digest_size=_DIGEST).digest()
