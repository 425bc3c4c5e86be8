"""What a stranger sends before a request, or while it waits for an answer, is limited."""

import socket
from contextlib import suppress
from unittest import mock

import pytest

from areopage.server.connections import HEAD_BYTES, HEAD_LINES, QUEUED, LimitedProtocol
from servers import PATIENCE

from .live import Live


def sent(site: Live, *parts: bytes) -> bytes:
    """What comes back until the server closes the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE) as connection, suppress(ConnectionError):
        for part in parts:
            with suppress(ConnectionError):
                connection.sendall(part)
        while part := connection.recv(1 << 16):
            received += part
    return received


def request(site: Live, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {site.host}", *lines, "", ""]).encode()


CLOSE = "Connection: close"


@pytest.mark.parametrize("lines", [[f"a: {'x' * HEAD_BYTES}"], ["a:"] * (HEAD_LINES + 1), ["a: " + "x" * 900] * 90])
def test_a_head_that_is_too_large_is_refused_and_the_connection_closed(site: Live, lines: list[str]) -> None:
    assert sent(site, request(site, "/healthz", *lines)).startswith(b"HTTP/1.1 431 ")


def test_a_head_without_an_end_is_refused_as_it_grows(site: Live) -> None:
    begin = f"GET /healthz HTTP/1.1\r\nHost: {site.host}\r\n".encode()
    assert sent(site, begin, *[b"a:\r\n" * 1000] * 40).startswith(b"HTTP/1.1 431 ")
    assert sent(site, begin + b"a: ", *[b"x" * 10_000] * 40).startswith(b"HTTP/1.1 431 ")
    assert sent(site, b"GET /", *[b"x" * 10_000] * 40).startswith(b"HTTP/1.1 431 ")
    assert site.get("/healthz").status == 200


def test_an_address_that_is_too_long_is_refused(site: Live) -> None:
    assert sent(site, request(site, "/" + "x" * (HEAD_BYTES + 1))).startswith(b"HTTP/1.1 431 ")


def test_what_browsers_send_is_within_the_limits(site: Live) -> None:
    lines = [f"x-{number}: {'y' * 200}" for number in range(150)]
    assert sent(site, request(site, "/healthz", *lines, CLOSE)).startswith(b"HTTP/1.1 200 ")
    body = b'{"prompt": "?", "response": "' + b"x" * 200_000 + b'"}'
    assert site.post("/v1/evaluations", body).status == 202


def test_of_many_requests_that_are_sent_at_once_only_the_first_are_answered(site: Live) -> None:
    received = sent(site, request(site, "/openapi.json") * 50)
    assert received.count(b"HTTP/1.1 200 OK") == 1 + QUEUED


def test_two_requests_that_are_sent_at_once_are_answered(site: Live) -> None:
    received = sent(site, request(site, "/healthz") + request(site, "/healthz", CLOSE))
    assert received.count(b"HTTP/1.1 200 OK") == 2


def test_trailers_of_a_body_are_limited_too(site: Live) -> None:
    lines = [f"Host: {site.host}", "Content-Type: application/json", "Transfer-Encoding: chunked"]
    head = "\r\n".join(["POST /v1/evaluations HTTP/1.1", *lines, "", ""]).encode()
    received = sent(site, head + b"2\r\n{}\r\n0\r\n", *[b"a:\r\n" * 1000] * 40)
    assert not received.startswith(b"HTTP/1.1 2")


def test_small_answers_leave_at_once(site: Live) -> None:
    seen: list[int] = []
    made = LimitedProtocol.connection_made

    def noted(self: LimitedProtocol, transport: object) -> None:
        made(self, transport)  # type: ignore[arg-type]
        connection = self.transport.get_extra_info("socket")
        seen.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    with mock.patch.object(LimitedProtocol, "connection_made", noted):
        assert site.get("/healthz").status == 200
    assert seen[0] != 0


def test_the_schema_is_encoded_once(site: Live) -> None:
    first = site.get("/openapi.json")
    with mock.patch("areopage.server.app.get_openapi", side_effect=AssertionError):
        assert site.get("/openapi.json").body == first.body
    assert first.headers["content-type"] == "application/json"
    assert "/v1/evaluations" in first.json["paths"]


def test_the_schema_asks_for_one_name_of_prompt_and_response(site: Live) -> None:
    schemas = site.get("/openapi.json").json["components"]["schemas"]
    one_of = {name for name, schema in schemas.items() if all("oneOf" in part for part in schema.get("allOf", [{}]))}
    assert one_of == {"GivenAnswer", "CheckRequest"}
