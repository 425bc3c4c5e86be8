"""What the batch services of providers share: the model's server, its lists page by page, and requests that are made again."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar, TypeVar

import msgspec

from areopage.errors import CallRejected, ModelError
from areopage.models.batch_port import BatchLine, BatchState, path_part
from areopage.models.http import MAX_RESPONSE_BYTES, Query
from areopage.models.json_chat import ChatModel
from areopage.models.port import Completion, Message, Options
from areopage.models.retry import Calls

MOST_RESULT_BYTES = 4_000_000_000
_NO_SERVICE = (400, 404, 405, 501)
T = TypeVar("T")


class BatchServer(ABC):
    """A model's server as a batch service; see `BatchService`."""

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
        """Read an answer; see `BatchService.completion`."""
        if line.fault is not None:
            raise line.fault
        return self._model.read(line.reply, messages, options)

    async def check(self) -> None:
        """Make sure that the server has the service; see `BatchService.check`."""
        try:
            await self._make(lambda: self._server.ask(self.path, [("limit", "1")], self.list_type))
        except CallRejected as fault:
            if fault.status in _NO_SERVICE:
                raise ModelError(f"{self._server.address} has no batch service ({fault}): leave out --batch") from fault
            raise

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch."""
        path = f"{self.path}/{path_part(batch_id)}"
        return self._state_of(await self._make(lambda: self._server.get(path, self.batch_type)))

    async def cancel(self, batch_id: str) -> BatchState:
        """Cancel a batch; what it has brought so far is kept."""
        path = f"{self.path}/{path_part(batch_id)}/cancel"
        return self._state_of(await self._make(lambda: self._server.post(path, {}, self.batch_type)))

    async def results(self, file_id: str, file: BinaryIO) -> Iterator[BatchLine]:
        """Download what a batch brought."""
        path = self._results_path(file_id)
        await self._make(lambda: self._server.download(path, file, MOST_RESULT_BYTES))
        return self._lines(path, file)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._model.aclose()

    @abstractmethod
    def _state_of(self, batch: Any) -> BatchState:
        """A batch of the provider, in the words of OpenAI's protocol."""

    @abstractmethod
    def _results_path(self, file_id: str) -> str:
        """Where a file of results is."""

    @abstractmethod
    def _read_line(self, path: str, line: Any) -> BatchLine:
        """What a line of results says."""

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
            page = await self._make(lambda asked=asked: self._server.ask(path, asked, into))  # type: ignore[misc]
            items = page.data or []
            yield items
            if not page.has_more or not items or items[-1].id in seen:
                return
            last = items[-1].id
            seen.add(last)

    async def _delete(self, path: str) -> None:
        try:
            await self._make(lambda: self._server.delete(path, msgspec.Raw))
        except CallRejected as fault:
            if fault.status != 404:
                raise

    async def _make(self, call: Callable[[], Awaitable[T]]) -> T:
        return await self._calls.make(call)
