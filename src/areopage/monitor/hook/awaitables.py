"""Results that come later: futures, tasks and objects that a caller awaits. The caller gets the object itself."""

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Generator
from concurrent import futures
from contextlib import suppress
from typing import Any

Heard = Callable[[Any], Any]
Failed = Callable[[BaseException], None]
_WAIT = "_areopage_wait"


def is_coroutine(value: Any) -> bool:
    """Whether a value is a coroutine, or a generator that stands for one (`types.coroutine`)."""
    return inspect.iscoroutine(value) or (
        inspect.isgenerator(value) and bool(value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE)
    )


def makes_coroutines(function: Callable[..., Any]) -> bool:
    """Whether a function is one of `types.coroutine`."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def listened_to(result: Any, heard: Heard, failed: Failed) -> bool:
    """Have the result of a future or of an object that is awaited told once it is there; False where it is no such object."""
    if isinstance(result, futures.Future) or asyncio.isfuture(result):
        result.add_done_callback(functools.partial(_tell, heard, failed))
        return True
    return isinstance(result, Awaitable) and not is_coroutine(result) and _with_class(result, (heard, failed))


def _tell(heard: Heard, failed: Failed, future: Any) -> None:
    if future.cancelled():
        failed(asyncio.CancelledError())
        return
    # asked by its method, a future of asyncio would no longer report a fault that its caller never asks for
    fault = future.exception() if isinstance(future, futures.Future) else getattr(future, "_exception", None)
    if fault is not None:
        failed(fault)
    else:
        heard(future.result())


class _Wait:
    """Tells listeners once what an object gives that is awaited, or that nothing has awaited it."""

    def __init__(self, listener: tuple[Heard, Failed]) -> None:
        self.listeners = [listener]

    def through(self, method: Callable[[Any], Any], awaited: Any) -> Generator[Any, Any, Any]:
        """Await the object, and pass on what it gives."""
        try:
            result = yield from method(awaited)
        except BaseException as fault:
            self._end(fault)
            raise
        listeners, self.listeners = self.listeners, []
        for heard, _ in listeners:
            result = heard(result)
        return result

    def _end(self, fault: BaseException) -> None:
        listeners, self.listeners = self.listeners, []
        for _, failed in listeners:
            failed(fault)

    def __del__(self) -> None:
        with suppress(Exception):
            self._end(GeneratorExit())


def _with_class(result: Any, listener: tuple[Heard, Failed]) -> bool:
    """Give an object a class that is derived from its own; False where that cannot be."""
    fields = getattr(result, "__dict__", None)
    if fields is None:
        return False
    if _WAIT in fields:  # two decorators
        fields[_WAIT].listeners.append(listener)
        return True
    try:
        object.__setattr__(result, "__class__", _waiting(type(result)))  # type: ignore[arg-type]
    except TypeError:
        return False
    fields[_WAIT] = _Wait(listener)
    return True


@functools.cache
def _waiting(kind: type) -> type:
    method = kind.__await__  # type: ignore[attr-defined]
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__, "__slots__": ()}
    return type(kind)(kind.__name__, (kind,), {**names, "__await__": lambda self: vars(self)[_WAIT].through(method, self)})
