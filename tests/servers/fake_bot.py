"""A small bot on loopback that answers in the shape that a test wants."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from servers import PATIENCE


@dataclass
class Asked:
    """One request that came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class FakeBot:
    """The bot; `reply` makes the status and the body of each answer (bytes as they are, else JSON)."""

    reply: Callable[[Asked], tuple[int, Any]] = lambda asked: (200, {"answer": f"So: {asked.body['question']}"})
    answer_headers: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> "FakeBot":
        bot = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.handle_one()

            def do_GET(self) -> None:
                self.handle_one()

            def handle_one(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                body = msgspec.json.decode(content) if content else None
                query = dict(parse_qsl(parts.query))
                asked = Asked(self.command, parts.path, query, dict(self.headers.items()), body)
                bot.asked.append(asked)
                status, reply = bot.reply(asked)
                out = reply if isinstance(reply, bytes) else msgspec.json.encode(reply)
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **bot.answer_headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.01), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)
