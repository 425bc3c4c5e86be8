"""The JSON transport against a server on loopback: every fault becomes the right one of three exceptions."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from tempfile import TemporaryFile
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable, ModelError
from areopage.models import http
from areopage.models.http import JsonServer
from areopage.models.port import read_logprobs
from areopage.models.servers import environment_proxy, is_loopback
from areopage.models.settings import Endpoint, ModelSettings, Timeouts
from servers.streams import listening

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
KEY = "sk-very-secret-key"


class Answer(msgspec.Struct):
    text: str


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    application = web.Application(client_max_size=1 << 30)
    application.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def replying(status: int = 200, body: Any = None, **more: Any) -> Handler:
    async def reply(request: web.Request) -> web.Response:
        if isinstance(body, bytes):
            return web.Response(status=status, body=body, **more)
        return web.json_response(body, status=status, **more)

    return reply


def post(handler: Handler, body: object = b"{}", **more: Any) -> Answer:
    async def run() -> Answer:
        async with serving(handler) as url:
            server = JsonServer(url, **more)
            try:
                return await server.post("/x", body, Answer)
            finally:
                await server.aclose()

    return asyncio.run(run())


def fault_of(handler: Handler, **more: Any) -> CallError:
    with pytest.raises(CallError) as caught:
        post(handler, **more)
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_an_object_is_sent_as_json_and_bytes_are_sent_as_they_are() -> None:
    async def echo(request: web.Request) -> web.Response:
        assert request.content_type == "application/json"
        return web.json_response({"text": (await request.read()).decode()})

    assert post(echo, {"a": [1, "é"]}).text == '{"a":[1,"é"]}'
    assert post(echo, b'{"a": 1 }').text == '{"a": 1 }'


def test_get_reads_what_was_asked_for() -> None:
    async def run() -> Answer:
        async with serving(replying(body={"text": "hello", "more": 1})) as url:
            server = JsonServer(url + "/")
            try:
                return await server.get("/x", Answer)
            finally:
                await server.aclose()

    assert asyncio.run(run()).text == "hello"


def test_a_text_that_json_cannot_hold_is_rejected_before_it_is_sent() -> None:
    with pytest.raises(CallRejected, match="cannot be written as JSON"):
        post(replying(body={"text": ""}), {"text": "\ud800"})
    with pytest.raises(CallRejected, match="cannot be written as JSON"):
        post(replying(body={"text": ""}), {"text": object()})


def test_one_server_serves_one_event_loop_after_the_other() -> None:
    ports: list[str] = []

    async def run(server: JsonServer | None) -> JsonServer:
        async with serving(replying(body={"text": "hello"})) as url:
            ports.append(url)
            server = server or JsonServer(url)
            server.address = url
            assert (await server.post("/x", b"{}", Answer)).text == "hello"
            return server

    server = asyncio.run(run(None))
    server = asyncio.run(run(server))
    asyncio.run(server.aclose())
    assert len(ports) == 2


def test_a_closed_server_opens_again() -> None:
    async def run() -> None:
        async with serving(replying(body={"text": "hello"})) as url:
            server = JsonServer(url)
            await server.aclose()
            for _ in range(2):
                assert (await server.post("/x", b"{}", Answer)).text == "hello"
                await server.aclose()

    asyncio.run(run())


def test_a_refused_connection_is_unreachable_and_says_so() -> None:
    async def run(host: str) -> None:
        server = JsonServer(f"http://{host}:{free_port()}")
        try:
            await server.post("/x", b"{}", Answer)
        finally:
            await server.aclose()

    # A name with several addresses fails in several ways at once.
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(CallUnreachable, match=f"http://{host}:.*nothing listens there") as caught:
            asyncio.run(run(host))
        assert caught.value.unconnected


def test_an_unknown_host_is_unreachable_and_no_connection_came_about() -> None:
    async def run() -> None:
        server = JsonServer("http://no-such-host.invalid")
        try:
            await server.post("/x", b"{}", Answer)
        finally:
            await server.aclose()

    with pytest.raises(CallUnreachable, match="no host of this name") as caught:
        asyncio.run(run())
    assert caught.value.unconnected


def test_a_connection_reset_in_the_middle_is_unreachable() -> None:
    async def reset(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    fault = fault_of(reset)
    assert isinstance(fault, CallUnreachable)
    assert (fault.unconnected, fault.silent) == (False, True)


def test_an_answer_cut_on_the_wire_is_unreachable() -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"text": "he')
        assert request.transport is not None
        request.transport.close()
        return response

    assert isinstance(fault_of(cut), CallUnreachable)


@pytest.mark.parametrize("body", [b'{"text": "he', b"", b"not json", b'{"text": [5]}', b"{}", b"[" * 200_000], ids=repr)
def test_a_body_that_is_not_the_json_expected_is_unreachable(body: bytes) -> None:
    fault = fault_of(replying(body=body))
    assert isinstance(fault, CallUnreachable)
    assert "not the JSON expected" in str(fault)
    assert "\n" not in str(fault)


def test_the_message_of_json_that_is_called_a_page_is_read() -> None:
    fault = fault_of(replying(400, body=b'{"error": {"message": "no seed"}}', content_type="text/html"))
    assert str(fault).endswith("answered 400: no seed")


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_web_page_in_place_of_an_answer_is_called_one(kind: str) -> None:
    fault = fault_of(replying(body=b"\n<!doctype html><title>Sign in</title>", content_type=kind))
    assert isinstance(fault, CallUnreachable)
    assert str(fault).endswith("/x: the answer is a web page, not the JSON expected: is the address right?")


def test_what_is_not_http_is_called_so() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")

    async def run() -> None:
        async with listening(greet) as port:
            server = JsonServer(f"http://127.0.0.1:{port}")
            try:
                await server.post("/x", b"{}", Answer)
            finally:
                await server.aclose()

    with pytest.raises(CallUnreachable, match=r"the connection broke \(what came is not HTTP\)"):
        asyncio.run(run())


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_5xx_is_unreachable(status: int) -> None:
    fault = fault_of(replying(status, {"error": {"message": "overloaded"}}))
    assert isinstance(fault, CallUnreachable)
    assert (fault.unconnected, fault.silent) == (False, status in (502, 503))
    assert fault.retry_after is None
    assert str(fault).endswith(f"/x answered {status}: overloaded")


def test_a_server_that_waited_too_long_for_the_request_is_asked_again() -> None:
    fault = fault_of(replying(408, b""))
    assert isinstance(fault, CallUnreachable)
    assert str(fault).endswith("/x answered 408: Request Timeout")


def test_a_page_of_html_is_reduced_to_its_status() -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    for kind in ("text/html", "application/json"):
        fault = fault_of(replying(502, page, content_type=kind))
        assert str(fault).endswith("/x answered 502: Bad Gateway")


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "7s"}, 7.0),
        ({"Retry-After": "1500ms"}, 1.5),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "nan"}, 0.0),
        ({"Retry-After": "soon"}, 0.0),
        ({"retry-after-ms": "inf", "Retry-After": "2"}, 2.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, 0.0),
    ],
)
@pytest.mark.parametrize("status", [429, 529])
def test_a_server_with_too_many_calls_is_unreachable_with_its_pause(headers: dict[str, str], pause: float, status: int) -> None:
    fault = fault_of(replying(status, {"error": {"message": "slow down"}}, headers=headers))
    assert isinstance(fault, CallUnreachable)
    assert fault.retry_after == pause


def test_a_pause_may_be_given_as_a_date() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    fault = fault_of(replying(503, {}, headers={"Retry-After": until}))
    assert isinstance(fault, CallUnreachable)
    assert fault.retry_after == pytest.approx(3600, abs=120)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": "model 'x' not found"}, "model 'x' not found"),
        ({"error": {"message": "unknown option", "type": "invalid_request_error"}}, "unknown option"),
        (b"just\r\n\ttext\x1b[31m\x00", "just text [31m"),
        (b"", "Bad Request"),
        (b"z" * 1000, "z" * 200),
        ({"detail": "no"}, "no"),
        ({"message": "no tokens left", "code": "3505"}, "no tokens left"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
    ids=repr,
)
def test_another_4xx_is_rejected_with_the_servers_own_message_on_one_line(body: Any, said: str) -> None:
    fault = fault_of(replying(400, body))
    assert isinstance(fault, CallRejected)
    assert fault.status == 400
    assert str(fault).partition(" answered 400: ")[2] == said


@given(st.text())
def test_no_message_holds_a_control_character_or_more_than_200_of_the_servers(text: str) -> None:
    shown = str(JsonServer("http://localhost").fault("/x", 400, text)).removeprefix("http://localhost/x answered 400: ")
    assert shown.isprintable()
    assert len(shown) <= 200


def test_a_redirect_is_not_followed() -> None:
    asked: list[str] = []

    async def redirect(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    fault = fault_of(redirect)
    assert isinstance(fault, CallRejected)
    assert "redirects to /elsewhere" in str(fault)
    assert asked == ["/x"]


async def never(request: web.Request) -> web.Response:
    await asyncio.sleep(60)
    return web.Response()


def test_no_answer_in_time_is_timed_out() -> None:
    for limits in (Timeouts(read=0.05), Timeouts(total=0.05)):
        with pytest.raises(CallTimedOut, match=r"no answer within 0\.05 s"):
            post(never, timeouts=limits)


def test_no_free_connection_in_time_is_timed_out() -> None:
    async def run() -> None:
        async with serving(never) as url:
            server = JsonServer(url, connections=1, timeouts=Timeouts(pool=0.05, connect=0.05))
            first = asyncio.create_task(server.post("/x", b"{}", Answer))
            await asyncio.sleep(0.02)
            try:
                await server.post("/x", b"{}", Answer)
            finally:
                first.cancel()
                await asyncio.gather(first, return_exceptions=True)
                await server.aclose()

    with pytest.raises(CallTimedOut, match="no connection within"):
        asyncio.run(run())


def test_an_answer_without_end_is_rejected_and_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 1 << 20)
    assert isinstance(fault_of(replying(body=b" " * (2 << 20))), CallRejected)
    assert post(replying(body=b'{"text": "fits"}' + b" " * (1 << 19))).text == "fits"


def test_a_packed_answer_is_measured_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 1 << 20)

    async def packed(request: web.Request) -> web.Response:
        response = web.Response(body=b" " * (4 << 20))
        response.enable_compression()
        return response

    assert isinstance(fault_of(packed), CallError)


def test_a_key_that_the_server_echoes_is_not_shown() -> None:
    async def echo(request: web.Request) -> web.Response:
        bare = request.headers["Authorization"].removeprefix("Bearer ")
        return web.json_response({"error": f"{'x' * 190} bad key {bare} in {dict(request.headers)}"}, status=401)

    fault = fault_of(echo, headers={"Authorization": f"Bearer {KEY}", "x-team": "team-secret"})
    assert KEY[:8] not in str(fault)
    assert "team-secret" not in str(fault)


def test_credentials_in_an_address_are_sent_and_never_shown() -> None:
    seen: list[str] = []

    async def run() -> None:
        async def deny(request: web.Request) -> web.Response:
            seen.append(request.headers["Authorization"])
            return web.Response(status=403)

        async with serving(deny) as url:
            server = JsonServer(url.replace("http://", "http://ada:pa%73s@"))
            assert "ada" not in server.address
            try:
                await server.post("/x", b"{}", Answer)
            finally:
                await server.aclose()

    with pytest.raises(CallRejected) as caught:
        asyncio.run(run())
    assert seen == ["Basic YWRhOnBhc3M="]
    assert "ada" not in str(caught.value)
    assert "pass" not in str(caught.value)


NO_ADDRESSES = ["", "localhost:11434", "ftp://host", "http://", "http://u:secret@host:99999", "http://[::1"]
NO_HOSTS = ["http://a..b", f"http://{'ü' * 70}.example"]


@pytest.mark.parametrize("address", [*NO_ADDRESSES, *NO_HOSTS])
def test_what_is_no_address_is_a_users_mistake(address: str) -> None:
    with pytest.raises(ModelError, match="write http://host:port") as caught:
        JsonServer(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("more", ["?key=secret", "#secret"])
def test_a_part_of_an_address_that_would_not_be_sent_is_a_users_mistake(more: str) -> None:
    with pytest.raises(ModelError, match="would not be sent") as caught:
        JsonServer(f"http://localhost/v1{more}")
    assert "secret" not in str(caught.value)


def test_a_header_with_a_line_break_is_a_users_mistake_and_is_not_shown() -> None:
    with pytest.raises(ModelError, match="'Authorization'") as caught:
        JsonServer("http://localhost", headers={"Authorization": f"Bearer {KEY}\nX: y"})
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection"])
def test_a_header_that_says_where_a_request_ends_is_a_users_mistake(name: str) -> None:
    with pytest.raises(ModelError, match=f"(?i){name}.*leave it out"):
        JsonServer("http://localhost", headers={name: "5"})


@pytest.mark.parametrize("name", ["", "X: y", "X y", "Clé"])
def test_a_header_whose_name_cannot_be_one_is_a_users_mistake(name: str) -> None:
    with pytest.raises(ModelError, match="is no name of a header"):
        JsonServer("http://localhost", headers={name: "5"})


def test_a_query_that_cannot_be_written_is_rejected_before_it_is_sent() -> None:
    async def run() -> None:
        async with serving(replying(200, {"text": ""})) as url:
            for proxy in (None, url):
                server = JsonServer(url, proxy=proxy)
                try:
                    with pytest.raises(CallRejected, match="cannot be written"):
                        await server.ask("/x", [("q", "\ud800")], Answer)
                finally:
                    await server.aclose()

    asyncio.run(run())


def test_a_server_of_files_and_calls_serves_one_event_loop_after_the_other() -> None:
    server = JsonServer(f"http://127.0.0.1:{free_port()}")

    async def run(*order: str) -> None:
        async with serving(replying(200, {"text": "a"})) as url:
            server.address = url
            for one in order:
                if one == "call":
                    assert (await server.post("/x", b"{}", Answer)).text == "a"
                else:
                    with TemporaryFile() as file:
                        assert (await server.upload("/x", [], "f", file, Answer)).text == "a"
            if order[-1] == "last":
                await server.aclose()

    asyncio.run(run("file", "call"))
    asyncio.run(run("call", "file"))
    asyncio.run(run("file", "call", "last"))


def test_connections_are_kept_for_the_next_call() -> None:
    peers: set[object] = set()

    async def note(request: web.Request) -> web.Response:
        peers.add(request.transport and request.transport.get_extra_info("peername"))
        return web.json_response({"text": ""})

    async def run() -> None:
        async with serving(note) as url:
            server = JsonServer(url)
            for _ in range(5):
                await server.post("/x", b"{}", Answer)
            await server.aclose()

    asyncio.run(run())
    assert len(peers) == 1


def test_a_call_goes_through_the_proxy_it_is_given() -> None:
    seen: list[str] = []

    async def run() -> Answer:
        async def proxy(request: web.Request) -> web.Response:
            seen.append(request.headers["Host"])
            return web.json_response({"text": "by proxy"})

        async with serving(proxy) as url:
            server = JsonServer("http://models.example", proxy=url)
            try:
                return await server.post("/x", b"{}", Answer)
            finally:
                await server.aclose()

    assert asyncio.run(run()).text == "by proxy"
    assert seen == ["models.example"]


def by_proxy(proxy: str, address: str = "https://models.example") -> CallError:
    async def run() -> CallError:
        server = JsonServer(address, proxy=proxy)
        try:
            with pytest.raises(CallError) as caught:
                await server.post("/x", b"{}", Answer)
            return caught.value
        finally:
            await server.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_not_there_is_named_without_its_password(scheme: str) -> None:
    fault = by_proxy(f"http://ada:secret@127.0.0.1:{free_port()}", f"{scheme}://models.example")
    assert isinstance(fault, CallUnreachable)
    assert fault.unconnected
    assert "proxy http://***@127.0.0.1:" in str(fault)
    assert "secret" not in str(fault)


@pytest.mark.parametrize(("status", "kind"), [(407, CallRejected), (403, CallRejected), (502, CallUnreachable)])
def test_what_a_proxy_refuses_is_not_told_of_the_server(status: int, kind: type[CallError]) -> None:
    async def run() -> CallError:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()

        async with listening(refuse) as port:
            return await asyncio.to_thread(by_proxy, f"http://127.0.0.1:{port}")

    fault = asyncio.run(run())
    assert isinstance(fault, kind)
    assert "the proxy http://127.0.0.1" in str(fault)
    assert str(status) in str(fault)


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("http://10.1.2.3:8000", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "10.0.0.0/8"}, None),
        ("http://11.1.2.3:8000", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "10.0.0.0/8"}, "http://p:3128"),
        ("http://[fd00::7]:8000", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "fd00::/8"}, None),
        ("http://[fd00::7]:8000", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "[fd00::7]"}, None),
        ("http://gpu.example:8000", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "gpu.example:8000"}, None),
        ("http://gpu.example:8001", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "gpu.example:8000"}, "http://p:3128"),
        ("https://gpu.example", {"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "gpu.example:443"}, None),
        ("http://gpu.lab.example", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "*.lab.example"}, None),
        ("http://gpu.example", {"http_proxy": "http://lower", "HTTP_PROXY": "http://upper"}, "http://lower"),
        ("http://gpu.example", {"HTTP_PROXY": "http://upper", "http_proxy": "http://lower"}, "http://lower"),
        ("http://gpu.example/v1", {"HTTP_PROXY": "http://p:3128"}, "http://p:3128"),
        ("https://gpu.example", {"https_proxy": "p:3128"}, "http://p:3128"),
        ("https://gpu.example", {"HTTP_PROXY": "http://p:3128"}, None),
        ("http://localhost:11434", {"HTTP_PROXY": "http://p:3128"}, None),
        ("http://127.0.0.1:8080", {"HTTP_PROXY": "http://p:3128"}, None),
        ("http://[::1]:8080", {"HTTP_PROXY": "http://p:3128"}, None),
        ("http://gpu.lab.example", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "x, .lab.example"}, None),
        ("http://gpu.lab.example", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "*"}, None),
        ("http://notlab.example", {"HTTP_PROXY": "http://p:3128", "NO_PROXY": "lab.example"}, "http://p:3128"),
        ("http://gpu.example", {"ALL_PROXY": "http://p:3128"}, "http://p:3128"),
        ("https://gpu.example", {"all_proxy": "p:3128"}, "http://p:3128"),
        ("https://gpu.example", {"ALL_PROXY": "http://upper", "all_proxy": "http://lower"}, "http://lower"),
        ("https://gpu.example", {"all_proxy": "socks5://all:1080", "HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
        ("http://gpu.example", {"ALL_PROXY": "http://all:3128", "HTTPS_PROXY": "http://p:3128"}, "http://all:3128"),
        ("http://gpu.example", {"ALL_PROXY": "socks5://p:1080", "NO_PROXY": "gpu.example"}, None),
        ("http://127.0.0.1:8080", {"ALL_PROXY": "socks5://p:1080"}, None),
        ("http://gpu.example", {}, None),
        ("http://gpu.example:99999", {"HTTP_PROXY": "http://p:3128"}, None),
        ("http://[::1", {"HTTP_PROXY": "http://p:3128"}, None),
    ],
)
def test_the_proxy_of_the_environment_is_never_one_for_loopback(url: str, environment: dict[str, str], proxy: str | None) -> None:
    assert environment_proxy(url, environment) == proxy


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "all_proxy"])
def test_a_proxy_of_another_kind_is_a_users_mistake(variable: str) -> None:
    with pytest.raises(ModelError, match=rf"^{variable} names a socks5h proxy, and only HTTP proxies .* NO_PROXY") as told:
        environment_proxy("http://gpu.example", {variable: "socks5h://user:secret@p:1080"})
    assert "secret" not in str(told.value)


def test_loopback_is_told_from_its_namesakes() -> None:
    assert all(map(is_loopback, ["localhost", "api.localhost", "127.0.0.1", "127.9.9.9", "::1"]))
    assert not any(map(is_loopback, ["localhost.example", "127.0.0.1.example", "10.0.0.1", ""]))


def test_an_endpoint_is_found_by_name_and_only_for_its_provider() -> None:
    lab = Endpoint(provider="openai", base_url="http://lab")
    settings = ModelSettings(endpoints={"lab": lab})
    assert settings.endpoint_named("", "openai") is None
    assert settings.endpoint_named("lab", "openai") is lab
    with pytest.raises(ModelError, match=r"unknown endpoint 'x'.*\(lab\)"):
        settings.endpoint_named("x", "openai")
    with pytest.raises(ModelError, match="openai@lab:MODEL"):
        settings.endpoint_named("lab", "ollama")


def test_log_probabilities_of_another_shape_are_left_out() -> None:
    assert read_logprobs(None) is None
    assert read_logprobs([]) is None
    assert read_logprobs([{"token": "a", "logprob": None}]) is None
    assert read_logprobs({"tokens": []}) is None
