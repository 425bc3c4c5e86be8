"""The adapter of the OpenAI protocol, against servers on loopback and beside the official client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from areopage.errors import CallRejected, CallUnreachable, ModelError, ModelMissing, PromptTooLong, ServerDown
from areopage.models import adapters
from areopage.models.adapters import listed_models
from areopage.models.openai import OLLAMA_ONLY_OPTIONS, OpenAIModel, chat_body, open_model
from areopage.models.port import Completion, Message, ModelStatus, TokenLogprob, sent
from areopage.models.reference import ModelReference
from areopage.models.servers import ListedModel, ModelServer
from areopage.models.settings import Endpoint, ModelSettings

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

MESSAGES = (Message("system", "You are a judge."), Message("user", "Say {score} – à bientôt ?"))
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"], "additionalProperties": False}
KEY = "sk-very-secret-key"
CHAT = "/v1/chat/completions"
MOCK = Path(__file__).parents[2].parent / "shared" / "bench" / "mock_llm.py"


def answer(message: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38},
    }


class FakeServer:
    """A compatible server whose answer is the request it got.

    `replies` replace the answers of a path by the body that comes, `no_schema` is the status for a response_format.
    """

    def __init__(self, *, no_schema: int | None = None) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.replies: dict[str, tuple[int, Any]] = {}
        self.no_schema = no_schema
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["FakeServer"]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read() or "null")
        self.requests.append((request.path, body))
        self.headers.append(dict(request.headers))
        status, reply = self.replies.get(request.path, (200, None))
        if reply is None and request.path == "/v1/models":
            reply = {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 8192}, {"id": "n"}]}
        elif reply is None and self.no_schema and "response_format" in body:
            status, reply = self.no_schema, {"error": {"message": "response_format is not supported"}}
        elif reply is None:
            # Not to stream is what leaving `stream` out means.
            reply = answer({"content": json.dumps({key: body[key] for key in body if key != "stream"}, sort_keys=True)})
        return web.json_response(reply, status=status)


def settings_for(url: str, **more: Any) -> ModelSettings:
    return ModelSettings(environment={"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}, **more)


async def ask(model: OpenAIModel, options: dict[str, Any] | None = None, schema: Any = None) -> Completion:
    return await model.generate(MESSAGES, options or {}, schema)


def generate(fake: FakeServer, options: dict[str, Any] | None = None, schema: Any = None, *, times: int = 1) -> Completion:
    async def run() -> Completion:
        async with fake.running():
            model = open_model(ModelReference("openai", "m"), settings_for(fake.url))
            try:
                for _ in range(times):
                    completion = await ask(model, options, schema)
                return completion
            finally:
                await model.aclose()

    return asyncio.run(run())


def check(fake: FakeServer, name: str = "m") -> ModelStatus:
    async def run() -> ModelStatus:
        async with fake.running():
            model = open_model(ModelReference("openai", name), settings_for(fake.url))
            try:
                return await model.check()
            finally:
                await model.aclose()

    return asyncio.run(run())


def replying(reply: Any, status: int = 200) -> FakeServer:
    fake = FakeServer()
    fake.replies[CHAT] = (status, reply)
    return fake


# --- one call


def test_options_are_passed_as_given_but_for_those_that_only_ollama_knows() -> None:
    options: dict[str, Any] = dict.fromkeys(OLLAMA_ONLY_OPTIONS, 1)
    options |= {"temperature": 0.1, "top_p": 0.9, "seed": 7, "logprobs": True, "unheard_of": [1], "num_predict": 64}
    assert json.loads(generate(FakeServer(), options).text) == {
        "model": "m",
        "messages": [{"role": message.role, "content": message.content} for message in MESSAGES],
        "temperature": 0.1,
        "top_p": 0.9,
        "seed": 7,
        "logprobs": True,
        "unheard_of": [1],
        "max_tokens": 64,
    }


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"num_predict": 5}, 5),
        ({"num_predict": -1}, None),
        ({"num_predict": -2}, None),
        ({"num_predict": 5, "max_tokens": 9}, 9),
        ({"max_tokens": 9}, 9),
        ({}, None),
    ],
)
def test_num_predict_becomes_max_tokens_where_it_is_a_limit(options: dict[str, int], limit: int | None) -> None:
    body = chat_body("m", MESSAGES, options)
    assert body.get("max_tokens") == limit
    assert "num_predict" not in body


def test_no_option_can_change_the_model_or_the_messages() -> None:
    body = chat_body("m", MESSAGES, {"model": "other", "messages": [], "stream": True})
    assert body == {"model": "m", "messages": sent(MESSAGES), "stream": False}


def test_a_schema_is_sent_as_a_strict_response_format() -> None:
    sent = json.loads(generate(FakeServer(), schema=SCHEMA).text)
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
    }


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_the_schema_is_asked_without_it_and_this_is_remembered(status: int) -> None:
    fake = FakeServer(no_schema=status)
    assert "response_format" not in json.loads(generate(fake, schema=SCHEMA, times=3).text)
    modes = [body.get("response_format", {}).get("type") for _, body in fake.requests]
    assert modes == ["json_schema", "json_object", None, None, None]


def test_a_call_that_is_refused_with_and_without_the_schema_teaches_nothing() -> None:
    async def run() -> FakeServer:
        async with FakeServer().running() as fake:
            model = open_model(ModelReference("openai", "m"), settings_for(fake.url))
            fake.replies[CHAT] = (400, {"error": {"message": "the context is too long"}})
            with pytest.raises(CallRejected, match="too long"):
                await ask(model, schema=SCHEMA)
            del fake.replies[CHAT]
            await ask(model, schema=SCHEMA)
            await model.aclose()
            return fake

    assert ["response_format" in body for _, body in asyncio.run(run()).requests] == [True, False, True]


def test_other_refusals_are_not_asked_again() -> None:
    fake = replying({"error": {"message": "no"}}, 403)
    with pytest.raises(CallRejected):
        generate(fake, schema=SCHEMA)
    assert len(fake.requests) == 1


def test_a_completion_holds_what_the_server_counted() -> None:
    completion = generate(FakeServer())
    assert (completion.finish_reason, completion.prompt_tokens, completion.completion_tokens) == ("stop", 31, 7)
    assert completion.logprobs is None
    assert completion.seconds > 0


def test_reasoning_is_not_part_of_the_text() -> None:
    assert generate(replying(answer({"content": "4", "reasoning_content": "hmm", "reasoning": "hmm"}))).text == "4"
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}, {"type": "text", "text": "4"}]
    assert generate(replying(answer({"content": parts}))).text == "4"


def test_no_content_is_an_empty_text() -> None:
    completion = generate(replying(answer({"content": None}, finish_reason="length")))
    assert (completion.text, completion.finish_reason) == ("", "length")


def test_a_refusal_says_so_with_its_text() -> None:
    completion = generate(replying(answer({"content": None, "refusal": "I cannot judge this."})))
    assert (completion.text, completion.finish_reason) == ("I cannot judge this.", "refusal")


def test_a_content_filter_says_so() -> None:
    completion = generate(replying(answer({"content": ""}, finish_reason="content_filter")))
    assert (completion.text, completion.finish_reason) == ("", "content_filter")


def test_log_probabilities_are_read_back() -> None:
    tokens = [
        {"token": "5", "logprob": -0.1, "bytes": [53], "top_logprobs": [{"token": "5", "logprob": -0.1, "bytes": [53]}]},
        {"token": "}", "logprob": -0.2, "bytes": [125], "top_logprobs": []},
    ]
    completion = generate(replying(answer({"content": "5}"}, logprobs={"content": tokens})), {"logprobs": True})
    assert completion.logprobs == (TokenLogprob("5", -0.1, (("5", -0.1),)), TokenLogprob("}", -0.2))


@pytest.mark.parametrize("logprobs", [None, {"content": None}, {"tokens": ["5"]}, {"content": [{"token": "5"}]}])
def test_log_probabilities_of_another_shape_do_not_cost_the_answer(logprobs: Any) -> None:
    completion = generate(replying(answer({"content": "5"}, logprobs=logprobs)))
    assert (completion.text, completion.logprobs) == ("5", None)


def test_a_silent_server_leaves_counts_unknown() -> None:
    completion = generate(replying({"choices": [{"message": {"content": "5"}, "finish_reason": None}], "usage": None}))
    assert completion == Completion(text="5", seconds=completion.seconds)


@pytest.mark.parametrize("reply", [{}, {"choices": []}, {"choices": [{}]}, [], {"error": {"message": "overloaded", "code": 502}}])
def test_a_200_without_an_answer_is_unreachable(reply: Any) -> None:
    with pytest.raises(CallUnreachable, match="/chat/completions"):
        generate(replying(reply))


def test_an_error_within_a_200_keeps_its_own_status() -> None:
    with pytest.raises(CallUnreachable, match="429: slow") as caught:
        generate(replying({"error": {"message": "slow", "code": 429}}))
    assert caught.value.retry_after == 0.0
    with pytest.raises(CallRejected, match="400: bad") as rejected:
        generate(replying({"error": {"message": "bad", "code": 400}}))
    assert rejected.value.status == 400
    with pytest.raises(CallUnreachable, match="200: odd"):
        generate(replying({"error": {"message": "odd", "code": "server_error"}}))


# --- check and list


def test_a_listed_model_is_found_without_a_call() -> None:
    fake = FakeServer()
    assert check(fake) == ModelStatus(digest=f"server {fake.url}", context_length=8192)
    assert [path for path, _ in fake.requests] == ["/v1/models", "/props"]


def test_a_model_that_is_not_listed_is_asked_for_a_short_answer() -> None:
    fake = FakeServer()
    assert check(fake, "alias") == ModelStatus(digest=f"server {fake.url}")
    path, body = fake.requests[1]
    assert (path, body["model"], body["max_tokens"]) == (CHAT, "alias", 16)


def test_a_missing_model_is_named_with_what_there_is() -> None:
    fake = replying({"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}, 404)
    with pytest.raises(ModelMissing, match=r"has no model 'x' \(it has: m, n\) .*does not exist"):
        check(fake, "x")
    fake.replies["/v1/models"] = (200, {"data": []})
    with pytest.raises(ModelMissing, match="it lists none"):
        check(fake, "x")


def test_a_server_without_a_list_is_borne_if_the_model_answers() -> None:
    fake = FakeServer()
    fake.replies["/v1/models"] = (404, {"detail": "Not Found"})
    assert check(fake) == ModelStatus(digest=f"server {fake.url}")
    fake.replies[CHAT] = (404, {"detail": "Not Found"})
    with pytest.raises(ModelMissing, match="usually ends in /v1"):
        check(fake)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_named_by_its_variable_and_never_shown(status: int) -> None:
    fake = FakeServer()
    fake.replies["/v1/models"] = (status, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    fake.replies[CHAT] = (status, {"error": {"message": "no"}})
    with pytest.raises(ModelError, match="correct the environment variable OPENAI_API_KEY") as caught:
        check(fake)
    assert KEY not in str(caught.value)
    fake.replies["/v1/models"] = (404, {})
    with pytest.raises(ModelError, match="correct the environment variable OPENAI_API_KEY"):
        check(fake)


def test_a_server_that_is_down_is_named_with_who_named_it() -> None:
    async def run() -> None:
        model = open_model(ModelReference("openai", "m"), settings_for("http://127.0.0.1:9/v1"))
        try:
            await model.check()
        finally:
            await model.aclose()

    with pytest.raises(ServerDown, match=r"answers at http://127\.0\.0\.1:9/v1 \(OPENAI_BASE_URL\)"):
        asyncio.run(run())
    fake = FakeServer()
    fake.replies["/v1/models"] = (503, {})
    with pytest.raises(ServerDown, match="503"):
        check(fake)
    fake.replies["/v1/models"] = (200, {"data": []})
    fake.replies[CHAT] = (500, {})
    with pytest.raises(ServerDown, match="500"):
        check(fake)


def test_a_server_that_will_not_list_for_another_reason_is_a_users_mistake() -> None:
    fake = FakeServer()
    fake.replies["/v1/models"] = (400, {"error": "bad tenant"})
    with pytest.raises(ModelError, match="bad tenant") as caught:
        check(fake)
    assert not isinstance(caught.value, ServerDown)


def test_openai_itself_needs_a_key_and_is_not_called_without() -> None:
    async def run(settings: ModelSettings, endpoint: str = "") -> None:
        await open_model(ModelReference("openai", "m", endpoint), settings).check()

    with pytest.raises(ModelError, match=r"api\.openai\.com/v1 requires an API key: set the environment variable OPENAI_API_KEY"):
        asyncio.run(run(ModelSettings()))
    work = Endpoint(provider="openai", base_url="https://api.openai.com/v1", api_key_env="WORK_KEY")
    with pytest.raises(ModelError, match="set the environment variable WORK_KEY"):
        asyncio.run(run(ModelSettings(endpoints={"work": work}, environment={"OPENAI_API_KEY": KEY}), "work"))


def test_models_are_listed() -> None:
    async def run(fake: FakeServer) -> tuple[ListedModel, ...]:
        async with fake.running():
            return tuple(await listed_models("openai", "", settings_for(fake.url)))

    assert asyncio.run(run(FakeServer())) == (ListedModel(name="m", context_length=8192), ListedModel(name="n"))
    fake = FakeServer()
    fake.replies["/v1/models"] = (404, {})
    with pytest.raises(ModelError, match="does not list models"):
        asyncio.run(run(fake))


# --- where the server is, and which key it gets


def sent_authorization(endpoint: str, **settings: Any) -> str | None:
    async def run() -> str | None:
        async with FakeServer().running() as fake:
            lab = Endpoint(provider="openai", base_url=fake.url + "/", **settings)
            environment = {"OPENAI_BASE_URL": fake.url, "OPENAI_API_KEY": KEY, "LAB_KEY": "lab-key\n"}
            model = open_model(
                ModelReference("openai", "m", endpoint), ModelSettings(endpoints={"lab": lab}, environment=environment)
            )
            await model.check()
            await model.aclose()
            assert fake.requests[0][0] == "/v1/models"
            return fake.headers[0].get("Authorization")

    return asyncio.run(run())


def test_the_key_of_the_environment_goes_to_the_server_of_the_environment() -> None:
    assert sent_authorization("") == f"Bearer {KEY}"


def test_a_named_endpoint_gets_its_own_key_and_no_other() -> None:
    assert sent_authorization("lab", api_key_env="LAB_KEY") == "Bearer lab-key"
    assert sent_authorization("lab") is None
    assert sent_authorization("lab", api_key_env="UNSET") is None
    assert sent_authorization("lab", api_key_env="LAB_KEY", headers={"authorization": "Token t"}) == "Token t"


def test_the_server_is_the_endpoints_then_the_environments_then_openais() -> None:
    assert ModelServer("openai", "", ModelSettings()).address == "https://api.openai.com/v1"
    assert ModelServer("openai", "", settings_for("http://here:1/v1/")).address == "http://here:1/v1"
    with pytest.raises(ModelError, match="unknown endpoint"):
        ModelServer("openai", "lab", settings_for("http://here:1/v1"))


def test_the_model_is_opened_by_its_provider() -> None:
    reference = ModelReference.parse("openai:gpt-4o-mini")
    model = adapters.open_model(reference, ModelSettings())
    assert isinstance(model, OpenAIModel)
    assert (model.reference, model.max_concurrency) == (reference, None)


# --- beside the official client


async def both(url: str, model_name: str) -> "tuple[Completion, ChatCompletion]":
    import openai

    model = open_model(ModelReference("openai", model_name), settings_for(url))
    client = openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)
    try:
        ours = await ask(model, {"temperature": 0.1, "seed": 7, "max_tokens": 64}, SCHEMA)
        theirs = await client.chat.completions.create(
            model=model_name,
            messages=[{"role": "system", "content": MESSAGES[0].content}, {"role": "user", "content": MESSAGES[1].content}],
            temperature=0.1,
            seed=7,
            max_tokens=64,
            response_format={"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": dict(SCHEMA)}},
        )
    finally:
        await model.aclose()
        await client.close()
    return ours, theirs


def assert_same(ours: Completion, theirs: "ChatCompletion") -> None:
    assert theirs.usage is not None
    assert ours.text == theirs.choices[0].message.content
    assert ours.finish_reason == theirs.choices[0].finish_reason
    assert (ours.prompt_tokens, ours.completion_tokens) == (theirs.usage.prompt_tokens, theirs.usage.completion_tokens)


def test_the_official_client_sends_the_same_request_and_reads_the_same_answer() -> None:
    async def run() -> None:
        async with FakeServer().running() as fake:
            assert_same(*await both(fake.url, "m"))
            assert fake.headers[0]["Authorization"] == fake.headers[1]["Authorization"]

    asyncio.run(run())


@pytest.fixture(scope="module")
def mock_server() -> Iterator[str]:
    if not MOCK.exists():
        pytest.skip("the mock server is not beside the repository")
    with subprocess.Popen([sys.executable, str(MOCK), "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[2] + "/v1"
        process.terminate()


def test_the_official_client_gets_the_same_from_the_mock_server(mock_server: str) -> None:
    async def run() -> Completion:
        ours, theirs = await both(mock_server, "judge-a")
        assert_same(ours, theirs)
        model = open_model(ModelReference("openai", "judge-a"), settings_for(mock_server))
        assert (await model.check()).digest.startswith("server http://127.0.0.1:")
        await model.aclose()
        return ours

    assert json.loads(asyncio.run(run()).text)["score"] in range(6)


# --- what servers refuse, and what stops a prompt


class RefusingServer(FakeServer):
    """A server that refuses a call as long as `refuses` says why; it answers as `FakeServer` else."""

    def __init__(self, refuses: Callable[[dict[str, Any]], tuple[int, Any] | None]) -> None:
        super().__init__()
        self.refuses = refuses

    async def _handle(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read() or "null")
        if request.path == CHAT and (refusal := self.refuses(body)) is not None:
            self.requests.append((request.path, body))
            return web.json_response(refusal[1], status=refusal[0])
        return await super()._handle(request)


def extra_forbidden(name: str, *place: str) -> dict[str, Any]:
    return {"detail": [{"type": "extra_forbidden", "loc": [*place, name], "msg": "Extra inputs are not permitted"}]}


@pytest.mark.parametrize(
    "refusal",
    [
        (422, extra_forbidden("seed", "body")),
        (422, extra_forbidden("seed", "body", "params")),
        (400, {"error": {"message": "$.seed: unknown field"}}),
        (400, {"error": {"message": "Additional properties are not allowed ('seed' was unexpected)"}}),
        (400, {"error": {"message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'}}),
        (400, {"error": {"message": "UnsupportedParamsError: x does not support parameters: ['seed'], for model=m"}}),
        (400, {"error": {"message": "`seed` is not a valid parameter for this model"}}),
    ],
    ids=str,
)
def test_an_option_that_is_refused_by_any_path_is_left_out(refusal: tuple[int, Any]) -> None:
    fake = RefusingServer(lambda body: refusal if "seed" in body else None)
    completion = generate(fake, {"temperature": 0.1, "seed": 7}, times=2)
    assert json.loads(completion.text)["temperature"] == 0.1 and "seed" not in completion.text
    assert completion.notes == ("not_sent:seed",) and len(fake.requests) == 3


def test_of_two_options_that_exclude_each_other_one_is_left_out() -> None:
    told = (400, {"error": {"message": "`temperature` and `top_p` cannot both be specified for this model."}})
    fake = RefusingServer(lambda body: told if {"temperature", "top_p"} <= body.keys() else None)
    completion = generate(fake, {"temperature": 0.1, "top_p": 0.9})
    assert json.loads(completion.text)["temperature"] == 0.1 and completion.notes == ("not_sent:top_p",)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (500, "Jinja Exception: System role not supported"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (400, "This model does not support the 'system' role."),
        (400, "Only user and assistant roles are supported!"),
        (422, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ],
)
def test_a_refused_system_role_is_folded_into_the_users_message(status: int, message: str) -> None:
    def refuses(body: dict[str, Any]) -> tuple[int, Any] | None:
        has_system = any(sent_message["role"] == "system" for sent_message in body["messages"])
        return (status, {"error": {"message": message}}) if has_system else None

    fake = RefusingServer(refuses)
    completion = generate(fake, times=2)
    (only,) = json.loads(completion.text)["messages"]
    assert only == {"role": "user", "content": f"{MESSAGES[0].content}\n\n{MESSAGES[1].content}"}
    assert completion.notes == ("not_sent:system_role",) and len(fake.requests) == 3


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [], "prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}, "violence": {}}}]},
        {"choices": None, "promptFeedback": {"blockReason": "HATE"}},
        {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": True}}}]},
    ],
    ids=str,
)
def test_a_filter_that_leaves_no_choice_is_a_filtered_answer_and_asked_once(reply: dict[str, Any]) -> None:
    fake = replying(reply)
    completion = generate(fake)
    assert (completion.text, completion.finish_reason, completion.notes) == ("", "content_filter", ("filtered:hate",))
    assert len(fake.requests) == 1


@pytest.mark.parametrize("results", [None, [], [{"content_filter_results": {"hate": {"filtered": False}}}], "odd", [7]], ids=str)
def test_no_choice_without_a_filter_is_a_fault_of_the_server(results: object) -> None:
    with pytest.raises(CallUnreachable, match="no choice"):
        generate(replying({"choices": [], "prompt_filter_results": results}))


@pytest.mark.parametrize("word", ["content_filter: PROHIBITED_CONTENT", "SAFETY", "guardrail_intervened", "content_filtered"])
def test_each_word_for_a_filter_is_one(word: str) -> None:
    assert generate(replying(answer({"content": None}, finish_reason=word))).finish_reason == "content_filter"


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
        "A system message is required.",
        "Your input was flagged by moderation.",
        "Could not finish the message because max_tokens or model output limit was reached.",
    ],
)
def test_an_unlisted_model_that_refuses_the_probe_for_another_reason_is_there(message: str) -> None:
    fake = replying({"error": {"message": message, "type": "invalid_request_error"}}, 400)
    assert check(fake, "deployment") == ModelStatus(digest=f"server {fake.url}")


@pytest.mark.parametrize(
    "message",
    ["The model `x` does not exist", "Invalid model name", "model x not found", "No such model: x", "unknown deployment x"],
)
def test_an_unlisted_model_that_the_server_does_not_have_is_missing(message: str) -> None:
    with pytest.raises(ModelMissing, match="has no model 'x'"):
        check(replying({"error": {"message": message}}, 400), "x")


# --- shapes of gateways


@pytest.mark.parametrize(
    ("status", "message"), [(403, "Missing scopes: api.model.read."), (405, "Method Not Allowed"), (501, "Not Implemented")]
)
def test_a_key_that_may_not_list_models_may_call_them(status: int, message: str) -> None:
    fake = FakeServer()
    fake.replies["/v1/models"] = (status, {"error": {"message": message}})
    assert check(fake) == ModelStatus(digest=f"server {fake.url}")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, …", "code": 400}),
        (400, {"error": {"code": 400, "message": "it is too long", "type": "exceed_context_size_error"}}),
        (400, {"error": "… the model is loaded with context length of only 4096 tokens"}),
        (400, {"message": "Prompt contains 40 tokens, too large for model with 32 maximum context length", "code": "3051"}),
        (
            429,
            {
                "error": {
                    "message": "Request too large for m on tokens per min (TPM): Limit 30, Requested 31.",
                    "code": "rate_limit",
                }
            },
        ),
        (413, {"error": {"message": "Request too large for model `m`: Limit 30, Requested 31, …", "code": "rate_limit"}}),
    ],
)
def test_a_prompt_that_does_not_fit_is_told_by_its_code_or_its_message_and_asked_once(status: int, body: dict[str, Any]) -> None:
    fake = replying(body, status)
    with pytest.raises(PromptTooLong):
        generate(fake, schema=SCHEMA)
    assert len(fake.requests) == 1


def test_a_limit_of_tokens_per_minute_that_passes_is_no_prompt_that_does_not_fit() -> None:
    body = {"error": {"message": "Rate limit reached for m on tokens per min (TPM): Limit 30, Used 20, Requested 11."}}
    with pytest.raises(CallUnreachable):
        generate(replying(body, 429))


@pytest.mark.parametrize(
    ("body", "pause"),
    [
        (
            [{"error": {"code": 429, "message": "no", "details": [{"@type": "RetryInfo", "retryDelay": "34.074824224s"}]}}],
            34.074824224,
        ),
        ({"error": {"message": "Rate limit reached. Please try again in 1.2s."}}, 1.2),
        ({"error": {"message": "Rate limit reached. Please try again in 6m0s. Visit"}}, 360),
        ({"error": {"message": "Please retry after 7 seconds."}}, 7),
        ({"error": {"message": "Please try again later."}}, 0),
    ],
)
def test_a_pause_is_read_from_the_body_where_no_header_asks_for_one(body: Any, pause: float) -> None:
    with pytest.raises(CallUnreachable) as caught:
        generate(replying(body, 429))
    assert caught.value.retry_after == pause


@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "The model does not exist.", "type": "NotFoundError", "code": 404},
        {"error": {"message": "The model does not exist.", "code": "404"}},
    ],
)
def test_an_error_in_an_answer_that_claims_success_is_told_and_not_asked_again(body: dict[str, Any]) -> None:
    with pytest.raises(CallRejected, match="answered 404: The model does not exist"):
        generate(replying(body))


@pytest.mark.parametrize("status", [409, 425])
def test_a_conflict_or_a_call_that_came_too_early_is_worth_another_try(status: int) -> None:
    with pytest.raises(CallUnreachable):
        generate(replying({"error": {"message": "lock timeout"}}, status))


VERDICT_CALL = {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": '{"score": 4}'}}


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [VERDICT_CALL]},
        {"content": "", "tool_calls": [{"function": {"name": "verdict", "arguments": {"score": 4}}}]},
        {"content": None, "function_call": {"name": "verdict", "arguments": '{"score": 4}'}},
    ],
)
def test_the_call_of_a_tool_is_an_answer_where_a_schema_was_asked_for(message: dict[str, Any]) -> None:
    completion = generate(replying(answer(message, finish_reason="tool_calls")), schema=SCHEMA)
    assert json.loads(completion.text) == {"score": 4}
    assert completion.notes == ("called:verdict",)
    with pytest.raises(CallRejected, match=r"no text, but the call of a tool \(verdict\)"):
        generate(replying(answer(message, finish_reason="tool_calls")))


def test_the_call_of_a_tool_without_the_name_of_an_answer_is_none() -> None:
    search = {"function": {"name": "search", "arguments": '{"score": 5}'}}
    with pytest.raises(CallRejected, match=r"no text, but the call of a tool \(search\)"):
        generate(replying(answer({"content": None, "tool_calls": [search]}, finish_reason="tool_calls")), schema=SCHEMA)


def test_all_calls_of_tools_are_read_and_none_beside_a_text_or_a_refusal() -> None:
    other = {"function": {"name": "verdict", "arguments": '{"score": 1}'}}
    completion = generate(replying(answer({"content": None, "tool_calls": [VERDICT_CALL, other]})), schema=SCHEMA)
    assert completion.text == '{"score": 4}\n{"score": 1}'
    completion = generate(replying(answer({"content": '{"score": 2}', "tool_calls": [VERDICT_CALL]})), schema=SCHEMA)
    assert (completion.text, completion.notes) == ('{"score": 2}', ())
    completion = generate(replying(answer({"content": None, "refusal": "No.", "tool_calls": [VERDICT_CALL]})), schema=SCHEMA)
    assert (completion.text, completion.finish_reason, completion.notes) == ("No.", "refusal", ())
    for odd in ("odd", [], [7], [{"function": 7}]):
        assert generate(replying(answer({"content": None, "tool_calls": odd})), schema=SCHEMA).text == ""


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ({"code": 0, "message": "ok", "data": answer({"content": "x"})}, "data"),
        ({"result": answer({"content": "x"})}, "result"),
        ({"result": "x", "status": "ok"}, "result"),
        ({"response": answer({"content": "x"})}, "response"),
        ({"object": "response", "output": [{"type": "message"}]}, "output"),
        ({"type": "message", "content": [{"type": "text", "text": "x"}]}, "content"),
        ({"message": {"role": "assistant", "content": "x"}, "done": True}, "message"),
    ],
)
def test_an_answer_that_stands_elsewhere_is_named_by_its_field(reply: dict[str, Any], name: str) -> None:
    with pytest.raises(CallUnreachable, match=f"no choice as the OpenAI protocol has it, but the field '{name}'"):
        generate(replying(reply))


def test_a_gateways_own_code_and_message_are_told_where_no_answer_stands_beside_them() -> None:
    with pytest.raises(CallUnreachable, match="answered 200: quota exceeded"):
        generate(replying({"code": 1001, "message": "quota exceeded", "data": None}))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, 'response_format type must be one of "text" or "json_object", but got: json_schema'),
        (501, "response_format of type json_schema is not implemented"),
        (404, "No endpoints found that support the requested parameters: response_format"),
    ],
)
def test_a_schema_that_is_refused_with_another_status_is_left_out(status: int, message: str) -> None:
    fake = NoSchema(status, message)
    assert generate(fake, schema=SCHEMA, times=2).text == "{}"
    formats = [body.get("response_format", {}).get("type") for _, body in fake.requests]
    assert formats == ["json_schema", "json_object", "json_object"]


class NoSchema(FakeServer):
    """A server that refuses a JSON schema, and takes json_object."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__()
        self._refusal = web.json_response({"error": {"message": message}}, status=status).body, status

    async def _handle(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read() or "null")
        self.requests.append((request.path, body))
        if body.get("response_format", {}).get("type") == "json_schema":
            return web.Response(body=self._refusal[0], status=self._refusal[1], content_type="application/json")
        return web.json_response(answer({"content": "{}"}))


def test_a_server_that_fails_for_another_reason_is_asked_with_the_schema_again() -> None:
    fake = replying({"error": {"message": "out of memory"}}, 500)
    with pytest.raises(CallUnreachable, match="answered 500: out of memory"):
        generate(fake, schema=SCHEMA)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("word", ["abort", "cancelled", "insufficient_system_resource", "TIMEOUT"])
def test_an_answer_that_the_server_broke_off_is_worth_another_try(word: str) -> None:
    with pytest.raises(CallUnreachable, match=f"the server broke its answer off \\({word}\\)"):
        generate(replying(answer({"content": '{"score": 4, "explanation": "It'}, finish_reason=word)))
