"""Connections to a server that speaks HTTP byte by byte, on loopback."""

import asyncio
import gzip
import os
import ssl
import subprocess
import sys
import zlib
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from areopage.errors import CallTimedOut, CallUnreachable
from areopage.models.connections import Connections, HttpReply
from areopage.models.http import JsonServer
from areopage.models.settings import Timeouts
from servers import PATIENCE
from servers.streams import listening

LARGEST = 1 << 20


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


def connections(
    address: str, headers: Mapping[str, str] | None = None, timeouts: Timeouts | None = None, most: int = 4
) -> Connections:
    return Connections(address, headers or {}, timeouts or Timeouts(), most=most, largest=LARGEST, proxy=None)


@asynccontextmanager
async def connected(server: Server, tls: ssl.SSLContext | None = None, **more: Any) -> AsyncIterator[Connections]:
    async with listening(server.serve, ssl=tls) as port:
        opened = connections(f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1", {"x-key": "k"}, **more)
        try:
            yield opened
        finally:
            await opened.aclose()


def replies(server: Server, count: int = 1, together: bool = False, **more: Any) -> list[HttpReply]:
    async def run() -> list[HttpReply]:
        async with connected(server, **more) as opened:
            calls = (opened.exchange("POST", "/x", b"{}", 5.0) for _ in range(count))
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
            await opened.exchange("POST", "/chat/é x", '{"a":"é"}'.encode(), 5.0, (("api-version", "1 2"), ("é", "&")))
            await opened.exchange("GET", "/models", None, 5.0)
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
                    assert (await opened.exchange("POST", "/x", b"{}", 5.0)).content == content
                    await asyncio.sleep(0.05)  # the end of the connection arrives

        asyncio.run(run())
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
        plain(b"not packed", more="Content-Encoding: gzip\r\n"),
        plain(b"not packed", more="Content-Encoding: deflate\r\n"),
        plain(zlib.compress(b"abcde", wbits=-15)[:-2], more="Content-Encoding: deflate\r\n"),
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,
    ],
    ids=[
        "nothing",
        "no HTTP",
        "cut",
        "cut chunk",
        "no gzip",
        "no deflate",
        "cut deflate",
        "headers without end",
    ],
)
def test_what_is_no_whole_answer_is_a_broken_connection(answer: bytes) -> None:
    with pytest.raises(CallUnreachable) as caught:
        replies(Server([answer], close_after=1))
    assert caught.value.silent


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (plain(gzip.compress(b'{"a": "abcde"}')[:20], more="Content-Encoding: gzip\r\n"), "not the JSON expected"),
        (plain(gzip.compress(b"{}")), "packed with gzip, which no header content-encoding says"),
        (plain(b""), "the answer is empty"),
        (plain(b"{}", more="Content-Encoding: gzip\r\n"), r"cannot be unpacked as its header content-encoding says \(gzip\)"),
        (plain(b"{}", more="Content-Encoding: br\r\n"), r"cannot be unpacked as its header content-encoding says \(br"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", "answered 101"),
    ],
    ids=["cut gzip", "gzip unsaid", "empty", "no gzip", "no brotli", "upgrade"],
)
def test_what_is_an_answer_of_http_alone_is_unreachable(answer: bytes, why: str) -> None:
    async def run() -> None:
        async with listening(Server([answer]).serve) as port:
            asked = JsonServer(f"http://127.0.0.1:{port}")
            with pytest.raises(CallUnreachable, match=why):
                await asked.post("/x", b"{}", object)
            await asked.aclose()

    asyncio.run(run())


def test_bytes_behind_an_answer_are_not_taken_for_the_next_one() -> None:
    server = Server([plain(b"1") + plain(b"smuggled"), plain(b"2")])
    assert [reply.content for reply in replies(server, 2)] == [b"1", b"2"]
    assert server.opened == 2


def test_an_answer_that_comes_while_no_request_waits_is_not_taken_for_the_next_one() -> None:
    async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"1"))
        await asyncio.sleep(0.02)
        writer.write(plain(b"of no request"))
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    async def run() -> None:
        server = Server([])
        server.serve = twice  # type: ignore[method-assign]
        async with connected(server) as opened:
            assert (await opened.exchange("POST", "/x", b"", 5.0)).content == b"1"
            await asyncio.sleep(0.1)
            with pytest.raises(CallUnreachable, match="closed by the server"):
                await opened.exchange("POST", "/x", b"", 5.0)
            assert (await opened.exchange("POST", "/x", b"", 5.0)).content == b"1"

    asyncio.run(run())


