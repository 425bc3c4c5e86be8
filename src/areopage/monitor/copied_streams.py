"""Generators that pass everything on and keep what goes by."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

Ended = Callable[[list[Any], BaseException | None], None]
"""Gets the pieces of a stream, and what ended it before its end: `GeneratorExit` where its reader left; None at its end."""


class Copy:
    """The pieces that a stream has given so far. Its listeners hear of its end once."""

    def __init__(self, ended: Ended) -> None:
        self.listeners = [ended]
        self._pieces: list[Any] = []
        self._over = self._within = False

    def keep(self, following: Callable[[], Any]) -> Any:
        """The next piece. Where one way to read a stream uses another way, the piece is kept once."""
        if self._within:
            return following()
        self._within = True
        try:
            return self._kept(following())
        except BaseException as fault:
            self._end_by(fault)
            raise
        finally:
            self._within = False

    async def keep_async(self, following: Callable[[], Awaitable[Any]]) -> Any:
        """The next piece of an asynchronous stream."""
        if self._within:
            return await following()
        self._within = True
        try:
            return self._kept(await following())
        except BaseException as fault:
            self._end_by(fault)
            raise
        finally:
            self._within = False

    def leave(self) -> None:
        """End where the reader has left."""
        self.end(GeneratorExit())

    def end(self, fault: BaseException | None) -> None:
        """Tell the listeners."""
        if not self._over:
            self._over = True
            for ended in self.listeners:
                ended(self._pieces, fault)

    def _kept(self, piece: Any) -> Any:
        if not self._over:
            self._pieces.append(piece)
        return piece

    def _end_by(self, fault: BaseException) -> None:
        self.end(None if isinstance(fault, StopIteration | StopAsyncIteration) else fault)

    def __del__(self) -> None:
        with suppress(Exception):  # a stream that nothing has read to its end
            self.leave()


class _Copied(Generator[Any, Any, Any]):
    """A generator in front of an iterator."""

    def __init__(self, stream: Iterator[Any], copy: Copy) -> None:
        self._stream, self._copy = stream, copy

    def send(self, value: Any) -> Any:
        """Send a value to the stream."""
        stream = self._stream
        return self._copy.keep(lambda: stream.send(value) if isinstance(stream, Generator) else next(stream))

    def throw(self, *fault: Any) -> Any:
        """Raise an exception in the stream."""
        throw = self._stream.throw if isinstance(self._stream, Generator) else super().throw
        return self._copy.keep(lambda: throw(*fault))

    def close(self) -> None:
        """Leave the stream."""
        try:
            close = getattr(self._stream, "close", None)
            if close is not None:
                close()
        finally:
            self._copy.leave()


def copied(stream: Iterator[Any], copy: Copy) -> Generator[Any, Any, Any]:
    """A generator that passes an iterator on."""
    return _Copied(stream, copy)


def as_generator(stream: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """A generator of the interpreter that passes a generator on."""
    return (yield from stream)


async def copied_async(stream: AsyncIterator[Any], copy: Copy) -> AsyncGenerator[Any, Any]:
    """An asynchronous generator that passes an asynchronous iterator on."""
    generator = stream if isinstance(stream, AsyncGenerator) else None
    try:
        piece = await copy.keep_async(lambda: anext(stream))
        while True:
            try:
                sent = yield piece
            except GeneratorExit:
                raise
            except BaseException as fault:
                if generator is None:
                    raise
                piece = await copy.keep_async(lambda fault=fault: generator.athrow(fault))  # type: ignore[misc]
            else:
                piece = await copy.keep_async(lambda sent=sent: anext(stream) if generator is None else generator.asend(sent))  # type: ignore[misc]
    except StopAsyncIteration:
        return
    except BaseException as fault:
        if generator is not None:
            await generator.aclose()
        copy.end(fault)
        raise
