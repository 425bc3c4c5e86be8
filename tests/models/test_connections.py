"""Connections to a server that speaks HTTP byte by byte, on loopback."""

import asyncio
import gzip
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from areopage.models import connections
from areopage.models.connections import ConnectionBroke, Connections, IdleConnections, NoConnection, NoConnectionInTime, Reply
from areopage.models.settings import Timeouts
from servers import PATIENCE

MOST = 1 << 20
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers each request with the next of some texts, on any number of connections."""

    def __init__(self, answers: Sequence[bytes], close_after: int = 1000, pause: float = 0.0) -> None:
        self.answers, self.close_after, self.pause = list(answers), close_after, pause
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.opened = 0
        self.asked, self.left = asyncio.Event(), asyncio.Event()
        """A request has come; a client has closed its connection."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            for _ in range(self.close_after):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                length = next((int(line[15:]) for line in head.split("\r\n") if line.startswith("Content-Length:")), 0)
                self.bodies.append(await reader.readexactly(length))
                self.asked.set()
                await asyncio.sleep(self.pause)
                writer.write(self.answers.pop(0))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        except IndexError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def connected(server: Server, **more: object) -> AsyncIterator[Connections]:
    context = more.pop("tls", None)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    port = listening.sockets[0].getsockname()[1]
    timeouts = more.pop("timeouts", Timeouts())
    scheme = "https" if context else "http"
    address, most, idle = f"{scheme}://127.0.0.1:{port}/v1", more.pop("most", 4), more.pop("idle", None)
    opened = Connections(address, {"x-key": "k"}, timeouts, most, idle)  # type: ignore[arg-type]
    try:
        yield opened
    finally:
        await opened.aclose()
        listening.close()


def one_address(of: Connections) -> str:
    return f"http://127.0.0.1:{of._port}/v1"


def replies(server: Server, count: int = 1, together: bool = False, **more: object) -> list[Reply]:
    async def run() -> list[Reply]:
        async with connected(server, **more) as opened:
            calls = (opened.exchange("POST", "/x", b"{}", 5.0, MOST) for _ in range(count))
            return list(await asyncio.gather(*calls)) if together else [await call for call in calls]

    return asyncio.run(run())


def plain(content: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{more}\r\n".encode() + content


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
TO_THE_END = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabcde"


def test_a_request_says_what_it_sends_and_keeps_signs_of_the_path() -> None:
    async def run() -> None:
        server = Server([plain(b"1"), plain(b"2")])
        async with connected(server) as opened:
            await opened.exchange("POST", "/chat/é x", '{"a":"é"}'.encode(), 5.0, MOST, (("api-version", "1 2"), ("é", "&")))
            await opened.exchange("GET", "/models", None, 5.0, MOST)
        first, second = server.heads
        assert first.startswith("POST /v1/chat/%C3%A9%20x?api-version=1+2&%C3%A9=%26 HTTP/1.1\r\nHost: 127.0.0.1:")
        assert "Content-Length: 10\r\n" in first
        assert "x-key: k\r\n" in first
        assert second.startswith("GET /v1/models HTTP/1.1\r\n")
        assert "Content-Length" not in second
        assert server.bodies == ['{"a":"é"}'.encode(), b""]

    asyncio.run(run())


@pytest.mark.parametrize(
    "answer",
    [
        plain(b"abcde"),
        CHUNKED,
        plain(gzip.compress(b"abcde"), more="Content-Encoding: gzip\r\n"),
        plain(zlib.compress(b"abcde"), more="Content-Encoding: deflate\r\n"),
        plain(zlib.compress(b"abcde", wbits=-15), more="Content-Encoding: deflate\r\n"),
        plain(zlib.compress(b"abcde", level=0, wbits=-15), more="Content-Encoding: deflate\r\n"),
    ],
    ids=["length", "chunks", "gzip", "deflate", "deflate without header", "stored without header"],
)
def test_every_form_of_an_answer_is_read_and_the_connection_stays_open(answer: bytes) -> None:
    server = Server([answer, answer, plain(b"end", "503 Busy", "Retry-After: 7\r\n")])
    found = replies(server, 3)
    assert [reply.content for reply in found] == [b"abcde", b"abcde", b"end"]
    assert (found[2].status, found[2].headers["retry-after"], server.opened) == (503, "7", 1)


def test_an_answer_that_ends_with_its_connection_is_whole_and_the_next_request_opens_another() -> None:
    server = Server([TO_THE_END, TO_THE_END], close_after=1)
    assert [reply.content for reply in replies(server, 2)] == [b"abcde", b"abcde"]
    assert server.opened == 2


def test_a_connection_that_the_server_closes_is_not_used_again() -> None:
    for more in ("", "Connection: close\r\n"):
        server = Server([plain(b"1", more=more), plain(b"2", more=more)], close_after=1)

        async def run(server: Server = server) -> None:
            async with connected(server) as opened:
                for content in (b"1", b"2"):
                    assert (await opened.exchange("POST", "/x", b"{}", 5.0, MOST)).content == content
                    await asyncio.sleep(0.05)  # the end of the connection arrives

        asyncio.run(run())
        assert server.opened == 2


def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEPT_IDLE", 0.0)
    server = Server([plain(b"1"), plain(b"2")])
    replies(server, 2)
    assert server.opened == 2


def test_signs_of_life_before_an_answer_are_not_the_answer() -> None:
    (reply,) = replies(Server([b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + plain(b"abc", more="x: 1\r\n")]))
    assert (reply.status, reply.content, "link" in reply.headers, reply.headers["x"]) == (200, b"abc", False, "1")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        CHUNKED[:-9],
        plain(gzip.compress(b"abcde")[:-9], more="Content-Encoding: gzip\r\n"),
        plain(b"not packed", more="Content-Encoding: gzip\r\n"),
        plain(b"not packed", more="Content-Encoding: deflate\r\n"),
        plain(zlib.compress(b"abcde", wbits=-15)[:-2], more="Content-Encoding: deflate\r\n"),
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,
    ],
    ids=[
        "nothing",
        "no HTTP",
        "cut",
        "cut chunk",
        "cut gzip",
        "no gzip",
        "no deflate",
        "cut deflate",
        "upgrade",
        "headers without end",
    ],
)
def test_what_is_no_whole_answer_is_a_broken_connection(answer: bytes) -> None:
    with pytest.raises(ConnectionBroke):
        replies(Server([answer], close_after=1))