@pytest.mark.parametrize("endless", [b"X-Filler: " + b"x" * 200_000, b"X: y\r\n" * 30_000], ids=["one field", "many fields"])
def test_fields_behind_a_content_that_have_no_end_are_a_broken_connection(endless: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n" + endless
    with pytest.raises(CallUnreachable, match="connection broke"):
        replies(Server([answer]))


def test_a_long_content_of_many_small_chunks_is_read_whole() -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 60_000 + b"0\r\n\r\n"
    (reply,) = replies(Server([answer]))
    assert reply.content == b"a" * 60_000


def test_a_connection_with_a_request_that_was_answered_before_it_was_sent_carries_no_other() -> None:
    refused = []

    async def refuse_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"too large", "413 Content Too Large"))
        refused.append(writer)
        await asyncio.sleep(PATIENCE)  # the body is not read

    async def run() -> None:
        async with listening(refuse_early) as port:
            asked = connections(f"http://127.0.0.1:{port}", timeouts=Timeouts(read=2.0))
            for _ in range(2):
                assert (await asked.exchange("POST", "/x", b"x" * 40_000_000, 5.0)).status == 413
            await asked.aclose()

    asyncio.run(run())
    assert len(refused) == 2


def test_a_host_that_the_user_names_stands_in_place_of_the_address() -> None:
    async def run() -> None:
        server = Server([plain(b"1")])
        async with listening(server.serve) as port:
            opened = connections(f"http://127.0.0.1:{port}", {"host": "judge.example"})
            await opened.exchange("GET", "/x", None, 5.0)
            await opened.aclose()
        hosts = [line for line in server.heads[0].split("\r\n") if line.lower().startswith("host:")]
        assert hosts == ["host: judge.example"]

    asyncio.run(run())


def test_content_that_is_too_large_packed_or_not_is_none() -> None:
    large, packed = b" " * (2 * LARGEST), gzip.compress(b" " * (2 * LARGEST))
    for answer in (plain(large), plain(packed, more="Content-Encoding: gzip\r\n")):
        (reply,) = replies(Server([answer]))
        assert (reply.status, reply.content) == (200, None)


def test_no_more_connections_are_open_than_allowed_and_those_that_wait_come_in_turn() -> None:
    server = Server([plain(b"%d" % number) for number in range(12)], pause=0.01)
    found = replies(server, 12, together=True, most=3)
    assert sorted(int(reply.content or b"") for reply in found) == list(range(12))
    assert server.opened == 3


def test_a_cancelled_exchange_frees_its_place_and_closes_its_connection() -> None:
    async def run() -> None:
        server = Server([plain(b"late"), plain(b"2")], pause=0.2)
        async with connected(server, most=1) as opened:
            first = asyncio.create_task(opened.exchange("POST", "/x", b"{}", 5.0))
            await asyncio.sleep(0.05)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert (await opened.exchange("POST", "/x", b"{}", 5.0)).content == b"2"
        assert server.opened == 2

    asyncio.run(run())


@pytest.mark.parametrize(("timeouts", "total"), [(Timeouts(read=0.05), 5.0), (Timeouts(), 0.05)])
def test_a_silent_server_is_given_up_at_the_first_limit(timeouts: Timeouts, total: float) -> None:
    async def run() -> None:
        async with connected(Server([plain(b"late")], pause=5.0), timeouts=timeouts) as opened:
            with pytest.raises(CallTimedOut, match=r"no answer within 0\.05 s") as caught:
                await opened.exchange("POST", "/x", b"{}", total)
            assert not caught.value.silent

    asyncio.run(run())


def test_a_slow_answer_is_not_silence() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.1)
            writer.write(b".")
        writer.close()

    async def run() -> HttpReply:
        server = Server([])
        server.serve = drip  # type: ignore[method-assign]
        async with connected(server, timeouts=Timeouts(read=0.6)) as opened:
            return await opened.exchange("GET", "/x", None, 30.0)

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


ASK_TWICE = """
import asyncio, sys
from areopage.errors import CallError
from areopage.models.connections import Connections
from areopage.models.settings import Timeouts
async def ask(address):
    opened = Connections(address, {}, Timeouts(), most=4, largest=1000, proxy=None)
    try:
        for _ in range(2):
            print((await opened.exchange("GET", "/x", None, 5.0)).content.decode())
    except CallError as fault:
        print(fault.unconnected, fault)
    await opened.aclose()
asyncio.run(ask(sys.argv[1]))
"""


def test_an_encrypted_connection_is_kept_where_the_certificate_is_known_and_refused_else(
    certificate: ssl.SSLContext, tmp_path: Path
) -> None:
    """The certificates that are known are read as the process starts, so each caller is a process."""

    async def run() -> None:
        server = Server([plain(b"1"), plain(b"2")])
        async with listening(server.serve, ssl=certificate) as port:

            async def ask(host: str, **environment: str) -> list[str]:
                arguments = (sys.executable, "-c", ASK_TWICE, f"https://{host}:{port}")
                asking = await asyncio.create_subprocess_exec(*arguments, stdout=PIPE, env={**os.environ, **environment})
                told, _ = await asking.communicate()
                return told.decode().splitlines()

            known = str(tmp_path / "own.pem")
            assert await ask("127.0.0.1", SSL_CERT_FILE=known) == ["1", "2"]
            assert server.opened == 1
            (unknown,) = await ask("127.0.0.1")
            assert unknown.startswith(f"False https://127.0.0.1:{port}/x: no connection (")
            assert "self-signed certificate" in unknown
            (another,) = await ask("localhost", SSL_CERT_FILE=known)
            assert "certificate is not valid for 'localhost'" in another

    asyncio.run(run())
