"""The adapter of Ollama's native protocol, against servers on loopback and beside the official client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import ollama
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import CallRejected, CallTimedOut, CallUnreachable, ModelError, ModelMissing, ServerDown
from areopage.models import adapters
from areopage.models.ollama import (
    TOP_LEVEL_OPTIONS,
    OllamaModel,
    chat_body,
    looks_cut,
    open_model,
)
from areopage.models.port import Completion, Message, ModelStatus, TokenLogprob
from areopage.models.reference import ModelReference
from areopage.models.servers import ListedModel
from areopage.models.settings import Endpoint, ModelSettings, Timeouts, ollama_url

MESSAGES = (Message("system", "You are a judge."), Message("user", "Say {score} – à bientôt ?"))
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
OPTIONS = {"keep_alive": "30m", "think": False, "num_ctx": 4096, "temperature": 0.1, "top_k": 5, "unheard_of": [1]}
MOCK = Path(__file__).parents[2].parent / "shared" / "bench" / "mock_llm.py"


class FakeOllama:
    """An Ollama server whose answer is the request it got; `replies` replace answers by path."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.replies: dict[str, tuple[int, Any]] = {}
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["FakeOllama"]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read() or "null")
        self.requests.append((request.path, body))
        self.headers.append(dict(request.headers))
        status, reply = self.replies.get(request.path, (200, None))
        if reply is None:
            reply = {"/api/chat": self._chat, "/api/tags": self._tags, "/api/show": self._show}[request.path](body)
        return web.json_response(reply, status=status)

    @staticmethod
    def _chat(body: Any) -> Any:
        # What a client says by leaving out or by an empty list is the same.
        text = json.dumps({key: value for key, value in body.items() if value not in (None, [])}, sort_keys=True)
        return {
            "model": body["model"],
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text, "thinking": "hmm"},
            "done": True,
            "done_reason": "stop",
            "total_duration": 5,
            "prompt_eval_count": 31,
            "eval_count": 7,
            "logprobs": [{"token": "5", "logprob": -0.25, "top_logprobs": [{"token": "5", "logprob": -0.25}]}],
        }

    @staticmethod
    def _tags(body: Any) -> Any:
        return {
            "models": [{"name": f"{name}", "model": name, "digest": f"sha-{name}", "size": 7} for name in ("m:latest", "n:8b")]
        }

    @staticmethod
    def _show(body: Any) -> Any:
        return {"model_info": {"general.architecture": "llama", "llama.block_count": 2, "llama.context_length": 8192}}


def model_at(url: str, name: str = "m", **settings: Any) -> OllamaModel:
    return open_model(ModelReference("ollama", name), ModelSettings(ollama_base_url=url, **settings))


def generate(fake: FakeOllama, options: dict[str, Any] | None = None, schema: Any = None, **settings: Any) -> Completion:
    async def run() -> Completion:
        async with fake.running():
            model = model_at(fake.url, **settings)
            try:
                return await model.generate(MESSAGES, options or {}, schema)
            finally:
                await model.aclose()

    return asyncio.run(run())


def check(fake: FakeOllama, name: str) -> ModelStatus:
    async def run() -> ModelStatus:
        async with fake.running():
            model = model_at(fake.url, name)
            try:
                return await model.check()
            finally:
                await model.aclose()

    return asyncio.run(run())


def test_options_go_where_the_protocol_wants_them_and_are_not_changed() -> None:
    body = json.loads(generate(FakeOllama(), OPTIONS | {"logprobs": True, "top_logprobs": 5, "truncate": False}, SCHEMA).text)
    assert body == {
        "model": "m",
        "messages": [{"role": message.role, "content": message.content} for message in MESSAGES],
        "stream": False,
        "format": SCHEMA,
        "keep_alive": "30m",
        "think": False,
        "logprobs": True,
        "top_logprobs": 5,
        "truncate": False,
        "options": {"num_ctx": 4096, "temperature": 0.1, "top_k": 5, "unheard_of": [1]},
    }


@given(st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8), max_size=6))
def test_no_option_is_lost_and_none_can_change_the_request(options: dict[str, Any]) -> None:
    options |= {"model": "other", "stream": True}
    body = chat_body("m", MESSAGES, options)
    assert (body["model"], body["stream"]) == ("m", False)
    assert body["options"] | {name: body[name] for name in TOP_LEVEL_OPTIONS & options.keys()} == options
    assert json.loads(msgspec.json.encode(body))["options"] == body["options"]


