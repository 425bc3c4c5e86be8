"""Generators that pass everything on and keep what goes by."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from typing import Any

Ended = Callable[[list[Any], BaseException | None], None]
"""Gets the pieces of a stream, and what ended it before its end: `GeneratorExit` where its reader left; None at its end."""


class _Copied(Generator[Any, Any, Any]):
    """A generator in front of another one."""

    def __init__(self, stream: Generator[Any, Any, Any], ended: Ended) -> None:
        self._stream, self._ended, self._pieces = stream, ended, list[Any]()
        self._over = False

    def send(self, value: Any) -> Any:
        """Send a value to the stream."""
        return self._piece(lambda: self._stream.send(value))

    def throw(self, *fault: Any) -> Any:
        """Raise an exception in the stream."""
        return self._piece(lambda: self._stream.throw(*fault))

    def close(self) -> None:
        """Leave the stream."""
        try:
            self._stream.close()
        finally:
            self._end(GeneratorExit())

    def _piece(self, following: Callable[[], Any]) -> Any:
        try:
            piece = following()
        except StopIteration:
            self._end(None)
            raise
        except BaseException as fault:
            self._end(fault)
            raise
        self._pieces.append(piece)
        return piece

    def _end(self, fault: BaseException | None) -> None:
        if not self._over:
            self._over = True
            self._ended(self._pieces, fault)


def copied(stream: Generator[Any, Any, Any], ended: Ended) -> Generator[Any, Any, Any]:
    """A generator that passes a generator on."""
    return _Copied(stream, ended)


async def copied_async(stream: AsyncIterator[Any], ended: Ended) -> AsyncGenerator[Any, Any]:
    """An asynchronous generator that passes an asynchronous iterator on."""
    pieces: list[Any] = []
    generator = stream if isinstance(stream, AsyncGenerator) else None
    try:
        piece = await anext(stream)
        while True:
            pieces.append(piece)
            try:
                sent = yield piece
            except GeneratorExit:
                raise
            except BaseException as fault:
                if generator is None:
                    raise
                piece = await generator.athrow(fault)
            else:
                piece = await (anext(stream) if generator is None else generator.asend(sent))
    except StopAsyncIteration:
        ended(pieces, None)
    except BaseException as fault:
        if generator is not None:
            await generator.aclose()
        ended(pieces, fault)
        raise
