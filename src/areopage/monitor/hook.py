"""Background scoring: a decorator for functions that answer questions.

`asgi_hook` does the same for endpoints.

Both only append to the spool, after the answer is there; a fault in them is counted and never reaches the caller.
"""

import functools
import inspect
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec import Struct

from areopage.cases.records import Document, Turn
from areopage.errors import SubmissionError
from areopage.monitor.spool import Spool
from areopage.monitor.submit import submission_of

PROMPT_NAMES = ("prompt", "question", "query", "message", "messages")
RESPONSE_NAMES = ("response", "answer", "text", "output")
DOCUMENT_NAMES = ("documents", "context_chunks", "context", "chunks", "sources")

F = TypeVar("F", bound=Callable[..., Any])


class Exchange(Struct, frozen=True, kw_only=True):
    """A question with its answer from a call. An id "" is replaced by a new id."""

    prompt: str | Sequence[Turn | Mapping[str, Any]]
    response: str
    documents: Iterable[Document | Mapping[str, Any] | str] = ()
    id: str = ""
    metadata: Mapping[str, Any] = {}


Extract = Callable[[Mapping[str, Any], Any], Exchange | None]
"""Finds the exchange in a function's arguments (by name) and its result; None where there is nothing to evaluate."""


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
            first, documents are the argument or the result's key of a usual name, and the result is a text or has the key
            `response` or `answer`.

    The decorated function has the attribute `counts`, a `Counter` of what became of its answers: recorded, lost, not_found.
    """
    into = spool if isinstance(spool, Spool) else Spool(spool)

    def decorate(function: F) -> F:
        if not evaluate:
            return function
        recorder = Recorder(into, source=source, variant=variant, language=language)
        signature = inspect.signature(function)
        find = extract or _find_exchange
        called = getattr(function, "__qualname__", type(function).__name__)

        def note(given: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
            with recorder.unharmed(called):
                recorder.record(find(signature.bind(*given, **named).arguments, result))

        if inspect.iscoroutinefunction(function):
            answer = cast(Callable[..., Awaitable[Any]], function)

            @functools.wraps(function)
            async def answered(*given: Any, **named: Any) -> Any:
                result = await answer(*given, **named)
                note(given, named, result)
                return result
        else:

            @functools.wraps(function)
            def answered(*given: Any, **named: Any) -> Any:
                result = function(*given, **named)
                note(given, named, result)
                return result

        vars(answered)["counts"] = recorder.counts
        return cast(F, answered)

    return decorate


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
                source=self._source,
                variant=self._variant,
                language=self._language,
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
        # an extraction and documents that are read only now are the bot's code, and may raise anything
        except Exception as fault:  # noqa: BLE001 - the answer is given in any case
            self.refuse(f"{where}: {''.join(traceback.format_exception_only(fault))}")

    def refuse(self, reason: str) -> None:
        """Count an answer that cannot be submitted."""
        self._spool.lose(reason)
        self.counts["lost"] += 1


def _find_exchange(arguments: Mapping[str, Any], result: Any) -> Exchange | None:
    """The exchange of a function that is called and answers in a usual way; None where its result is no answer."""
    if result is None:
        return None
    fields = result if isinstance(result, Mapping) else {}
    response = result if isinstance(result, str) else named(fields, RESPONSE_NAMES)
    prompt = named(arguments, PROMPT_NAMES)
    if prompt is None:
        prompt = next((value for name, value in arguments.items() if name not in ("self", "cls")), None)
    if not isinstance(response, str) or not isinstance(prompt, str | list | tuple):
        return None
    documents = named(fields, DOCUMENT_NAMES)
    if documents is None:
        documents = named(arguments, DOCUMENT_NAMES)
    # a `context` of a web framework is no list of documents
    return Exchange(prompt=prompt, response=response, documents=documents if isinstance(documents, Iterable) else ())


def named(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first existing name; None without any."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)
