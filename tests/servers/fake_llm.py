"""A small server that speaks Ollama's and OpenAI's chat protocol and can be told to misbehave.

In a test: `with FakeServer() as server:` (a thread of its own, a free port). As a process:
`PYTHONPATH=tests python -m servers.fake_llm --port 0`.

A verdict's score is a function of the model and of the first two messages alone (`true_score`), whatever the options, the
protocol or the repair call. Faults are drawn from the body and how often it came, so that a try again may succeed.
"""

import argparse
import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from aiohttp import web

from servers import PATIENCE
from servers.fake_answers import SAYS, Call, answer_text, digest, draw, reply_to

MODELS = ("fake-a", "fake-b", "fake-target")
CHAT_PATHS = ("/api/chat", "/v1/chat/completions")


@dataclass
class Faults:
    """What goes wrong. Shares are in [0, 1] of the verdicts (texts) or of all chat calls (failures).

    `storm` answers so many chat calls 429 with `retry_after`; `failures` of one body in a row stay under `failures_in_a_row`;
    `hang` never answers; `hold` answers once it is lifted; `status` answers every chat call so, with `message`; `stop_after`
    lets the server die with that chat call. `says` are the texts that verdicts are answered with, one after the other, the
    last one for good; `replies` are those of calls that ask for no verdict, `ends` why these end, in the same way.
    """

    storm: int = 0
    retry_after: str = "1"
    failures: float = 0.0
    failures_in_a_row: int = 3
    texts: float = 0.0
    kinds: tuple[str, ...] = ("cut", "cut_early", "fenced", "prose", "two")
    hang: bool = False
    hold: bool = False
    status: int = 0
    message: str = "the fake server fails"
    stop_after: int = 0
    says: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=lambda: ["stop"])


