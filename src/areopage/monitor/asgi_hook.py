"""An ASGI middleware that submits an endpoint's answers for evaluation, without delaying them.

Every chunk goes to the client at once; copies are kept up to a limit, and read only after the last chunk has left.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import msgspec

from areopage.monitor.answer_case import message_text
from areopage.monitor.exchange import Exchange
from areopage.monitor.hook import Recorder
from areopage.monitor.spool import Spool

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

MAX_BYTES = 2_000_000
STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl", "application/json-seq")


class QualityHook:
    """The middleware. `counts` says what became of the answers: recorded, lost, and why others were passed over
    (not_found, too_large, not_json, streamed, encoded, failed)."""

    def __init__(
        self,
        app: Application,
        spool: Spool | Path | str,
        *,
        path: str | Iterable[str] = "/chat",
        prompt: str = "prompt",
        response: str = "response",
        documents: str = "documents",
        id: str = "",
        stream: str = "",
        source: str = "",
        variant: str = "",
        variant_path: str = "",
        language: str = "",
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Wrap an application.

        Args:
            app: the application that answers.
            spool: the worker's spool, or its folder.
            path: the path, or the paths, of the endpoints to listen to (POST, PUT, GET with a body).
            prompt: where the question stands in the request's JSON: a dotted path, numbers count list items, e.g.
                `messages.-1.content`.
            response: where the answer stands in the response's JSON.
            documents: where the documents stand, in the response's JSON or else in the request's; "": nowhere.
            id: where the id of the answer stands in the response's JSON or else in the request's; "": one is made.
            stream: where the next piece of text stands in each event of a stream (server-sent events or JSON lines); "": streams
                are passed over.
            source, variant, language: see `submission_of`.
            variant_path: where the variant stands in the response's JSON or else in the request's; it counts before `variant`.
            max_bytes: exchanges with a larger request or response are passed over.
        """
        self._app = app
        self._recorder = Recorder(
            spool if isinstance(spool, Spool) else Spool(spool), source=source, variant=variant, language=language
        )
        self._paths = frozenset([path] if isinstance(path, str) else path)
        self._prompt, self._response, self._documents, self._id, self._stream = prompt, response, documents, id, stream
        self._variant_path, self._max_bytes = variant_path, max_bytes

    @property
    def counts(self) -> Counter[str]:
        """Counts of answers by outcome."""
        return self._recorder.counts

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        heard = _Heard(self._max_bytes)

        async def receive_and_copy() -> Message:
            message = await receive()
            with self._recorder.unharmed(scope["path"]):
                if message["type"] == "http.request":
                    heard.request.add(message.get("body", b""))
            return message

        async def send_and_copy(message: Message) -> None:
            await send(message)
            with self._recorder.unharmed(scope["path"]):
                if message["type"] == "http.response.start":
                    heard.status = message["status"]
                    heard.headers = {name.lower(): value for name, value in message.get("headers", ())}
                elif message["type"] == "http.response.body":
                    heard.response.add(message.get("body", b""))
                    if not message.get("more_body", False):
                        self._note(heard)

        await self._app(scope, receive_and_copy, send_and_copy)

    def _note(self, heard: "_Heard") -> None:
        kind = heard.headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        if not 200 <= heard.status < 300:
            self.counts["failed"] += 1
        elif heard.headers.get(b"content-encoding", b"identity") != b"identity":
            self._recorder.miss("encoded", "the response is compressed: put the hook inside the compression")
        elif heard.request.overflown or heard.response.overflown:
            self._recorder.miss("too_large", f"a request or a response has more than {self._max_bytes:,} bytes: see max_bytes")
        elif kind in STREAMS and not self._stream:
            self._recorder.miss("streamed", "the response is a stream: say in `stream` where its text stands")
        else:
            self._read(heard, streamed=kind in STREAMS)

    def _read(self, heard: "_Heard", *, streamed: bool) -> None:
        try:
            asked = msgspec.json.decode(heard.request.joined())
            body = heard.response.joined()
            answered = None if streamed else msgspec.json.decode(body)
            response = "".join(_pieces(body, self._stream)) if streamed else message_text(find(answered, self._response))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._recorder.miss("not_json", "the request or the response is no JSON")
            return
        prompt = find(asked, self._prompt)
        documents = _found_first((answered, asked), self._documents)
        if not isinstance(prompt, str | list) or not response:
            place = f"question ({self._prompt!r} of the request)" if response else f"answer ({self._response!r} of the response)"
            self._recorder.miss("not_found", f"the {place} is not found")
            return
        named = _found_first((answered, asked), self._id)
        variant = _found_first((answered, asked), self._variant_path)
        self._recorder.record(
            Exchange(
                prompt=prompt,
                response=response,
                documents=documents if isinstance(documents, list | str | dict) else (),
                id=str(named) if isinstance(named, str | int) else "",
                variant=variant if isinstance(variant, str) else "",
            )
        )


class _Copy:
    def __init__(self, limit: int) -> None:
        self._chunks: list[bytes] = []
        self._left = limit

    @property
    def overflown(self) -> bool:
        return self._left < 0

    def add(self, chunk: bytes) -> None:
        self._left -= len(chunk)
        if self.overflown:
            self._chunks.clear()
        elif chunk:
            self._chunks.append(chunk)

    def joined(self) -> bytes:
        return b"".join(self._chunks)


class _Heard:
    """The observed data of one request and its response."""

    def __init__(self, limit: int) -> None:
        self.request, self.response = _Copy(limit), _Copy(limit)
        self.status = 0
        self.headers: Mapping[bytes, bytes] = {}


def find(value: Any, path: str) -> Any:
    """The value at a dotted path; None if missing, "" is the value itself."""
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.lstrip("-").isdecimal() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _found_first(values: Iterable[Any], path: str) -> Any:
    """What stands at a path in the first of several values that has it; None for no path."""
    return next((found for value in values if (found := find(value, path)) is not None), None) if path else None


def _pieces(body: bytes, path: str) -> Iterator[str]:
    """The texts at a path in each event of a stream; events that are no JSON (a closing `[DONE]`) are passed over."""
    for line in body.splitlines():
        text = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else line.strip(b"\x1e \t")
        if text.startswith((b"{", b"[", b'"')):
            try:
                piece = find(msgspec.json.decode(text), path)
            except (msgspec.DecodeError, UnicodeError):
                continue
            if isinstance(piece, str):
                yield piece
