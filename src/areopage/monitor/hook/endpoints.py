"""An ASGI middleware that submits an endpoint's answers for evaluation, without delaying them.

Every chunk goes to the client at once; copies are kept up to a limit, and read only after the last chunk has left.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec

from areopage.cases import documents_of
from areopage.monitor.hook.exchange import Exchange, titled
from areopage.monitor.hook.fields import LABEL_NAMES, label_text
from areopage.monitor.hook.messages import message_text
from areopage.monitor.hook.recorder import FAILED, NOT_FOUND, REFUSED, UNFINISHED, Recorder
from areopage.monitor.hook.spool import Spool
from areopage.monitor.hook.stream_text import events_of, read_stream

AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], AsgiReceive, AsgiSend], Awaitable[None]]

MAX_BYTES = 2_000_000
STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl", "application/json-seq")
TEXT = "text/plain"


class QualityHook:
    """The middleware. `counts` says what became of the answers: recorded, lost, and why others were passed over
    (not_found, too_large, not_json, encoded; unfinished: the client left; failed: the application raised, or answered with a
    status of 500 and more; refused: with another one that is no success). `doubts` counts recorded answers that are probably not
    what the user read, by kind."""

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
        source_path: str = "",
        variant: str = "",
        variant_path: str = "",
        language: str = "",
        language_path: str = "",
        trace_path: str = "header:traceparent",
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Wrap an application.

        A place is a dotted path in JSON (numbers count list items, e.g. `messages.-1.content`), or `header:NAME`, `query:NAME` or
        `path:NAME` of the request. In a stream, paths are looked for in each event.

        Args:
            app: the application that answers.
            spool: the worker's spool, or its folder.
            path: the path, or the paths, of the endpoints to listen to, with or without the path of a mount or of `--root-path`;
                `{NAME}` stands for one step, as in `/tenants/{tenant}/chat`, `{NAME:path}` for several.
            prompt: the place of the question in the request.
            response: the place of the answer in the response's JSON. A response of type text/plain is the answer.
            documents: the place of the documents, in the response or else in the request; "": nowhere.
            id: the place of the answer's id in the response or else in the request; "": one is made.
            stream: the place of the next piece of text in each event of a stream (server-sent events or JSON lines); "": under a
                usual name, or the event is a text.
            source, variant, language: see `submission_of`.
            source_path, variant_path, language_path: the places of these labels, which count before them.
            trace_path: the place of the trace's id, or of a W3C `traceparent`.
            max_bytes: exchanges with a larger request or response are passed over.
        """
        self._app = app
        self._recorder = Recorder(
            spool if isinstance(spool, Spool) else Spool(spool), source=source, variant=variant, language=language
        )
        self._paths = tuple(_pattern(pattern) for pattern in ([path] if isinstance(path, str) else path))
        self._prompt, self._response, self._documents, self._stream = prompt, response, documents, stream
        self._labels = {
            "id": id,
            "source": source_path,
            "variant": variant_path,
            "language": language_path,
            "trace_id": trace_path,
        }
        self._max_bytes = max_bytes

    @property
    def counts(self) -> Counter[str]:
        """Counts of answers by outcome."""
        return self._recorder.counts

    @property
    def doubts(self) -> Counter[str]:
        """Counts of doubtful answers by kind."""
        return self._recorder.doubts

    async def __call__(self, scope: MutableMapping[str, Any], receive: AsgiReceive, send: AsgiSend) -> None:
        """Serve one request."""
        matches = (pattern.fullmatch(path) for path in _paths_of(scope) for pattern in self._paths)
        match = next(filter(None, matches), None)
        if match is None or scope.get("method") == "OPTIONS":
            await self._app(scope, receive, send)
            return
        heard = _Heard(self._max_bytes, scope, match.groupdict())

        async def receive_and_copy() -> AsgiMessage:
            message = await receive()
            with self._recorder.unharmed(scope["path"]):
                if message["type"] == "http.request":
                    heard.request.add(message.get("body", b""))
            return message

        async def send_and_copy(message: AsgiMessage) -> None:
            try:
                await send(message)
            except BaseException:
                heard.left = True
                raise
            with self._recorder.unharmed(scope["path"]):
                if message["type"] == "http.response.start":
                    heard.status = message["status"]
                    heard.headers = {name.lower(): value for name, value in message.get("headers", ())}
                elif message["type"] == "http.response.body":
                    heard.response.add(message.get("body", b""))
                    if not message.get("more_body", False):
                        heard.over = True
                        self._note(heard)

        try:
            await self._app(scope, receive_and_copy, send_and_copy)
        except BaseException as fault:
            self._note_end(heard, fault)
            raise
        self._note_end(heard, None)

    def _note_end(self, heard: "_Heard", fault: BaseException | None) -> None:
        """Count a request whose response did not come to its end."""
        if heard.over:
            return
        with self._recorder.unharmed(heard.path):
            if isinstance(fault, Exception) and not heard.left:
                self._miss(heard, FAILED, f"the application raised {type(fault).__name__}")
            else:
                self._miss(heard, UNFINISHED, "the client left before the end of the response")

    def _note(self, heard: "_Heard") -> None:
        if heard.status >= 500:
            self._miss(heard, FAILED, f"the application answered with status {heard.status}")
        elif not 200 <= heard.status < 300:
            self._miss(heard, REFUSED, f"the application answered with status {heard.status}")
        elif heard.headers.get(b"content-encoding", b"identity") != b"identity":
            self._miss(heard, "encoded", "the response is compressed: put the hook inside the compression")
        elif heard.request.overflown or heard.response.overflown:
            self._miss(heard, "too_large", f"a request or a response has more than {self._max_bytes:,} bytes: see max_bytes")
        else:
            self._read(heard, streamed=heard.kind in STREAMS)

    def _read(self, heard: "_Heard", *, streamed: bool) -> None:
        try:
            request = heard.read_request(in_json=":" not in self._prompt)
            text = heard.text()
            events = events_of(text) if streamed else [] if heard.kind == TEXT else [msgspec.json.decode(text)]
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._miss(heard, "not_json", "the request or the response is no JSON")
            return
        heard.bodies = (*events, request)
        documents: Any = heard.first(self._documents)
        if streamed:

            def text_at(event: Any) -> str | None:
                text = event if isinstance(event, str) else find(event, self._stream)
                return text if isinstance(text, str) else None

            read = read_stream(events, text_at if self._stream else None)
            if read.error:
                self._miss(heard, FAILED, "the stream reports an error")
                return
            response = read.response
            documents = read.documents if documents is None and self._documents else documents
        else:
            response = text if heard.kind == TEXT else message_text(find(events[0], self._response)) or ""
        prompt = heard.asked_at(self._prompt)
        if not isinstance(prompt, str | list) or not response:
            place = f"question ({self._prompt!r} of the request)" if response else f"answer ({self._response!r} of the response)"
            self._miss(heard, NOT_FOUND, f"the {place} is not found")
            return
        labels: dict[str, Any] = {name: label_text(name, heard.first(place)) for name, place in self._labels.items()}
        usable = documents_of(documents) if isinstance(documents, list | str | dict) else ()
        self._recorder.record(Exchange(prompt=prompt, response=response, documents=titled(usable), **labels), heard.path)

    def _miss(self, heard: "_Heard", why: str, reason: str) -> None:
        try:
            heard.bodies = (heard.read_request(in_json=True),)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            heard.bodies = (None,)
        labels = {LABEL_NAMES[name][0]: label_text(name, heard.first(place)) for name, place in self._labels.items()}
        self._recorder.miss(why, f"{heard.path}: {reason}", labels)


