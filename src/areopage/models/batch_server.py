"""What the batch services of providers share: the model's server, its answers line by line, and requests that are made again."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

import msgspec

from areopage.errors import CallRejected, ModelError
from areopage.models.batch_port import BatchLine
from areopage.models.http import MAX_RESPONSE_BYTES, JsonServer
from areopage.models.port import Options
from areopage.models.retry import Calls

_NO_SERVICE = (400, 404, 405, 501)


class BatchedModel(Protocol):
    """What a batch service needs of its model, beside how its calls are written and read."""

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from a rejected call; whether it is worth another one."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


Model = TypeVar("Model", bound=BatchedModel)
Line = TypeVar("Line")
T = TypeVar("T")


class BatchServer(Generic[Model]):
    """A model's server, as a batch service uses it."""

    def __init__(self, model: Model, server: JsonServer, calls: Calls) -> None:
        """Use a model's server.

        Args:
            model: writes the bodies of calls and reads the answers.
            calls: makes requests again where that may help.
        """
        self._model, self._server, self._calls = model, server, calls

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from a rejected call; whether it is worth another batch."""
        return self._model.learn(fault, options)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()
        await self._model.aclose()

    async def _require(self, path: str, listed: type[Any]) -> None:
        """Make sure that the server lists batches.

        Raises:
            ModelError: it has no batch service.
        """
        try:
            await self._make(lambda: self._server.ask(path, [("limit", "1")], listed))
        except CallRejected as fault:
            if fault.status in _NO_SERVICE:
                raise ModelError(f"{self._server.address} has no batch service ({fault}): leave out --batch") from fault
            raise

    def _lines(self, path: str, file: BinaryIO, into: type[Line], read: Callable[[str, Line], BatchLine]) -> Iterator[BatchLine]:
        """What a file of results holds, from its begin.

        Args:
            path: where the server has it.
            read: what a line says.
        """
        file.seek(0)
        while text := file.readline(MAX_RESPONSE_BYTES):
            try:
                line = msgspec.json.decode(text, type=into)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield BatchLine(key="", fault=self._server.fault(path, 200, "a line is not the JSON expected"))
                continue
            yield read(path, line)

    async def _make(self, call: Callable[[], Awaitable[T]]) -> T:
        return await self._calls.make(call)