def test_without_options_and_schema_the_servers_own_hold() -> None:
    assert set(json.loads(generate(FakeOllama()).text)) == {"model", "messages", "stream", "truncate"}


def test_a_completion_holds_what_the_server_counted_and_no_thinking() -> None:
    completion = generate(FakeOllama())
    assert "hmm" not in completion.text
    assert (completion.finish_reason, completion.prompt_tokens, completion.completion_tokens) == ("stop", 31, 7)
    assert completion.logprobs == (TokenLogprob("5", -0.25, (("5", -0.25),)),)
    assert completion.seconds > 0
    assert not completion.prompt_cut


def test_a_silent_server_leaves_counts_unknown() -> None:
    fake = FakeOllama()
    fake.replies["/api/chat"] = (200, {"message": {"role": "assistant", "content": None}, "done": True})
    completion = generate(fake)
    assert completion == Completion(text="", seconds=completion.seconds)


def test_a_cut_answer_says_length() -> None:
    fake = FakeOllama()
    fake.replies["/api/chat"] = (200, {"message": {"content": "so I"}, "done_reason": "length"})
    assert generate(fake).finish_reason == "length"


@pytest.mark.parametrize(
    "reply", [{"error": "unexpected EOF"}, {}, {"message": None}, [], {"message": {"content": ""}, "done_reason": "load"}]
)
def test_a_200_without_an_answer_is_a_fault(reply: Any) -> None:
    fake = FakeOllama()
    fake.replies["/api/chat"] = (200, reply)
    with pytest.raises(CallUnreachable, match="unexpected EOF" if "error" in reply else "/api/chat"):
        generate(fake)


def test_a_model_that_is_gone_is_rejected_with_the_command_that_brings_it() -> None:
    fake = FakeOllama()
    fake.replies["/api/chat"] = (404, {"error": "model 'm' not found"})
    with pytest.raises(CallRejected, match="model 'm' not found: ollama pull m") as caught:
        generate(fake)
    assert caught.value.status == 404


def test_another_refusal_is_passed_on() -> None:
    fake = FakeOllama()
    fake.replies["/api/chat"] = (400, {"error": "the input length exceeds the context length"})
    with pytest.raises(CallRejected, match=r"exceeds the context length$"):
        generate(fake)


def test_a_slow_model_is_timed_out() -> None:
    class Slow(FakeOllama):
        async def _handle(self, request: web.Request) -> web.Response:
            await asyncio.sleep(60)
            return web.Response()

    with pytest.raises(CallTimedOut):
        generate(Slow(), timeouts=Timeouts(read=0.05))


# --- a prompt that was cut


@pytest.mark.parametrize(
    ("characters", "counted", "window", "cut"),
    [
        (159_062, 16_386, 32_768, True),  # half the window and 2: measured on Ollama 0.33
        (600_000, 16_387, 32_768, True),  # half the window and 3: measured as well
        (8_200, 2_050, 4_096, False),  # as many tokens by chance
        (40_000, 4_096, 4_096, True),  # the whole window
        (16_000, 4_096, 4_096, True),  # no room is left for an answer
        (4_000, 1_010, 1_024, True),
        (3_900, 1_000, 1_024, False),
        (8_000, 2_048, None, True),  # all of the server's own window
        (40_000, 3_000, 4_096, True),  # whole messages were dropped
        (17_000, 3_000, 4_096, False),  # long words
        (30_000, 2_050, None, True),  # the server's own window
        (30_000, 5_000, None, False),
        (40_000, None, 4_096, False),  # the server is silent
        (0, 0, 4_096, False),
    ],
)
def test_a_prompt_that_was_cut_is_noticed(characters: int, counted: int | None, window: int | None, cut: bool) -> None:
    assert looks_cut((Message("user", "x" * characters),), counted, window) is cut


def test_a_completion_tells_that_the_prompt_was_cut() -> None:
    fake = FakeOllama()
    fake.replies["/api/chat"] = (200, {"message": {"content": "5"}, "prompt_eval_count": 6})
    assert generate(fake, {"num_ctx": 8}).prompt_cut
    assert not generate(fake, {"num_ctx": 4096}).prompt_cut


