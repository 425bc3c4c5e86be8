"""Background scoring: a decorator for functions that answer questions.

`endpoints` does the same for endpoints.

Both only append to the spool, after the answer is there; a fault in them is counted and never reaches the caller.
"""

import asyncio
import functools
import inspect
import itertools
import types
from collections import ChainMap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from areopage.monitor.hook.awaitables import is_coroutine, listened_to, makes_coroutines
from areopage.monitor.hook.bot_results import status_of
from areopage.monitor.hook.copied_streams import Copied, Copy, Ended, copied_async, passed_on
from areopage.monitor.hook.exchange import Exchange, Unrecognised, find_exchange, find_streamed
from areopage.monitor.hook.fields import DOCUMENT_NAMES
from areopage.monitor.hook.recorder import FAILED, REFUSED, SKIPPED, UNFINISHED, Recorder
from areopage.monitor.hook.spool import Spool

F = TypeVar("F", bound=Callable[..., Any])
_METHODS = ("invoke", "query", "chat", "run")
"""The methods by which objects of frameworks answer."""


Extract = Callable[[Mapping[str, Any], Any], Exchange | None]
"""Finds the exchange in a function's arguments (by name) and its result; None where there is nothing to evaluate.

The result of a stream is the list of its pieces."""


def monitored(
    spool: Spool | Path | str,
    *,
    source: str = "",
    variant: str = "",
    language: str = "",
    evaluate: bool = True,
    extract: Extract | None = None,
) -> Callable[[F], F]:
    """Decorate a sync or async function or generator function to submit its answers for evaluation.

    Args:
        spool: the worker's spool, or its folder.
        source, variant, language: see `submission_of`. What the function returns or takes under these names counts before them;
            so do `id` and `trace_id`.
        evaluate: False switches it off, and the function stays as it is.
        extract: finds the exchange; without it the prompt is the argument of a usual name (`prompt`, `question`…) or else the
            first text that is no id, documents are the argument or the result's key of a usual name, and the result is a text,
            has a key or an attribute of a usual name (`response`, `answer`, `content`…), is a tuple of an answer and its
            documents, a state with messages, or a response of a model's client or of a web framework. A stream is passed on
            piece by piece; its pieces (texts, server-sent events, a client's events) make the answer once it has ended. What a
            future, a task or an object that is awaited gives is recorded when it is there.

    The decorated function is of the same kind, and has two attributes. `counts` is a `Counter` of what became of its calls:
    recorded, lost, not_found, unfinished (a stream or a call that did not come to its end), failed (it raised), skipped
    (`extract` returned None). `doubts` counts recorded answers that are probably not what the user read, by kind. The first
    loss of each kind is logged, and `areopage monitor status` shows all.
    """
    into = spool if isinstance(spool, Spool) else Spool(spool)

    def decorate(function: F) -> F:
        if isinstance(function, staticmethod | classmethod):  # this decorator stands above `@staticmethod`
            return cast(F, type(function)(decorate(function.__func__)))
        if not callable(function):
            raise TypeError(_no_function(function))
        if not evaluate:
            return function
        return _recording(function, Recorder(into, source=source, variant=variant, language=language), extract)

    return decorate


def _no_function(bot: Any) -> str:
    """What to decorate in place of an object, such as a chain of LangChain or an engine of LlamaIndex."""
    method = next((name for name in _METHODS if callable(getattr(bot, name, None))), "")
    advice = f"decorate `{method}` of it, or the function that calls it" if method else "give a function"
    return f"monitored() decorates functions and methods, and was given an object of type {type(bot).__name__}: {advice}"


def _recording(function: F, recorder: Recorder, extract: Extract | None) -> F:
    """The function, whose answers are recorded: a function of the same kind."""
    listener = _Listener(function, recorder, extract)
    answered: Callable[..., Any]
    if inspect.isasyncgenfunction(function):
        answered = _async_generator(function, listener)
    elif makes_coroutines(function):

        @functools.wraps(function)
        @types.coroutine
        def answered(*args: Any, **kwargs: Any) -> Any:
            return (yield from listener.awaited(*listener.asked(args, kwargs), function(*args, **kwargs)).__await__())
    elif inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def answered(*args: Any, **kwargs: Any) -> Any:
            return (yield from Copied(function(*args, **kwargs), Copy(listener.ended(*listener.asked(args, kwargs)))))
    elif inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def answered(*args: Any, **kwargs: Any) -> Any:
            return await listener.awaited(*listener.asked(args, kwargs), function(*args, **kwargs))
    else:

        @functools.wraps(function)
        def answered(*args: Any, **kwargs: Any) -> Any:
            asked = listener.asked(args, kwargs)
            try:
                result = function(*args, **kwargs)
            except BaseException as fault:
                listener.failed(*asked, fault)
                raise
            return listener.heard(*asked, result)

    vars(answered).update(counts=recorder.counts, doubts=recorder.doubts)
    return cast(F, answered)