def _paths_of(scope: Mapping[str, Any]) -> Iterator[str]:
    """The path of an HTTP request, and the one below the place where the application is mounted."""
    if scope["type"] == "http":
        path, root = scope["path"], scope.get("root_path", "").rstrip("/")
        yield path
        if root and path.startswith(f"{root}/"):
            yield path.removeprefix(root)


def _pattern(path: str) -> re.Pattern[str]:
    """The pattern of a path with parameters."""
    texts = re.split(r"\{\w+(?::path)?\}", path)
    steps = [f"(?P<{name}>{'.+' if several else '[^/]+'})" for name, several in re.findall(r"\{(\w+)(:path)?\}", path)]
    return re.compile("".join(re.escape(text) + step for text, step in zip(texts, [*steps, ""], strict=True)))


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
    """The observed data of one request and its response. `over`: the response came to its end; `left`: it cannot be sent.

    `bodies` are the events of the response, and last the JSON of the request.
    """

    def __init__(self, limit: int, scope: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
        self.request, self.response = _Copy(limit), _Copy(limit)
        self.status, self.over, self.left = 0, False, False
        self.parameters, self.path = parameters, str(scope["path"])
        self.headers: Mapping[bytes, bytes] = {}
        self.bodies: Sequence[Any] = (None,)
        self._scope = scope

    @property
    def kind(self) -> str:
        """The media type of the response."""
        return self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")

    def text(self) -> str:
        """The response, in its charset."""
        charset = re.search(rb"charset=\"?([\w.:-]+)", self.headers.get(b"content-type", b""))
        try:
            return self.response.joined().decode(charset[1].decode("ascii") if charset else "utf-8")
        except LookupError:
            return self.response.joined().decode()

    def read_request(self, *, in_json: bool) -> Any:
        """The JSON of the request; None without one where none is needed."""
        body = self.request.joined()
        return msgspec.json.decode(body) if body or in_json else None

    def first(self, place: str) -> Any:
        """What stands at a place: of the request, or in the response's JSON or else in the request's; None for no place."""
        if not place or ":" in place:
            return self.asked_at(place) if place else None
        return next((value for body in self.bodies if (value := find(body, place)) is not None), None)

    def asked_at(self, place: str) -> Any:
        """What stands at a place of the request: in its JSON, or a header, a parameter of its address or of its path."""
        kind, _, name = place.partition(":")
        if not name:
            return find(self.bodies[-1], place)
        if kind == "header":
            wanted = name.lower().encode("latin-1", "replace")
            return next((value.decode("latin-1") for key, value in self._scope.get("headers", ()) if key.lower() == wanted), None)
        if kind == "query":
            values = parse_qs(self._scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True).get(name)
            return values[0] if values else None
        return self.parameters.get(name)


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
