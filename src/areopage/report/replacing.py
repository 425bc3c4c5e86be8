"""Atomic replacement of files."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from areopage.errors import StorageError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds.

    What is there and is no ordinary file (a pipe, a device) cannot be replaced: it is written to as it is.

    Raises:
        StorageError: the file cannot be written; what stood at `path` still stands there.
    """
    temporary: Path | None = None
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        final = path.resolve()
        temporary = final.with_name(f".{secrets.token_hex(6)}.tmp")
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())  # some disks are full only now
        temporary.replace(final)
    except OSError as fault:
        raise StorageError(f"{path} cannot be written: {fault.strerror or fault}") from fault
    finally:
        if temporary is not None:
            _discard(temporary)


def _discard(path: Path) -> None:
    """Remove what is left of a file; nothing is said where that fails, since what led here has been said."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
