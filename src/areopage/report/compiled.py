"""Compiled templates, kept beside the compiled modules of the package: compiling them takes longer than a report."""

import sys
from contextlib import suppress
from pathlib import Path

from jinja2 import compiler
from jinja2.bccache import Bucket, FileSystemBytecodeCache

from areopage.kept import KEPT


class CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates, each used as long as its text, Python and the compiler of Jinja are the same.

    They are kept where `areopage.kept` says.
    """

    def __init__(self, language: str) -> None:
        """Args:
        language: of the filters, which are applied to constants when a template is compiled.
        """
        made = Path(compiler.__file__).stat()
        version = f"{sys.implementation.cache_tag}-{made.st_size:x}-{made.st_mtime_ns:x}"
        super().__init__(str(KEPT), f"%s.{language}.{version}.jinja")

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            KEPT.mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)
