"""Background scoring: a decorator for functions that answer questions.

`asgi_hook` does the same for endpoints.

Both only append to the spool, after the answer is there; a fault in them is counted and never reaches the caller.
"""

import asyncio
import functools
import inspect
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from areopage.errors import SubmissionError
from areopage.monitor.exchange import Exchange, Unrecognised, find_exchange, piece_text
from areopage.monitor.spool import Spool
from areopage.monitor.submit import submission_of

F = TypeVar("F", bound=Callable[..., Any])


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
    """Decorate a sync or async function to submit its answers for evaluation.

    Args:
        spool: the worker's spool, or its folder.
        source, variant, language: see `submission_of`.
        evaluate: False switches it off, and the function stays as it is.
        extract: finds the exchange; without it the prompt is the argument of a usual name (`prompt`, `question`…) or else the
            first, documents are the argument or the result's key of a usual name, and the result is a text, has a key or an
            attribute of a usual name (`response`, `answer`, `content`…), or is a completion of a model's client. A generator is
            passed on piece by piece; its pieces make the answer once it has ended.

    The decorated function has the attribute `counts`, a `Counter` of what became of its answers: recorded, lost, not_found,
    unfinished. The first loss of each kind is logged, and `areopage monitor status` shows all.
    """
    into = spool if isinstance(spool, Spool) else Spool(spool)

    def decorate(function: F) -> F:
        if not evaluate:
            return function
        return _recording(function, Recorder(into, source=source, variant=variant, language=language), extract)

    return decorate


def _recording(function: F, recorder: "Recorder", extract: Extract | None) -> F:
    """The function, whose answers are recorded."""
    heard = _Listener(function, recorder, extract).heard
    if inspect.iscoroutinefunction(function):
        answer = cast(Callable[..., Awaitable[Any]], function)

        @functools.wraps(function)
        async def answered(*given: Any, **named: Any) -> Any:
            return heard(given, named, await answer(*given, **named))
    else:

        @functools.wraps(function)
        def answered(*given: Any, **named: Any) -> Any:
            return heard(given, named, function(*given, **named))

    vars(answered)["counts"] = recorder.counts
    return cast(F, answered)


class _Listener:
    """Records what a function was given and what it returned."""

    def __init__(self, function: Callable[..., Any], recorder: "Recorder", extract: Extract | None) -> None:
        self._recorder, self._extract = recorder, extract
        self._signature = inspect.signature(function)
        self._name = getattr(function, "__qualname__", type(function).__name__)

    def heard(self, given: tuple[Any, ...], named: dict[str, Any], result: Any) -> Any:
        """The result for the caller; a stream is recorded once it has ended."""
        if not inspect.isgenerator(result) and not inspect.isasyncgen(result):
            self._note(given, named, result)
            return result

        def ended(pieces: list[Any] | None) -> None:
            if pieces is None:
                self._recorder.miss("unfinished", f"{self._name}: a stream was not read to its end")
            else:
                self._note(given, named, pieces if self._extract else "".join(map(piece_text, pieces)))

        return _copying(result, ended) if inspect.isgenerator(result) else _copying_async(result, ended)

    def _note(self, given: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        find = self._extract or find_exchange
        with self._recorder.unharmed(self._name):
            self._recorder.record(find(self._signature.bind(*given, **named).arguments, result))


class Recorder:
    """Writes exchanges to a spool and counts outcomes."""

    def __init__(self, spool: Spool, *, source: str, variant: str, language: str) -> None:
        self.counts: Counter[str] = Counter()
        self._spool, self._source, self._variant, self._language = spool, source, variant, language

    def record(self, exchange: Exchange | None) -> None:
        """Append an exchange to the spool."""
        if exchange is None:
            self.counts["not_found"] += 1
            return
        try:
            submission = submission_of(
                exchange.prompt,
                exchange.response,
                exchange.documents,
                id=exchange.id,
                source=exchange.source or self._source,
                variant=exchange.variant or self._variant,
                language=exchange.language or self._language,
                metadata=exchange.metadata,
            )
        except SubmissionError as fault:
            self.refuse(str(fault))
            return
        self.counts["recorded" if self._spool.append(submission) else "lost"] += 1

    @contextmanager
    def unharmed(self, where: str) -> Iterator[None]:
        """Suppress internal errors, count the answer as lost, and log once.

        Args:
            where: named in the log.
        """
        try:
            yield
        except Unrecognised as fault:
            self.miss("not_found", f"{where}: {fault}")
        # an extraction and documents that are read only now are the bot's code, and may raise anything
        except Exception as fault:  # noqa: BLE001 - the answer is given in any case
            self.refuse(f"{where}: {''.join(traceback.format_exception_only(fault))}")

    def refuse(self, reason: str) -> None:
        """Count an answer that cannot be submitted."""
        self.miss("lost", reason)

    def miss(self, why: str, reason: str) -> None:
        """Count an answer that is not submitted, in this process and for the worker."""
        self._spool.lose(reason, why)
        self.counts[why] += 1


def _copying(stream: Iterator[Any], ended: Callable[[list[Any] | None], None]) -> Iterator[Any]:
    """Pass a stream on; `ended` gets its pieces, or None if the reader left before its end."""
    pieces: list[Any] = []
    try:
        for piece in stream:
            pieces.append(piece)
            yield piece
    except GeneratorExit:
        cast(Any, stream).close()
        ended(None)
        raise
    ended(pieces)


async def _copying_async(stream: AsyncIterator[Any], ended: Callable[[list[Any] | None], None]) -> AsyncIterator[Any]:
    pieces: list[Any] = []
    try:
        async for piece in stream:
            pieces.append(piece)
            yield piece
    except (GeneratorExit, asyncio.CancelledError):
        await cast(Any, stream).aclose()
        ended(None)
        raise
    ended(pieces)
