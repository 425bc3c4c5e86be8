"""Batch services: calls that a provider makes within a day, at a lower price.

Every request but the one that creates a batch may be made again. Creation is asked for once: a batch that may have been created
is looked for at the provider.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from areopage.errors import CallError, CallRejected, ModelError
from areopage.extensions import imported
from areopage.models.adapters import open_model
from areopage.models.http import MAX_RESPONSE_BYTES, Query
from areopage.models.json_chat import ChatModel
from areopage.models.port import Completion, Message, Options, Schema
from areopage.models.reference import ModelReference
from areopage.models.retry import Calls
from areopage.models.settings import ModelSettings

_SERVICES = {
    "openai": "areopage.models.openai_batches:OpenAIBatches",
    "anthropic": "areopage.models.anthropic_batches:AnthropicBatches",
}
BATCH_PROVIDERS = tuple(_SERVICES)
"""Providers whose protocol has a batch service."""
MOST_RESULT_BYTES = 4_000_000_000
_NO_SERVICE = (400, 404, 405, 501)
_LONGEST_TRANSFER = 3_600.0  # seconds for a file
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


class BatchService(ABC):
    """The batch service of one model's server."""

    most_calls: ClassVar[int]
    """Calls of one batch, at most."""
    most_bytes: ClassVar[int]
    """The size of one batch's file, at most."""
    fenced: ClassVar[bool]
    """Whether `withdraw` keeps a request for creation that is still on its way from creating a batch."""
    path: ClassVar[str]
    """Where batches are."""
    batch_type: ClassVar[type[Any]]
    list_type: ClassVar[type[Any]]
    line_type: ClassVar[type[Any]]
    after: ClassVar[str]
    """The name of what a list goes on behind."""

    def __init__(self, model: ChatModel[Any], calls: Calls) -> None:
        self._model, self._server, self._calls = model, model.server.http, calls

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from a rejected call; whether it is worth another batch."""
        return self._model.learn(fault, options)

    def completion(self, line: BatchLine, messages: Sequence[Message], options: Options) -> Completion:
        """Read an answer."""
        if line.fault is not None:
            raise line.fault
        return self._model.read(line.reply, messages, options)

    async def check(self) -> None:
        """Make sure that the server has a batch service."""
        try:
            await self._calls.make(lambda: self._server.ask(self.path, [("limit", "1")], self.list_type))
        except CallRejected as fault:
            if fault.status in _NO_SERVICE:
                raise ModelError(f"{self._server.address} has no batch service ({fault}): leave out --batch") from fault
            raise

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch."""
        path = f"{self.path}/{path_part(batch_id)}"
        return self._state_of(await self._calls.make(lambda: self._server.get(path, self.batch_type)))

    async def cancel(self, batch_id: str) -> BatchState:
        """Cancel a batch; what it has brought so far is kept."""
        path = f"{self.path}/{path_part(batch_id)}/cancel"
        return self._state_of(await self._calls.make(lambda: self._server.post(path, {}, self.batch_type)))

    async def results(self, file_id: str, file: BinaryIO) -> Iterator[BatchLine]:
        """Download what a batch brought into a file, and read it, in any order."""
        path = self._results_path(file_id)
        await self._calls.make(lambda: self._server.download(path, file, MOST_RESULT_BYTES))
        return self._lines(path, file)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._model.aclose()

    # --- what differs from provider to provider

    @abstractmethod
    def line(self, key: str, messages: Sequence[Message], options: Options, schema: Schema | None) -> bytes:
        """One call of a batch as a line of its file.

        Raises:
            CallRejected: the prompt does not fit into the model's window, or cannot be written as JSON.
        """

    @abstractmethod
    async def upload(self, token: str, file: BinaryIO) -> str:
        """Upload the calls of a batch, which costs nothing; returns the file's id, "" where there are no files."""

    @abstractmethod
    async def create(self, token: str, file_id: str, file: BinaryIO) -> BatchState:
        """Ask once for the creation of a batch.

        Raises:
            CallTimedOut, CallUnreachable: it may have been created all the same.
            CallRejected: it was not created.
        """

    @abstractmethod
    async def withdraw(self, token: str) -> None:
        """Delete what was uploaded for a batch, so that it cannot be created any more; without files, do nothing."""

    @abstractmethod
    async def find(self, searched: SearchedBatch) -> FoundBatches:
        """Look for a batch in the provider's list."""

    @abstractmethod
    async def discard(self, token: str, batch_id: str) -> None:
        """Delete the prompts of a batch whose results are stored."""

    @abstractmethod
    def _state_of(self, batch: Any) -> BatchState:
        """A batch of the provider, in the words of OpenAI's protocol."""

    @abstractmethod
    def _results_path(self, file_id: str) -> str:
        """Where a file of results is."""

    @abstractmethod
    def _read_line(self, path: str, line: Any) -> BatchLine:
        """What a line of results says."""

    # --- their common tools

    def _encoded(self, content: Any) -> bytes:
        try:
            return msgspec.json.encode(content)
        except (TypeError, ValueError) as error:
            raise CallRejected(f"{self._model.reference}: the request cannot be written as JSON") from error

    def _lines(self, path: str, file: BinaryIO) -> Iterator[BatchLine]:
        file.seek(0)
        while text := file.readline(MAX_RESPONSE_BYTES):
            try:
                line = msgspec.json.decode(text, type=self.line_type)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield BatchLine(key="", fault=self._server.fault(path, 200, "a line is not the JSON expected"))
                continue
            yield self._read_line(path, line)

    async def _pages(self, path: str, query: Query, into: type[Any]) -> AsyncIterator[Sequence[Any]]:
        seen, last = set[str](), ""
        while True:
            asked = [*query, *([(self.after, last)] if last else [])]
            page = await self._calls.make(lambda asked=asked: self._server.ask(path, asked, into))  # type: ignore[misc]
            items = page.data or []
            yield items
            if not page.has_more or not items or items[-1].id in seen:
                return
            last = items[-1].id
            seen.add(last)

    async def _delete(self, path: str) -> None:
        try:
            await self._calls.make(lambda: self._server.delete(path, msgspec.Raw))
        except CallRejected as fault:
            if fault.status != 404:
                raise


def path_part(id: str) -> str:
    """An id as a part of a path; a server's text does not decide where a request goes."""
    if not id or not all(char.isalnum() or char in "-_." for char in id) or set(id) <= {"."}:
        raise ModelError(f"the provider names a batch or a file by {id[:40]!r}, which is no id")
    return id


def has_batches(reference: ModelReference) -> bool:
    """Whether a provider's protocol has a batch service."""
    return reference.provider in BATCH_PROVIDERS


def open_service(reference: ModelReference, settings: ModelSettings, calls: Calls) -> BatchService:
    """Open the batch service of a model's server; nothing is called yet."""
    if not has_batches(reference):
        raise ModelError(f"{reference}: {reference.provider} has no batch service; --batch is for {', '.join(BATCH_PROVIDERS)}")
    limits = replace(settings.timeouts, total=max(settings.timeouts.total, _LONGEST_TRANSFER))
    service: BatchService = imported(_SERVICES[reference.provider])(
        open_model(reference, replace(settings, timeouts=limits)), calls
    )
    return service