def _async_generator(function: Callable[..., Any], listener: "_Listener") -> Callable[..., Any]:
    """An asynchronous generator function that passes on what another one yields."""

    @functools.wraps(function)
    async def answered(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        stream = copied_async(function(*args, **kwargs), Copy(listener.ended(*listener.asked(args, kwargs))))
        sent = None
        try:
            while True:
                piece = await stream.asend(sent)
                while True:
                    try:
                        sent = yield piece
                    except GeneratorExit:
                        raise
                    except BaseException as fault:  # noqa: BLE001 - it is raised in the stream
                        piece = await stream.athrow(fault)
                    else:
                        break
        except StopAsyncIteration:
            return
        finally:
            await stream.aclose()

    return answered


def _conversation(name: str, value: Any) -> Any:
    """An argument with copies of its lists, except of documents, which a function may fill."""
    if type(value) is list and name not in DOCUMENT_NAMES:
        return [dict(item) if type(item) is dict else item for item in value]
    if type(value) is dict:
        lists = {key: _conversation(key, item) for key, item in value.items() if type(item) is list and key not in DOCUMENT_NAMES}
        return ChainMap(lists, value) if lists else value
    return value


class _Listener:
    """Records what a function was given and what it returned."""

    def __init__(self, function: Callable[..., Any], recorder: Recorder, extract: Extract | None) -> None:
        self._recorder, self._extract = recorder, extract
        self._signature = inspect.signature(function)
        self._name = getattr(function, "__qualname__", type(function).__name__)

    def asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, in which conversations stay as they are now: many functions append their answer to the one they get.

        `extract` gets the arguments themselves.
        """
        if self._extract is not None:
            return args, kwargs
        names = itertools.chain(self._signature.parameters, itertools.repeat(""))
        kept = tuple(_conversation(name, value) for name, value in zip(names, args, strict=False))
        return kept, {name: _conversation(name, value) for name, value in kwargs.items()}

    async def awaited(self, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Awaitable[Any]) -> Any:
        """The result of an awaited call."""
        try:
            result = await answer
        except BaseException as fault:
            self.failed(args, kwargs, fault)
            raise
        return self.heard(args, kwargs, result)

    def heard(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        """The result for the caller; a stream is recorded once it has ended."""
        if is_coroutine(result):
            return self.awaited(args, kwargs, result)
        try:
            status = status_of(result)
            first, beside = (result[0], result[1:]) if type(result) is tuple and result else (result, ())
            heard = passed_on(first, self.ended(args, kwargs, (first, *beside))) if status < 400 else None
            is_later = status < 400 and heard is None and self._follows(args, kwargs, result)
        except Exception:  # noqa: BLE001 - an object of the bot's may raise anything
            status, heard, beside, is_later = 0, None, (), False
        if status >= 400:
            self._miss(args, kwargs, FAILED if status >= 500 else REFUSED, f"it answered with status {status}")
        elif heard is not None:
            return (heard, *beside) if type(result) is tuple else heard
        elif not is_later:
            self._note(args, kwargs, result, find_exchange)
        return result

    def _follows(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> bool:
        """Whether the answer comes later, and is recorded then."""
        return listened_to(result, functools.partial(self.heard, args, kwargs), functools.partial(self.failed, args, kwargs))

    def ended(self, args: tuple[Any, ...], kwargs: dict[str, Any], beside: Sequence[Any] = ()) -> Ended:
        """Takes the end of a stream."""

        def note_end(pieces: list[Any], fault: BaseException | None) -> None:
            if fault is None:
                self._note(args, kwargs, pieces, functools.partial(find_streamed, beside=beside))
            else:
                left = isinstance(fault, GeneratorExit | asyncio.CancelledError)
                why = "was not read to its end" if left else f"broke off: {type(fault).__name__}"
                self._miss(args, kwargs, UNFINISHED, f"a stream {why}")

        return note_end

    def failed(self, args: tuple[Any, ...], kwargs: dict[str, Any], fault: BaseException) -> None:
        """Count a call that gave no answer."""
        if isinstance(fault, Exception):
            self._miss(args, kwargs, FAILED, f"it raised {type(fault).__name__}")
        else:
            self._miss(args, kwargs, UNFINISHED, f"the call ended with {type(fault).__name__}")

    def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], why: str, reason: str) -> None:
        with self._recorder.unharmed(self._name):
            self._recorder.miss(why, f"{self._name}: {reason}", self._arguments(args, kwargs))

    def _note(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, find: Extract) -> None:
        with self._recorder.unharmed(self._name):
            if self._extract is None:
                exchange = find(self._arguments(args, kwargs), result)
                if exchange is None:
                    raise Unrecognised("it returned None")
            else:
                exchange = self._extract(self._signature.bind(*args, **kwargs).arguments, result)
            if exchange is None:
                self._recorder.miss(SKIPPED, f"{self._name}: `extract` found nothing to evaluate")
            else:
                self._recorder.record(exchange, self._name)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name, of which `*args` are numbered and `**kwargs` have their own names."""
        arguments: dict[str, Any] = {}
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                arguments |= value
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                arguments |= {f"{name}{at}": item for at, item in enumerate(value)}
            else:
                arguments[name] = value
        return arguments
