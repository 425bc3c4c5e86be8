"""The port of batch services: calls that a provider makes within a day, at a lower price.

Every request but the one that creates a batch may be made again. Creation is asked for once: a batch that may have been created
is looked for at the provider.
"""

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Protocol

from msgspec import Struct

from areopage.errors import CallError, CallRejected, ModelError
from areopage.models.port import Completion, Message, Options, Schema

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""States in which a batch brings nothing more."""
TOO_MUCH_AT_ONCE = "token_limit_exceeded"
"""The code of a batch that was not begun because too many tokens wait already."""


class BatchState(Struct, frozen=True, kw_only=True):
    """A batch as its provider tells of it.

    Args:
        status: the provider's word, or that of OpenAI's protocol for it.
        codes: of the errors for which it was not begun; `message` is the first of them.
        files: the ids of the files with what it brought.
    """

    id: str
    status: str
    file_id: str = ""
    total: int = 0
    completed: int = 0
    failed: int = 0
    codes: tuple[str, ...] = ()
    message: str = ""
    files: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether it brings nothing more."""
        return self.status in ENDED


class BatchLine(Struct, frozen=True, kw_only=True):
    """What one call of a batch brought: the body of an answer, or the fault for which there is none.

    `key` is "" where the line cannot be read.
    """

    key: str
    reply: bytes = b""
    fault: CallError | None = None


class SearchedBatch(Struct, frozen=True, kw_only=True):
    """A batch that may have been created, as the ledger knows it.

    Args:
        file_id: of the file that it was created from; "" where there is none.
        since: when its creation was asked for, in seconds of the epoch.
        calls: how many it has.
    """

    token: str
    file_id: str
    since: float
    calls: int


class FoundBatches(Struct, frozen=True, kw_only=True):
    """What the provider's list shows of a batch.

    Args:
        certain: those that are the batch, oldest first.
        unsettled: how many may be it, and tell only when they have ended.
    """

    certain: tuple[BatchState, ...] = ()
    unsettled: int = 0


class BatchService(Protocol):
    """The batch service of one model's server."""

    most_calls: int
    """Calls of one batch, at most."""
    most_bytes: int
    """The size of one batch's file, at most."""
    fenced: bool
    """Whether `withdraw` keeps a request for creation that is still on its way from creating a batch."""

    def line(self, key: str, messages: Sequence[Message], options: Options, schema: Schema | None) -> bytes:
        """One call of a batch as a line of its file.

        Raises:
            CallRejected: the prompt does not fit into the model's window, or cannot be written as JSON.
        """
        ...

    def completion(self, line: BatchLine, messages: Sequence[Message], options: Options) -> Completion:
        """Read an answer.

        Raises:
            CallError: there is none.
        """
        ...

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from a rejected call; whether it is worth another batch."""
        ...

    async def check(self) -> None:
        """Make sure that the server has a batch service.

        Raises:
            ModelError: it has none.
        """
        ...

    async def upload(self, token: str, file: BinaryIO) -> str:
        """Upload the calls of a batch, which costs nothing; returns the file's id, "" where there are no files."""
        ...

    async def create(self, token: str, file_id: str, file: BinaryIO) -> BatchState:
        """Ask once for the creation of a batch.

        Raises:
            CallTimedOut, CallUnreachable: it may have been created all the same.
            CallRejected: it was not created.
        """
        ...

    async def withdraw(self, token: str) -> None:
        """Delete what was uploaded for a batch, so that it cannot be created any more; without files, do nothing."""
        ...

    async def find(self, searched: SearchedBatch) -> FoundBatches:
        """Look for a batch in the provider's list."""
        ...

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch."""
        ...

    async def results(self, file_id: str, file: BinaryIO) -> Iterator[BatchLine]:
        """Download what a batch brought into a file, and read it, in any order."""
        ...

    async def cancel(self, batch_id: str) -> BatchState:
        """Cancel a batch; what it has brought so far is kept."""
        ...

    async def discard(self, token: str, batch_id: str) -> None:
        """Delete the prompts of a batch whose results are stored."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


def path_part(id: str) -> str:
    """An id as a part of a path; a server's text does not decide where a request goes."""
    if not id or not all(char.isalnum() or char in "-_." for char in id) or set(id) <= {"."}:
        raise ModelError(f"the provider names a batch or a file by {id[:40]!r}, which is no id")
    return id