# --- check and list


def test_a_model_is_found_by_its_exact_name_or_with_latest() -> None:
    for name in ("m", "m:latest"):
        assert check(FakeOllama(), name) == ModelStatus(digest="sha-m:latest", context_length=8192)
    assert check(FakeOllama(), "n:8b").digest == "sha-n:8b"


def test_a_missing_model_is_named_with_the_command_and_what_there_is() -> None:
    for name in ("x", "n", "n:latest", "M"):
        with pytest.raises(ModelMissing, match=rf"has no model '{name}': ollama pull {name} \(it has: m:latest, n:8b\)"):
            check(FakeOllama(), name)
    fake = FakeOllama()
    fake.replies["/api/tags"] = (200, {"models": None})
    with pytest.raises(ModelMissing, match="it has none yet"):
        check(fake, "m")


@pytest.mark.parametrize("reply", [(404, {"error": "x"}), (500, {}), (200, {}), (200, {"model_info": {"a.context_length": "?"}})])
def test_a_server_that_does_not_tell_the_context_is_borne(reply: tuple[int, Any]) -> None:
    fake = FakeOllama()
    fake.replies["/api/show"] = reply
    assert check(fake, "m") == ModelStatus(digest="sha-m:latest")


def test_a_server_that_is_down_is_named_with_what_to_do() -> None:
    async def down(settings: ModelSettings) -> None:
        model = open_model(ModelReference("ollama", "m"), settings)
        try:
            await model.check()
        finally:
            await model.aclose()

    preset = "http://127.0.0.1:9"
    with pytest.raises(ServerDown, match=r"no Ollama server answers at http://127\.0\.0\.1:9 .*preset.*ollama serve"):
        asyncio.run(down(ModelSettings(ollama_base_url=preset)))
    host = ModelSettings(ollama_base_url="http://preset:1", environment={"OLLAMA_HOST": "127.0.0.1:9"})
    with pytest.raises(ServerDown, match=r"127\.0\.0\.1:9 \(OLLAMA_HOST; the suite's preset names http://preset:1\)"):
        asyncio.run(down(host))
    fake = FakeOllama()
    fake.replies["/api/tags"] = (502, {})
    with pytest.raises(ServerDown, match="502"):
        check(fake, "m")


def test_another_server_is_not_taken_for_ollama() -> None:
    fake = FakeOllama()
    fake.replies["/api/tags"] = (404, {"detail": "Not Found"})
    with pytest.raises(ModelError, match="does not respond like an Ollama server") as caught:
        check(fake, "m")
    assert not isinstance(caught.value, ServerDown)


def test_models_are_listed_with_digests_and_sizes() -> None:
    async def run() -> tuple[ListedModel, ...]:
        async with FakeOllama().running() as fake:
            return tuple(await adapters.listed_models("ollama", "", ModelSettings(environment={"OLLAMA_HOST": fake.url})))

    assert asyncio.run(run()) == (
        ListedModel(name="m:latest", digest="sha-m:latest", size=7),
        ListedModel(name="n:8b", digest="sha-n:8b", size=7),
    )


def test_the_model_is_opened_by_its_provider() -> None:
    reference = ModelReference.parse("ollama:qwen3:8b")
    model = adapters.open_model(reference, ModelSettings())
    assert isinstance(model, OllamaModel)
    assert (model.reference, model.max_concurrency) == (reference, None)


# --- where the server is


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("gpu", "http://gpu:11434"),
        ("gpu:8080", "http://gpu:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://gpu:8080/", "http://gpu:8080"),
        ("https://ollama.example/proxy/", "https://ollama.example/proxy"),
        ("http://gpu", "http://gpu"),
        ("[::]:8080", "http://[::1]:8080"),
        ("[fe80::1]", "http://[fe80::1]:11434"),
        ("https://me:secret@gpu:1", "https://me:secret@gpu:1"),
    ],
)
def test_an_address_is_read_as_ollamas_own_tools_read_it(host: str, url: str) -> None:
    assert ollama_url(host) == url


