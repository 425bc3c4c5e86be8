"""Atomic replacement of files."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from areopage.errors import StorageError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds.

    A new file is for its owner alone; one that is there keeps its permissions.
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
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if final.exists():
            temporary.chmod(stat.S_IMODE(final.stat().st_mode))
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