@dataclass
class FakeServer:
    """The server; its faults may be changed while it runs, and it may be stopped and started again on the same port."""

    models: tuple[str, ...] = MODELS
    latency: float = 0.0
    api_key: str = ""
    faults: Faults = field(default_factory=Faults)
    port: int = 0
    # What is told of the prompt's length; None counts it.
    prompt_tokens: int | None = None
    # What gives the verdicts, in place of `true_score`; a text is sent as it is.
    judge: Callable[[Call], dict[str, Any] | str] | None = None
    # What gives the responses of calls that ask for no verdict.
    respond: Callable[[Call], str] | None = None
    # How many slots `/props` tells of, as the server of llama.cpp does; 0: there is no such path.
    slots: int = 0
    # Whether look-ups are never answered.
    deaf: bool = False
    # Look-ups of models and versions.
    lookups: int = 0
    calls: list[Call] = field(default_factory=list)
    answered: int = 0
    # Chat calls that are open, and the most that ever were.
    open: int = 0
    most_open: int = 0

    def __post_init__(self) -> None:
        self._seen: Counter[bytes] = Counter()
        self._started = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    @property
    def address(self) -> str:
        """`host:port`, as OLLAMA_HOST wants it."""
        return f"127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base URL, as OPENAI_BASE_URL wants it."""
        return f"http://{self.address}/v1"

    @property
    def verdict_calls(self) -> list[Call]:
        """The calls that asked for a verdict."""
        return [call for call in self.calls if call.asks_verdict]

    @property
    def target_calls(self) -> list[Call]:
        """The calls that asked for a response."""
        return [call for call in self.calls if not call.asks_verdict]

    def repeated(self) -> int:
        """How many chat calls had come before, to the letter."""
        return len(self.calls) - len({(call.path, call.body) for call in self.calls})

    def wait_for_calls(self, count: int) -> None:
        """Wait until so many chat calls have arrived."""
        end = time.monotonic() + PATIENCE
        while len(self.calls) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(self.calls)} of {count} calls came")
            time.sleep(0.002)

    # --- life

    def __enter__(self) -> "FakeServer":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Listen; a port that was taken once is taken again."""
        self._started.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        if not self._started.wait(PATIENCE):
            raise TimeoutError("the server does not start")

    def stop(self) -> None:
        """Break all connections and listen no more; may be called twice."""
        if self._thread is not None:
            if self._loop is not None and self._stopping is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(PATIENCE)
            self._thread = None

    async def serve(self) -> None:
        """Serve until stopped."""
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        application = web.Application(client_max_size=1 << 26)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.01, access_log=None)
        await runner.setup()
        protocol = runner.server
        assert protocol is not None
        listener = await self._loop.create_server(protocol, "127.0.0.1", self.port, backlog=1024)
        self.port = listener.sockets[0].getsockname()[1]
        self._started.set()
        try:
            await self._stopping.wait()
        finally:
            listener.close()
            for connection in list(protocol.connections):
                if connection.transport is not None:
                    connection.transport.abort()
            await runner.cleanup()

    # --- requests

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return failure(401, "Incorrect API key provided")
        if request.path in CHAT_PATHS and request.method == "POST":
            return await self._chat(request)
        self.lookups += request.path != "/props"
        if self.deaf:
            await asyncio.sleep(3600)
        lists = [{"name": name, "model": name, "digest": digest(name), "size": 5_000_000_000} for name in self.models]
        found: dict[str, Any] = {
            "/api/tags": {"models": lists},
            "/api/version": {"version": "0.0.0"},
            "/api/show": {"model_info": {"general.architecture": "fake", "fake.context_length": 8192}},
            "/v1/models": {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]},
        }
        if self.slots:
            found["/props"] = {"total_slots": self.slots, "model_path": "fake.gguf"}
        if request.path in found:
            return web.json_response(found[request.path])
        return failure(404, "not found")

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            return await self._answer(request)
        finally:
            self.open -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        asked = json.loads(body)
        self._seen[body] += 1
        nth = self._seen[body]
        call = self._note(request, body, asked, nth)
        if self._stopping is not None and 0 < self.faults.stop_after <= len(self.calls):
            self._stopping.set()
        if call.fault == "hang" or (self._stopping is not None and self._stopping.is_set()):
            await asyncio.sleep(3600)
        while self.faults.hold:  # noqa: ASYNC110 - it is lifted by another thread
            await asyncio.sleep(0.005)
        if self.latency:
            await asyncio.sleep(self.latency)
        if call.fault == "storm":
            return failure(429, "too many requests", {"Retry-After": self.faults.retry_after})
        if call.model not in self.models:
            return failure(404, f"model '{call.model}' not found")
        if call.fault.isdigit():
            return failure(int(call.fault), self.faults.message)
        make = self.judge if call.asks_verdict else self.respond
        own = make(call) if make and not call.fault else None
        text, finish_reason = answer_text(call) if own is None else (own if isinstance(own, str) else json.dumps(own), "stop")
        self.answered += 1
        counted = max(1, sum(len(content) for _, content in call.messages) // 4)
        return web.json_response(reply_to(call, text, finish_reason, self.prompt_tokens or counted))

    def _note(self, request: web.Request, body: bytes, asked: dict[str, Any], nth: int) -> Call:
        asks_verdict = bool(asked.get("format") or asked.get("response_format"))
        options = asked.get("options") or {
            key: value for key, value in asked.items() if key not in ("messages", "response_format")
        }
        call = Call(
            path=request.path,
            model=asked["model"],
            messages=tuple((message["role"], message["content"]) for message in asked["messages"]),
            options=options,
            asks_verdict=asks_verdict,
            authorization=request.headers.get("Authorization", ""),
            body=body,
            fault=self._fault(body, nth, asks_verdict),
        )
        self.calls.append(call)
        return call

    def _fault(self, body: bytes, nth: int, asks_verdict: bool) -> str:
        faults = self.faults
        if faults.storm > 0:
            faults.storm -= 1
            return "storm"
        if faults.hang:
            return "hang"
        if faults.status:
            return str(faults.status)
        if nth <= faults.failures_in_a_row and draw(body, nth, "failure") < faults.failures:
            return "500"
        texts = faults.says if asks_verdict else faults.replies
        if texts:
            end = "stop" if asks_verdict else next_of(faults.ends)
            return f"{SAYS}{end}:{next_of(texts)}"
        if asks_verdict and draw(body, nth, "text") < faults.texts:
            return faults.kinds[int(draw(body, nth, "kind") * len(faults.kinds))]
        return ""


def next_of(texts: list[str]) -> str:
    """The next text; the last one for good."""
    return texts.pop(0) if len(texts) > 1 else texts[0]


def failure(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    """An error as both protocols' clients understand it."""
    return web.json_response({"error": {"message": message}}, status=status, headers=headers)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve as a process of its own; the address is printed first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--models", type=lambda text: tuple(text.split(",")), default=MODELS)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--storm", type=int, default=0)
    parser.add_argument("--failures", type=float, default=0.0)
    parser.add_argument("--texts", type=float, default=0.0)
    given = parser.parse_args(arguments)
    faults = Faults(storm=given.storm, failures=given.failures, texts=given.texts)
    server = FakeServer(models=given.models, latency=given.latency_ms / 1000, faults=faults, port=given.port)
    server.start()
    print(f"http://{server.address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
