"""What is refused before it is read, and what every answer carries."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from areopage.errors import StorageError
from areopage.ledger.write.evaluations import Evaluations
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from areopage.server.errors import POLICY
from areopage.server.guards import BodyLimit

from .live import Live, live
from .seeded import context_for

MOST = 20_000


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServerContext]:
    made = context_for(tmp_path, server={"max_body": MOST})
    yield made
    made.ledger.close()


def answer(size: int) -> bytes:
    """An answer of so many bytes as JSON."""
    empty = json.dumps({"prompt": "?", "response": ""}, separators=(",", ":")).encode()
    return empty[:-2] + b"x" * (size - len(empty)) + empty[-2:]


def head(extra: str, site: Live) -> bytes:
    lines = ["POST /v1/evaluations HTTP/1.1", f"Host: {site.host}", "Content-Type: application/json", "Connection: close", extra]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_body_may_be_as_large_as_the_limit_and_no_larger(site: Live) -> None:
    assert site.post("/v1/evaluations", answer(MOST)).status == 202
    reply = site.post("/v1/evaluations", answer(MOST + 1))
    assert (reply.status, reply.code) == (413, "too_large")
    assert str(MOST) in reply.json["error"]["message"]


def test_a_declared_size_is_refused_before_the_body_comes(site: Live) -> None:
    received = site.raw(head(f"Content-Length: {10**15}", site))
    assert received.startswith(b"HTTP/1.1 413 ")


def test_a_body_in_chunks_is_refused_once_it_is_too_large(site: Live) -> None:
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    received = site.raw(head("Transfer-Encoding: chunked", site) + chunk * (MOST // 0x1000 + 2))
    assert received.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("size", [3_000_000, 20_000_000])
def test_a_client_that_sends_its_whole_body_first_sees_why_it_is_refused(site: Live, size: int) -> None:
    reply = site.post("/v1/evaluations", answer(size))
    assert (reply.status, reply.code) == (413, "too_large")
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [b"x" * 100_000] * (size // 100_000))
    received = site.raw(head("Transfer-Encoding: chunked", site) + chunks + b"0\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 413 ")


def test_a_client_that_waits_for_leave_to_send_is_refused_at_once(site: Live) -> None:
    received = site.raw(head(f"Content-Length: {MOST + 1}\r\nExpect: 100-continue", site))
    assert received.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("path", ["/v1/evaluations", "/healthz", "/login"])
def test_a_request_with_two_host_headers_is_refused(site: Live, path: str) -> None:
    lines = [f"GET {path} HTTP/1.1", f"Host: {site.host}", "Host: evil.example", "Accept: text/html", "Connection: close"]
    assert site.raw("\r\n".join([*lines, "", ""]).encode()).startswith(b"HTTP/1.1 400 ")


def test_a_body_in_chunks_within_the_limit_is_taken(site: Live) -> None:
    body = answer(5000)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:]))
    assert site.raw(head("Transfer-Encoding: chunked", site) + chunks + b"0\r\n\r\n").startswith(b"HTTP/1.1 202 ")


def test_a_form_that_is_too_large_is_refused(site: Live) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert site.ask("POST", "/login", b"key=" + b"x" * MOST, kind).status == 413
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert site.ask("POST", "/login", b"--b\r\n" * MOST, kind).status == 413


def test_a_client_that_goes_away_in_the_middle_harms_nobody(site: Live) -> None:
    with socket.create_connection(("127.0.0.1", site.port)) as connection:
        connection.sendall(head("Content-Length: 900", site) + b"{")
    with socket.create_connection(("127.0.0.1", site.port)) as connection:
        connection.sendall(head("Transfer-Encoding: chunked", site) + b"5\r\n{")
    assert site.get("/v1/evaluations").json["items"] == []
    assert Evaluations(site.context.ledger).backlog().waiting == 0


@pytest.mark.parametrize(
    "path", ["/v1/evaluations", "/monitor", "/login", "/healthz", "/nothing", "/v1/evaluations/none", "/openapi.json"]
)
def test_every_answer_says_what_a_browser_may_do(site: Live, path: str) -> None:
    headers = site.get(path, {"Accept": "text/html"}).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_files_may_be_kept_by_a_browser(site: Live) -> None:
    reply = site.get("/static/app.css")
    assert reply.status == 200
    assert reply.headers["cache-control"] == "no-cache"
    assert site.get("/static/../app.py").status == 404
    assert site.get("/static/%2e%2e/app.py").status == 404


def test_no_page_loads_anything_from_elsewhere(site: Live) -> None:
    assert site.get("/docs").status == 404
    assert site.get("/redoc").status == 404


def test_programs_are_told_in_json_and_people_on_a_page(site: Live) -> None:
    assert site.get("/nothing").code == "not_found"
    assert site.get("/v1/evaluations/none", {"Accept": "text/html"}).code == "unknown_answer"
    page = site.get("/<script>alert(1)</script>", {"Accept": "text/html"})
    assert page.status == 404
    assert page.headers["content-type"].startswith("text/html")
    assert b"<script>" not in page.body
    assert site.ask("PUT", "/v1/evaluations", b"").code == "method_not_allowed"


@pytest.mark.parametrize(
    ("language", "missing", "denied", "expired", "broken"),
    [
        ("fr-FR,fr", "Page introuvable", "Accès refusé", "Ce formulaire a expiré", "est survenue"),
        ("en", "Page not found", "Access denied", "This form has expired", "Something went wrong"),
    ],
)
def test_a_reader_is_told_in_his_language_what_is_wrong(
    site: Live, monkeypatch: pytest.MonkeyPatch, language: str, missing: str, denied: str, expired: str, broken: str
) -> None:
    wanted = {"Accept": "text/html", "Accept-Language": language}
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{site.host}"}
    asker = site.key("ask")
    monkeypatch.setattr("areopage.server.pages.session.home_of", lambda _: 1 // 0)
    for status, reply, title in (
        (404, site.get("/nothing", wanted), missing),
        (403, site.get("/gate", wanted | asker), denied),
        (403, site.ask("POST", "/login", b"key=x", wanted | form), expired),
        (500, site.get("/", wanted), broken),
    ):
        page = reply.body.decode()
        assert (reply.status, title in page) == (status, True), title
        assert f'<html lang="{language[:2]}">' in page
        assert reply.headers["content-security-policy"] == POLICY
        assert reply.headers["cache-control"] == "no-store"


def test_a_body_that_comes_too_slowly_is_refused(tmp_path: Path) -> None:
    made = context_for(tmp_path, server={"body_seconds": 1.0})
    with live(made) as site:
        for extra in ("Content-Length: 1000000", "Transfer-Encoding: chunked"):
            received = site.raw(head(extra, site).replace(b"Connection: close", b"Connection: keep-alive") + b"5\r\n{")
            assert received.startswith(b"HTTP/1.1 408 ")
            assert b'"too_slow"' in received
        assert site.post("/v1/evaluations", answer(5000)).status == 202
    made.ledger.close()


def test_an_answer_may_take_longer_than_its_body() -> None:
    messages: list[Message] = [{"type": "http.request", "body": b"{}", "more_body": False}, {"type": "http.disconnect"}]
    heard: list[Message] = []

    async def receive() -> Message:
        if heard:
            await asyncio.sleep(0.03)
        return messages[len(heard)]

    async def app(_: Scope, receive: Receive, __: Send) -> None:
        heard.append(await receive())
        heard.append(await receive())

    async def send(_: Message) -> None:
        raise AssertionError

    asyncio.run(BodyLimit(app, 100, 0.01)({"type": "http", "headers": []}, receive, send))
    assert heard == messages


def served(context: ServerContext, path: str) -> list[Message]:
    """What the application sends for a request, also where it fails."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        headers = [(b"host", b"localhost")]
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
        }
        await create_app(context)({**scope, "client": ("127.0.0.1", 1), "scheme": "http"}, receive, send)

    with suppress(ZeroDivisionError):  # what the server writes into its log
        asyncio.run(run())
    return sent


