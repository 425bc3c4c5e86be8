"""Read a spool: submit complete lines, store the position, remove files that have no writer.

A file `NAME.jsonl` belongs to one writer, who holds the lock `NAME.lock` as long as he lives and writes to it; the system
frees the lock of the dead. `NAME.offset` says how many bytes were taken over.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from areopage.errors import StorageError, SubmissionError
from areopage.file_lock import hold
from areopage.ledger import Answer
from areopage.monitor.hook.submission import checked

REJECTED = "rejected"
DRAIN_LIMIT = 5_000
BATCH_LINES = 500
BATCH_BYTES = 8_000_000

Deliver = Callable[[Sequence[Answer]], Sequence[Answer]]
"""Stores answers, and returns those that were refused."""
REFUSED = "another answer has its id"


class Drained(msgspec.Struct, frozen=True, kw_only=True):
    """The submissions and rejected lines of one pass over a spool."""

    taken: int = 0
    rejected: int = 0


def drain(folder: Path, deliver: Deliver, limit: int = DRAIN_LIMIT) -> Drained:
    """Submit the answers of a spool, about `limit` at most.

    A batch counts as taken over once `deliver` has returned; a crash before that is noted repeats it, which the ids make
    harmless. Only one process drains a folder at a time; for the others there is nothing to do.
    """
    if not folder.is_dir():
        return Drained()
    taken = rejected = 0
    with owned(folder / "drain.lock") as mine:
        try:
            for data in sorted(folder.glob("*.jsonl")) if mine else ():
                batch = _drain_file(data, deliver, limit - taken)
                taken, rejected = taken + batch.taken, rejected + batch.rejected
                if taken >= limit:
                    break
        except OSError as error:
            place, why = error.filename or folder, error.strerror or os.fspath(folder)
            raise StorageError(f"{place}: {why}: the spool cannot be read") from None
    return Drained(taken=taken, rejected=rejected)


def _drain_file(data: Path, deliver: Deliver, limit: int) -> Drained:
    """Take one writer's file over, and remove it where he has gone and everything is taken."""
    taken = rejected = 0
    # asked before reading: a writer that has gone by now writes nothing after what is read next
    with owned(data.with_suffix(".lock")) as abandoned:
        while taken < limit:
            batch = _next_batch(data, _read_offset(data))
            if batch is None:
                break
            submissions, bad, end = batch
            refused = deliver(submissions) if submissions else ()
            bad += [(msgspec.json.encode(answer), REFUSED) for answer in refused]
            _put_aside(data, bad)
            beside = data.with_suffix(".offset.new")  # a crash leaves the old note or the new one
            beside.write_text(str(end), encoding="ascii")
            beside.replace(data.with_suffix(".offset"))
            taken, rejected = taken + len(submissions), rejected + len(bad)
        else:
            return Drained(taken=taken, rejected=rejected)
        if abandoned:
            tail = data.read_bytes()[_read_offset(data) :]
            if tail:
                _put_aside(data, [(tail, "the line is cut: its writer died while writing it")])
                rejected += 1
            data.unlink()
            data.with_suffix(".offset").unlink(missing_ok=True)
    if abandoned:
        data.with_suffix(".lock").unlink(missing_ok=True)
    return Drained(taken=taken, rejected=rejected)


def _next_batch(data: Path, offset: int) -> tuple[list[Answer], list[tuple[bytes, str]], int] | None:
    """The answers of the complete lines from an offset on, up to a batch, the unreadable lines with reasons, and the next offset.

    None where there is no complete line (yet).
    """
    submissions: list[Answer] = []
    bad: list[tuple[bytes, str]] = []
    end = offset
    with data.open("rb") as stream:
        stream.seek(offset)
        for line in stream:
            if not line.endswith(b"\n"):
                break
            end += len(line)
            try:
                submissions.append(checked(msgspec.json.decode(line, type=Answer)))
            except (msgspec.DecodeError, UnicodeError, RecursionError, SubmissionError) as fault:
                bad.append((line, str(fault)))
            if len(submissions) + len(bad) >= BATCH_LINES or end - offset >= BATCH_BYTES:
                break
    return (submissions, bad, end) if end > offset else None


def _put_aside(data: Path, bad: Sequence[tuple[bytes, str]]) -> None:
    """Keep lines that cannot be submitted, each with the reason."""
    if bad:
        folder = data.parent / REJECTED
        folder.mkdir(mode=0o700, exist_ok=True)
        with (folder / data.name).open("ab") as stream:
            for line, reason in bad:
                stream.write(msgspec.json.encode({"reason": reason, "line": line.decode(errors="replace")}) + b"\n")


def rejected_lines(folder: Path) -> int:
    """Count the rejected lines of a spool."""
    return sum(file.read_bytes().count(b"\n") for file in rejected_files(folder))


def rejected_files(folder: Path) -> list[Path]:
    """The files of rejected lines."""
    return sorted((folder / REJECTED).glob("*.jsonl"))


def waiting_bytes(folder: Path) -> int:
    """Count the bytes of a spool that are not submitted yet."""
    return sum(max(0, data.stat().st_size - _read_offset(data)) for data in folder.glob("*.jsonl"))


def _read_offset(data: Path) -> int:
    try:
        return int(data.with_suffix(".offset").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return 0


@contextmanager
def owned(path: Path) -> Iterator[bool]:
    """Whether a lock is free; the lock is held during the block."""
    try:
        lock = hold(path)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}: name a folder of yours as spool") from None
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)