@pytest.mark.parametrize("host", ["gpu:port", "http://gpu:99999", "[::1", "ftp://gpu"])
def test_what_is_no_address_is_a_users_mistake(host: str) -> None:
    with pytest.raises(ModelError, match="is not the address of"):
        open_model(ModelReference("ollama", "m"), ModelSettings(environment={"OLLAMA_HOST": host}))


def test_the_server_is_the_endpoints_then_ollama_hosts_then_the_presets_then_this_machines() -> None:
    settings = ModelSettings(
        endpoints={"lab": Endpoint(provider="ollama", base_url="http://lab:1")},
        ollama_base_url="http://preset:2",
        environment={"OLLAMA_HOST": " 'env:3' "},
    )
    assert settings.address_of("ollama", "lab")[0] == "http://lab:1"
    assert settings.address_of("ollama", "")[0] == "http://env:3"
    assert ModelSettings(ollama_base_url="http://preset:2").address_of("ollama", "")[0] == "http://preset:2"
    assert ModelSettings(environment={"OLLAMA_HOST": " "}).address_of("ollama", "")[0] == "http://localhost:11434"
    with pytest.raises(ModelError, match="unknown endpoint"):
        settings.address_of("ollama", "other")


def test_an_endpoints_key_and_headers_are_sent() -> None:
    async def run() -> dict[str, str]:
        async with FakeOllama().running() as fake:
            lab = Endpoint(provider="ollama", base_url=fake.url, api_key_env="LAB_KEY", headers={"X-Team": "a"})
            settings = ModelSettings(endpoints={"lab": lab}, environment={"LAB_KEY": "k-123\n"})
            model = open_model(ModelReference("ollama", "m", "lab"), settings)
            await model.check()
            await model.aclose()
            return fake.headers[0]

    headers = asyncio.run(run())
    assert headers["Authorization"] == "Bearer k-123"
    assert headers["X-Team"] == "a"


# --- beside the official client


async def both(url: str, model_name: str, options: dict[str, Any], schema: Any) -> tuple[Completion, ollama.ChatResponse]:
    model = model_at(url, model_name)
    try:
        ours = await model.generate(MESSAGES, options, schema)
    finally:
        await model.aclose()
    async with ollama.AsyncClient(host=url) as client:
        theirs = await client.chat(
            model=model_name,
            messages=[{"role": message.role, "content": message.content} for message in MESSAGES],
            options={name: value for name, value in options.items() if name not in ("keep_alive", "think")},
            format=schema,
            keep_alive=options["keep_alive"],
            think=options["think"],
        )
    return ours, theirs


def assert_same(ours: Completion, theirs: ollama.ChatResponse) -> None:
    assert ours.text == theirs.message.content
    assert ours.finish_reason == theirs.done_reason
    assert (ours.prompt_tokens, ours.completion_tokens) == (theirs.prompt_eval_count, theirs.eval_count)


def test_the_official_client_sends_the_same_request_and_reads_the_same_answer() -> None:
    async def run() -> None:
        async with FakeOllama().running() as fake:
            options = {name: value for name, value in OPTIONS.items() if name != "unheard_of"}  # the client drops it
            ours, theirs = await both(fake.url, "m", options, SCHEMA)
            # the client cannot tell the server not to cut the prompt
            sent = json.loads(ours.text)
            assert sent.pop("truncate") is False
            assert_same(msgspec.structs.replace(ours, text=json.dumps(sent, sort_keys=True)), theirs)

    asyncio.run(run())


@pytest.fixture(scope="module")
def mock_server() -> Iterator[str]:
    if not MOCK.exists():
        pytest.skip("the mock server is not beside the repository")
    with subprocess.Popen([sys.executable, str(MOCK), "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[2]
        process.terminate()


def test_the_official_client_gets_the_same_from_the_mock_server(mock_server: str) -> None:
    async def run() -> tuple[Completion, ModelStatus]:
        ours, theirs = await both(mock_server, "judge-a", {"keep_alive": "5m", "think": None, "temperature": 0.0}, SCHEMA)
        assert_same(ours, theirs)
        model = model_at(mock_server, "judge-a")
        try:
            return ours, await model.check()
        finally:
            await model.aclose()

    ours, status = asyncio.run(run())
    assert json.loads(ours.text)["score"] in range(6)
    assert len(status.digest) == 64
    assert status.context_length == 8192