def test_a_fault_of_ours_leaks_nothing(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.server.api.figures.PeriodFigures.of", lambda *_, **__: 1 // 0)
    start, body = served(context, "/v1/figures")[:2]
    assert start["status"] == 500
    assert json.loads(body["body"])["error"]["code"] == "internal"
    assert b"Zero" not in body["body"]
    assert dict(start["headers"])[b"content-security-policy"] == POLICY.encode()


def test_a_ledger_that_cannot_be_read_is_said_without_its_place(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StorageError("/secret/place: disk I/O error")

    monkeypatch.setattr("areopage.server.api.figures.PeriodFigures.of", fail)
    start, body = served(context, "/v1/figures")[:2]
    assert start["status"] == 503
    assert b"secret" not in body["body"]
    assert dict(start["headers"])[b"retry-after"] == b"5"


@contextmanager
def silent(site: Live, count: int, data: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that send no request, or only so much of one."""
    with ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=5)) for _ in range(count)]
        for one in made:
            with suppress(ConnectionError):
                one.sendall(data)
        yield made


def is_closed(connection: socket.socket) -> bool:
    """Whether the server closes a connection without an answer, soon."""
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("limits", [{"connections": 50}, {"connections_per_client": 50}])
@pytest.mark.parametrize("data", [b"", b"GET /healthz HTT"])
def test_silent_connections_keep_nobody_out(tmp_path: Path, limits: dict[str, int], data: bytes) -> None:
    made = context_for(tmp_path, server=limits)
    with live(made) as site, silent(site, 300, data) as held:
        assert site.get("/healthz").status == 200
        assert all(is_closed(one) for one in held[:250])
    made.ledger.close()


def test_a_head_that_trickles_is_cut_off_in_time(tmp_path: Path) -> None:
    made = context_for(tmp_path, server={"head_seconds": 0.3})
    with live(made) as site, silent(site, 1, b"G") as (slow,):
        with suppress(ConnectionError):  # a busy machine may need the time for fewer bytes
            for byte in b"ET /":
                time.sleep(0.05)
                slow.sendall(bytes([byte]))
        assert is_closed(slow)
        assert site.get("/healthz").status == 200
    made.ledger.close()


def test_connections_with_a_request_under_way_are_not_closed_for_others(tmp_path: Path) -> None:
    made = context_for(tmp_path, server={"connections": 2, "head_seconds": 0.3})
    body = answer(3000)
    with live(made) as site, silent(site, 2, head(f"Content-Length: {len(body)}", site)) as asked:
        time.sleep(0.4)
        with silent(site, 1, b"GET") as (late,):
            assert is_closed(late)
        for one in asked:
            one.sendall(body)
            assert one.recv(12) == b"HTTP/1.1 202"
    made.ledger.close()
