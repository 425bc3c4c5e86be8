"""The streams in what bots return: generators, iterators of model clients, streams in the responses of frameworks.

Generators pass everything on and keep what goes by. A stream is passed on in the object that holds it, which stays of its type:
an iterator of a client gets a class that is derived from its own; of a framework's response, the field of the stream is set.
"""

import functools
import inspect
import io
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import contextmanager, suppress
from typing import Any

from areopage.monitor.hook.fields import field

_FIELDS = ("body_iterator", "response_gen", "response", "streaming_content")
"""Where Starlette, LlamaIndex, Werkzeug (Flask) and Django keep a stream."""
_COPY = "_areopage_copy"
_GENERATED = "response_gen"
"""LlamaIndex's chat engines make a generator each time this is read."""

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
        with self._reading():
            return self._kept(following())

    async def keep_async(self, following: Callable[[], Awaitable[Any]]) -> Any:
        """The next piece of an asynchronous stream."""
        if self._within:
            return await following()
        with self._reading():
            return self._kept(await following())

    @contextmanager
    def _reading(self) -> Iterator[None]:
        self._within = True
        try:
            yield
        except BaseException as fault:
            self.end(None if isinstance(fault, StopIteration | StopAsyncIteration) else fault)
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
            self._pieces.append(dict(piece) if type(piece) is dict else piece)  # some bots fill one mapping again and again
        return piece

    def __del__(self) -> None:
        with suppress(Exception):  # a stream that nothing has read to its end
            self.leave()


class Copied(Generator[Any, Any, Any]):
    """A generator that passes an iterator on."""

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


def passed_on(result: Any, ended: Ended) -> Any | None:
    """The result, whose stream is kept while the caller reads it; None if it holds no stream that can be kept."""
    if inspect.isgenerator(result):
        return as_generator(Copied(result, Copy(ended)))
    if inspect.isasyncgen(result):
        return copied_async(result, Copy(ended))
    if _is_stream(result) or isinstance(getattr(type(result), _GENERATED, None), property):
        return _with_class(result, ended)
    for name in _FIELDS if not field(result, "direct_passthrough") else ():  # a file that Flask sends
        stream = None if isinstance(result, Mapping) else getattr(result, "__dict__", {}).get(name)
        if stream is not None and (through := _through(stream, ended)) is not None:
            try:
                setattr(result, name, through)
            except (AttributeError, TypeError):
                return None
            return result
    return None


def _is_stream(value: Any) -> bool:
    return isinstance(value, Iterator | AsyncIterator) and not isinstance(value, io.IOBase)


def _through(stream: Any, ended: Ended) -> Any | None:
    """A generator that passes on what an object's field holds; None if that is no stream."""
    if isinstance(stream, AsyncIterable):
        return copied_async(aiter(stream), Copy(ended))
    if not _is_stream(stream):
        return None
    through = Copied(stream, Copy(ended))
    return as_generator(through) if inspect.isgenerator(stream) else through


def _with_class(result: Any, ended: Ended) -> Any | None:
    """The result with a class whose methods keep what they give; None if its class cannot be changed."""
    fields = getattr(result, "__dict__", None)
    if fields is None:
        return None
    if isinstance(copy := fields.get(_COPY), Copy):
        copy.listeners.append(ended)
        return result
    try:
        kind = _listening(type(result))  # type: ignore[arg-type]
        object.__setattr__(result, "__class__", kind)
    except TypeError:
        return None
    fields[_COPY] = Copy(ended)
    return result


@functools.cache
def _listening(kind: type) -> type:
    """A class derived from another one, whose objects keep what is read from them."""
    makers: Iterable[tuple[str, Any]] = (
        ("__next__", _next),
        ("__iter__", _iter),
        ("__anext__", _anext),
        ("__aiter__", _aiter),
        ("close", _closing),
        ("aclose", _closing),
        (_GENERATED, _generated),
        (f"async_{_GENERATED}", _generated_async),
    )
    methods = {name: make(getattr(kind, name)) for name, make in makers if hasattr(kind, name)}
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__, "__slots__": ()}
    return type(kind)(kind.__name__, (kind,), names | methods)


def _next(method: Any) -> Any:
    return lambda self: vars(self)[_COPY].keep(lambda: method(self))


def _iter(method: Any) -> Any:
    return lambda self: self if (stream := method(self)) is self else as_generator(Copied(stream, vars(self)[_COPY]))


def _anext(method: Any) -> Any:
    return lambda self: vars(self)[_COPY].keep_async(lambda: method(self))


def _aiter(method: Any) -> Any:
    return lambda self: self if (stream := method(self)) is self else copied_async(stream, vars(self)[_COPY])


def _closing(method: Any) -> Any:
    if inspect.iscoroutinefunction(method):

        async def closed(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return await method(self, *args, **kwargs)
            finally:
                vars(self)[_COPY].leave()

        return closed

    def left(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        finally:
            vars(self)[_COPY].leave()

    return left


def _generated(attribute: Any) -> Any:
    if not isinstance(attribute, property) or attribute.fget is None:
        return attribute
    read = attribute.fget
    return property(lambda self: as_generator(Copied(read(self), vars(self)[_COPY])))


def _generated_async(method: Any) -> Any:
    return lambda self: copied_async(method(self), vars(self)[_COPY])