def test_bytes_behind_an_answer_are_not_taken_for_the_next_one() -> None:
    server = Server([plain(b"1") + plain(b"smuggled"), plain(b"2")])
    assert [reply.content for reply in replies(server, 2)] == [b"1", b"2"]
    assert server.opened == 2


@pytest.mark.parametrize("endless", [b"X-Filler: " + b"x" * 200_000, b"X: y\r\n" * 30_000], ids=["one field", "many fields"])
def test_fields_behind_a_content_that_have_no_end_are_a_broken_connection(endless: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n" + endless
    with pytest.raises(ConnectionBroke, match="no end"):
        replies(Server([answer]))


def test_a_long_content_of_many_small_chunks_is_read_whole() -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 60_000 + b"0\r\n\r\n"
    (reply,) = replies(Server([answer]))
    assert reply.content == b"a" * 60_000


def test_a_connection_with_a_request_that_was_answered_before_it_was_sent_carries_no_other() -> None:
    writers = list[asyncio.StreamWriter]()

    async def refuse_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"too large", "413 Content Too Large"))
        writers.append(writer)  # the body is not read

    async def run() -> None:
        listening = await asyncio.start_server(refuse_early, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        one = Connections(address, {}, Timeouts(read=2.0), 4)
        for _ in range(2):
            assert (await one.exchange("POST", "/x", b"x" * 40_000_000, 5.0, MOST)).status == 413
        await one.aclose()
        for writer in writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
        listening.close()

    asyncio.run(run())
    assert len(writers) == 2


def test_a_host_that_the_user_names_stands_in_place_of_the_address() -> None:
    async def run() -> None:
        server = Server([plain(b"1")])
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        opened = Connections(f"http://127.0.0.1:{port}", {"host": "judge.example"}, Timeouts(), 4)
        await opened.exchange("GET", "/x", None, 5.0, MOST)
        await opened.aclose()
        listening.close()
        await asyncio.sleep(0.01)  # the server notices
        hosts = [line for line in server.heads[0].split("\r\n") if line.lower().startswith("host:")]
        assert hosts == ["host: judge.example"]

    asyncio.run(run())


def test_content_that_is_too_large_packed_or_not_is_none() -> None:
    large, packed = b" " * (2 * MOST), gzip.compress(b" " * (2 * MOST))
    for answer in (plain(large), plain(packed, more="Content-Encoding: gzip\r\n")):
        (reply,) = replies(Server([answer]))
        assert (reply.status, reply.content) == (200, None)


def test_no_more_connections_are_open_than_allowed_and_those_that_wait_come_in_turn() -> None:
    server = Server([plain(b"%d" % number) for number in range(12)], pause=0.01)
    found = replies(server, 12, together=True, most=3)
    assert sorted(int(reply.content or b"") for reply in found) == list(range(12))
    assert server.opened == 3


def test_a_connection_that_one_user_has_left_open_carries_the_request_of_another_until_the_last_user_ends() -> None:
    async def run() -> None:
        server, idle = Server([plain(b"a"), plain(b"b"), plain(b"c"), plain(b"d")]), IdleConnections()
        async with connected(server, idle=idle) as one:
            other = Connections(one_address(one), {"x-key": "of the other"}, Timeouts(), 4, idle)
            for user in (one, other, one):
                await user.exchange("POST", "/x", b"{}", 5.0, MOST)
            assert server.opened == 1
            assert ["of the other" in head for head in server.heads] == [False, True, False]
            await other.aclose()
            await one.exchange("POST", "/x", b"{}", 5.0, MOST)
            assert server.opened == 1

    asyncio.run(run())


def test_a_connection_whose_exchange_ends_after_the_last_user_has_left_is_closed() -> None:
    async def run() -> None:
        server = Server([plain(b"a")], pause=0.05)
        async with connected(server) as opened:
            exchange = asyncio.create_task(opened.exchange("POST", "/x", b"{}", 5.0, MOST))
            await server.asked.wait()
            await opened.aclose()
            assert (await exchange).content == b"a"
            await asyncio.wait_for(server.left.wait(), PATIENCE)

    asyncio.run(run())


def test_connections_to_another_host_or_port_are_not_taken_for_those_of_a_server() -> None:
    async def run() -> None:
        first, second, idle = Server([plain(b"a")]), Server([plain(b"b")]), IdleConnections()
        async with connected(first, idle=idle) as one, connected(second, idle=idle) as other:
            assert (await one.exchange("POST", "/x", b"{}", 5.0, MOST)).content == b"a"
            assert (await other.exchange("POST", "/x", b"{}", 5.0, MOST)).content == b"b"
        assert (first.opened, second.opened) == (1, 1)

    asyncio.run(run())


def test_a_cancelled_exchange_frees_its_place_and_closes_its_connection() -> None:
    async def run() -> None:
        server = Server([plain(b"late"), plain(b"2")], pause=0.2)
        async with connected(server, most=1) as opened:
            first = asyncio.create_task(opened.exchange("POST", "/x", b"{}", 5.0, MOST))
            await asyncio.sleep(0.05)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert (await opened.exchange("POST", "/x", b"{}", 5.0, MOST)).content == b"2"
        assert server.opened == 2

    asyncio.run(run())


@pytest.mark.parametrize(
    ("timeouts", "total", "fault"),
    [(Timeouts(read=0.05), 5.0, TimeoutError), (Timeouts(), 0.05, TimeoutError)],
)
def test_a_silent_server_is_given_up_at_the_first_limit(timeouts: Timeouts, total: float, fault: type[Exception]) -> None:
    async def run() -> None:
        async with connected(Server([plain(b"late")], pause=5.0), timeouts=timeouts) as opened:
            with pytest.raises(fault) as caught:
                await opened.exchange("POST", "/x", b"{}", total, MOST)
            assert not isinstance(caught.value, NoConnectionInTime)

    asyncio.run(run())


def test_a_slow_answer_is_not_silence() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.1)
            writer.write(b".")
        writer.close()

    async def run() -> Reply:
        server = Server([])
        server.serve = drip  # type: ignore[method-assign]
        async with connected(server, timeouts=Timeouts(read=0.6)) as opened:
            return await opened.exchange("GET", "/x", None, 30.0, MOST)

    assert asyncio.run(run()).content == b"........"


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """A server's context with a certificate for 127.0.0.1 that no authority has signed."""
    key, own = tmp_path / "key.pem", tmp_path / "own.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(own)]
    subprocess.run([*made, *more], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    return context


def test_an_encrypted_connection_is_kept_where_the_certificate_is_known_and_refused_else(
    certificate: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoConnection) as caught:
        replies(Server([plain(b"1")]), tls=certificate)
    assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    server = Server([plain(b"1"), plain(b"2")])
    assert [reply.content for reply in replies(server, 2, tls=certificate)] == [b"1", b"2"]
    assert server.opened == 1


def test_a_certificate_of_another_host_is_refused(
    certificate: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))

    async def run() -> None:
        listening = await asyncio.start_server(Server([plain(b"1")]).serve, "127.0.0.1", 0, ssl=certificate)
        opened = Connections(f"https://localhost:{listening.sockets[0].getsockname()[1]}", {}, Timeouts(), 4)
        try:
            with pytest.raises(NoConnection, match="localhost"):
                await opened.exchange("GET", "/x", None, 5.0, MOST)
        finally:
            await opened.aclose()
            listening.close()

    asyncio.run(run())
