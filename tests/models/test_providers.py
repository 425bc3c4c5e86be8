"""Providers by their own names: what each is sent, and what its answers, refusals and headers become."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from areopage.errors import CallRejected, CallUnreachable, ModelError, PromptTooLong
from areopage.models.adapters import listed_models, open_model
from areopage.models.port import Completion, LanguageModel, Message
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings
from areopage.models.traffic import Traffic
from servers.providers import HIDDEN_THOUGHT, ProviderServer, Quirks

KEY = "sk-a-key-that-nobody-may-see"
MODEL = "fake-a"
ADDRESSES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "mistral": ("MISTRAL_BASE_URL", "MISTRAL_API_KEY"),
    "openrouter": ("OPENROUTER_BASE_URL", "OPENROUTER_API_KEY"),
    "azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
    "compatible": ("VLLM_BASE_URL", "VLLM_API_KEY"),
}
NAMES = {"compatible": "vllm"}
PROVIDERS = tuple(ADDRESSES)
MESSAGES = (
    Message("system", 'You are a judge. Output format: {"score": 0-5}'),
    Message("user", "The child is 9. Is the answer kind? Oui – à bientôt.", 15),
)
SCHEMA = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string"},
        "score": {"type": "integer", "minimum": 0, "maximum": 5},
        "evidence_extracts": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["explanation", "score", "evidence_extracts"],
    "additionalProperties": False,
}


def server_of(provider: str, **quirks: Any) -> ProviderServer:
    return ProviderServer(provider=provider, api_key=KEY, quirks=Quirks(**quirks))


def settings_for(server: ProviderServer, **more: str) -> ModelSettings:
    address, key = ADDRESSES[server.provider]
    return ModelSettings(environment={address: server.url, key: KEY, **more})


def reference_to(server: ProviderServer, model: str = MODEL) -> ModelReference:
    return ModelReference(NAMES.get(server.provider, server.provider), model)


async def asked(model: LanguageModel, options: Mapping[str, Any] | None = None, schema: Any = None) -> Completion:
    return await model.generate(MESSAGES, options or {}, schema)


def generate(
    server: ProviderServer, options: Mapping[str, Any] | None = None, schema: Any = None, *, times: int = 1
) -> list[Completion]:
    async def run() -> list[Completion]:
        model = open_model(reference_to(server), settings_for(server))
        try:
            return [await asked(model, options, schema) for _ in range(times)]
        finally:
            await model.aclose()

    with server:
        return asyncio.run(run())


def check(server: ProviderServer, settings: ModelSettings | None = None, model: str = MODEL) -> Any:
    async def run() -> Any:
        opened = open_model(reference_to(server, model), settings or settings_for(server))
        try:
            return await opened.check()
        finally:
            await opened.aclose()

    with server:
        return asyncio.run(run())


def score_in(completion: Completion) -> int:
    return int(json.loads(completion.text)["score"])


# --- every provider


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_judge_s_call_is_answered_with_the_schema_held_and_the_tokens_counted(provider: str) -> None:
    server = server_of(provider)
    (completion,) = generate(server, {"temperature": 0.1, "max_tokens": 300}, SCHEMA)
    assert score_in(completion) == server.calls[0].score
    assert (completion.finish_reason, server.rejected) == ("stop", [])
    assert completion.prompt_tokens is not None
    assert completion.completion_tokens is not None
    assert completion.prompt_cut is False


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_check_of_a_model_asks_for_its_key_by_the_variable_s_name(provider: str) -> None:
    server = server_of(provider)
    assert check(server).digest.startswith("server http://127.0.0.1")
    address, key = ADDRESSES[provider]
    wrong, other = "sk-the-wrong-key", server_of(provider)

    async def run() -> None:
        model = open_model(reference_to(other), ModelSettings(environment={address: other.url, key: wrong}))
        try:
            await model.check()
        finally:
            await model.aclose()

    with other, pytest.raises(ModelError) as fault:
        asyncio.run(run())
    assert key in str(fault.value)
    assert wrong not in str(fault.value)


@pytest.mark.parametrize(("provider", "variable"), [(one, ADDRESSES[one][1]) for one in ("anthropic", "mistral", "openrouter")])
def test_a_missing_key_is_one_line_that_names_the_variable_and_nothing_is_called(provider: str, variable: str) -> None:
    model = open_model(ModelReference(provider, "m"), ModelSettings(environment={}))
    with pytest.raises(ModelError, match=f"requires an API key: set the environment variable {variable}$"):
        asyncio.run(model.check())


def test_azure_without_an_address_or_a_key_names_the_variable() -> None:
    with pytest.raises(ModelError, match="AZURE_OPENAI_ENDPOINT"):
        open_model(ModelReference("azure", "m"), ModelSettings(environment={}))
    model = open_model(
        ModelReference("azure", "m"), ModelSettings(environment={"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"})
    )
    with pytest.raises(ModelError, match="AZURE_OPENAI_API_KEY"):
        asyncio.run(model.check())


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("way", ["parts", "field"])
def test_thoughts_are_never_read_as_the_answer(provider: str, way: str) -> None:
    server = server_of(provider, thinks=way)
    (completion,) = generate(server, {}, SCHEMA)
    assert score_in(completion) == server.calls[0].score
    assert HIDDEN_THOUGHT not in completion.text
    if way == "field" or provider == "anthropic":
        assert completion.reasoning == HIDDEN_THOUGHT


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_cut_answer_says_so(provider: str) -> None:
    assert generate(server_of(provider, cuts=True), {}, SCHEMA)[0].finish_reason == "length"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("option", ["temperature", "max_tokens"])
def test_an_option_that_the_model_refuses_is_left_out_from_then_on_and_noted(provider: str, option: str) -> None:
    if (provider, option) in {("anthropic", "max_tokens"), ("mistral", "max_tokens")}:
        pytest.skip("the limit has one name there")
    server = server_of(provider, untaken=(option,))
    first, second = generate(server, {"temperature": 0.1, "max_tokens": 300}, SCHEMA, times=2)
    assert len(server.rejected) == 1
    assert [option in call.options for call in server.calls] == [False, False]
    if option == "max_tokens":
        assert [call.options["max_completion_tokens"] for call in server.calls] == [300, 300]
        assert first.notes == server_notes(server, 0)
    else:
        assert "not_sent:temperature" in first.notes
        assert "not_sent:temperature" in second.notes


def test_calls_at_the_same_time_all_learn_what_the_model_refuses() -> None:
    server = server_of("azure", untaken=("max_tokens", "temperature", "seed"))

    async def run() -> list[Completion]:
        model = open_model(reference_to(server), settings_for(server))
        options = {"temperature": 0.1, "max_tokens": 300, "seed": 4}
        try:
            return await asyncio.gather(*(asked(model, options, SCHEMA) for _ in range(8)))
        finally:
            await model.aclose()

    with server:
        found = asyncio.run(run())
    assert {one.finish_reason for one in found} == {"stop"}


def server_notes(server: ProviderServer, number: int) -> tuple[str, ...]:
    return ((f"answered_by:{('Fireworks', 'DeepInfra b')[number]}",)) if server.provider == "openrouter" else ()


@pytest.mark.parametrize(
    ("provider", "taken", "tried"),
    [
        ("anthropic", ("tool", "none"), 1),
        ("anthropic", ("none",), 2),
        ("mistral", ("json_object", "none"), 1),
        ("azure", ("none",), 2),
        ("compatible", ("json_object", "none"), 1),
    ],
)
def test_the_way_of_stating_a_schema_is_found_out_once(provider: str, taken: tuple[str, ...], tried: int) -> None:
    server = server_of(provider, modes=taken)
    completions = generate(server, {}, SCHEMA, times=2)
    assert (len(server.rejected), len(server.calls)) == (tried, 2)
    assert [score_in(one) for one in completions] == [call.score for call in server.calls]


@pytest.mark.parametrize("mode", ["json_object", "guided_json", "none"])
def test_a_configured_way_of_stating_a_schema_is_the_only_one(mode: Any) -> None:
    server = server_of("compatible")

    async def run() -> None:
        endpoint = Endpoint(provider="vllm", base_url=server.url, api_key_env="LAB_KEY", schema_mode=mode)
        settings = ModelSettings(endpoints={"lab": endpoint}, environment={"LAB_KEY": KEY})
        model = open_model(ModelReference("vllm", MODEL, "lab"), settings)
        await asked(model, {}, SCHEMA)
        await model.aclose()

    with server:
        asyncio.run(run())
    sent = server.calls[0].options
    assert ("response_format" in sent, "guided_json" in sent) == (mode == "json_object", mode == "guided_json")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_full_server_is_asked_again_when_it_says_so(provider: str) -> None:
    server = server_of(provider, overloaded=1)
    server.faults.storm, server.faults.retry_after = 2, "0.01"

    async def run() -> Completion:
        model = Traffic().open(reference_to(server), settings_for(server))
        try:
            return await model.generate(MESSAGES, {}, SCHEMA)
        finally:
            await model.aclose()

    with server:
        assert score_in(asyncio.run(run())) == server.calls[0].score
    assert len(server.rejected) == 3


@pytest.mark.parametrize("provider", ["anthropic", "mistral", "azure", "compatible"])
def test_rate_headers_tell_what_is_left(provider: str) -> None:
    server = server_of(provider, left=7)

    async def run() -> Any:
        model = open_model(reference_to(server), settings_for(server))
        await asked(model)
        found = model.allowances()  # type: ignore[attr-defined]
        await model.aclose()
        return found

    with server:
        (allowance,) = asyncio.run(run())
    assert (allowance.kind, allowance.left, allowance.limit) == ("requests", 7, 1000)
    assert allowance.seconds > 0


# --- content filters


@pytest.mark.parametrize(
    ("provider", "where", "notes"),
    [
        ("azure", "prompt", ("filtered:self_harm", "filtered:violence")),
        ("azure", "answer", ("filtered:self_harm", "filtered:violence")),
        ("openrouter", "prompt", ("filtered:violence",)),
        ("compatible", "answer", ()),
    ],
)
def test_what_a_filter_stopped_is_an_outcome_of_its_own_and_asked_once(provider: str, where: str, notes: tuple[str, ...]) -> None:
    server = server_of(provider, filters=where)
    (completion,) = generate(server, {}, SCHEMA)
    assert (completion.text, completion.finish_reason, completion.notes) == ("", "content_filter", notes)
    assert len(server.calls) + len(server.rejected) == 1


def test_a_refusal_by_anthropic_s_filter_is_not_the_model_s_answer() -> None:
    (completion,) = generate(server_of("anthropic", refuses=True), {}, SCHEMA)
    assert (completion.text, completion.finish_reason, completion.notes) == ("", "content_filter", ("stop_reason:refusal",))


def test_a_refusal_in_the_protocol_s_field_is_a_refusal() -> None:
    (completion,) = generate(server_of("compatible", refuses=True), {}, SCHEMA)
    assert completion.finish_reason == "refusal"


# --- Anthropic


def test_anthropic_gets_the_system_message_apart_a_limit_of_tokens_and_marks_on_what_many_calls_share() -> None:
    server = server_of("anthropic")
    options = {"temperature": 0.2, "seed": 3, "num_ctx": 4096, "keep_alive": "1m", "stop": ["END"], "logprobs": True}
    first, second = generate(server, options, SCHEMA, times=2)
    sent = json.loads(server.calls[0].body)
    kept = {"cache_control": {"type": "ephemeral"}}
    assert sent["system"] == [{"type": "text", "text": MESSAGES[0].content, **kept}]
    content = [{"type": "text", "text": "The child is 9."}, {"type": "text", "text": MESSAGES[1].content[15:]}]
    assert sent["messages"] == [{"role": "user", "content": [{**content[0], **kept}, content[1]]}]
    assert (sent["max_tokens"], sent["temperature"], sent["stop_sequences"]) == (4096, 0.2, ["END"])
    assert not {"seed", "num_ctx", "keep_alive", "logprobs", "stop", "stream"} & sent.keys()
    assert first.notes == ("not_sent:seed", "not_sent:logprobs")
    assert sent["output_config"]["format"]["schema"]["properties"]["score"] == {"type": "integer", "enum": [0, 1, 2, 3, 4, 5]}
    assert first.prompt_tokens == second.prompt_tokens
    assert first.prompt_tokens is not None
    assert first.billed_tokens is not None
    assert second.billed_tokens is not None
    assert second.billed_tokens < first.prompt_tokens < first.billed_tokens


def test_anthropic_s_marks_can_be_left_out() -> None:
    server = server_of("anthropic")
    (completion,) = generate(server, {"cache_prompt": False}, SCHEMA)
    assert b"cache_control" not in server.calls[0].body
    assert completion.billed_tokens is None


def test_anthropic_lists_its_models_and_names_a_missing_one() -> None:
    server = server_of("anthropic")
    with server:
        listed = asyncio.run(listed_models("anthropic", "", settings_for(server)))
    assert [one.name for one in listed] == list(server.models)
    assert check(server_of("anthropic")).context_length == 200_000
    with pytest.raises(ModelError, match="has no model 'nothing'"):
        check(server_of("anthropic"), model="nothing")


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", PromptTooLong),
        (400, "Your credit balance is too low to access the Anthropic API.", CallRejected),
        (529, "Overloaded", CallUnreachable),
    ],
)
def test_anthropic_s_errors_are_what_they_say(monkeypatch: pytest.MonkeyPatch, status: int, message: str, kind: type) -> None:
    server = server_of("anthropic")
    monkeypatch.setattr(server, "_refusal", lambda asked, model: server._error(status, message, "invalid_request_error"))
    with pytest.raises(kind) as fault:
        generate(server)
    if kind is CallRejected:
        assert fault.value.hopeless  # type: ignore[attr-defined]
    assert KEY not in str(fault.value)


# --- Mistral


def test_mistral_gets_the_seed_under_its_own_name_and_no_log_probabilities() -> None:
    server = server_of("mistral")
    (completion,) = generate(server, {"seed": 7, "logprobs": True, "top_logprobs": 20, "safe_prompt": True}, SCHEMA)
    sent = server.calls[0].options
    assert (sent["random_seed"], sent["safe_prompt"]) == (7, True)
    assert server.rejected == []
    assert set(completion.notes) == {"not_sent:logprobs", "not_sent:top_logprobs"}


# --- OpenRouter


def test_openrouter_keeps_prompts_whole_and_who_answered_is_noted() -> None:
    server = server_of("openrouter", cost=0.0125)
    first, second = generate(server, {"provider": {"only": ["fireworks"]}}, SCHEMA, times=2)
    assert server.calls[0].options["transforms"] == []
    assert server.calls[0].options["provider"] == {"only": ["fireworks"]}
    assert (first.notes, second.notes) == (("answered_by:Fireworks",), ("answered_by:DeepInfra b",))
    assert first.cost == 0.0125


@pytest.mark.parametrize(("code", "kind"), [(502, CallUnreachable), (429, CallUnreachable), (402, CallRejected)])
def test_an_error_in_a_200_is_the_error_that_its_code_says(code: int, kind: type) -> None:
    with pytest.raises(kind, match="Provider returned error") as fault:
        generate(server_of("openrouter", inside=[code]))
    assert fault.value.hopeless == (code == 402)  # type: ignore[attr-defined]


# --- Azure


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("2024-10-21", f"/openai/deployments/{MODEL}/chat/completions?api-version=2024-10-21"),
        ("", "/openai/v1/chat/completions"),
        ("preview", "/openai/v1/chat/completions?api-version=preview"),
    ],
)
def test_azure_is_called_by_deployment_or_by_its_v1_api(version: str, path: str) -> None:
    server = server_of("azure")

    async def run() -> None:
        model = open_model(reference_to(server), settings_for(server, OPENAI_API_VERSION=version))
        await asked(model, {}, SCHEMA)
        await model.check()
        await model.aclose()

    with server:
        asyncio.run(run())
    assert server.paths == [path, path]
    assert {headers["api-key"] for headers in server.headers} == {KEY}


def test_an_azure_endpoint_of_the_configuration_names_its_version_and_key() -> None:
    server = server_of("azure")

    async def run() -> None:
        endpoint = Endpoint(provider="azure", base_url=server.url, api_key_env="EU_KEY", api_version="2024-10-21")
        settings = ModelSettings(endpoints={"eu": endpoint}, environment={"EU_KEY": KEY})
        model = open_model(ModelReference("azure", MODEL, "eu"), settings)
        await asked(model)
        await model.aclose()

    with server:
        asyncio.run(run())
    assert server.paths == [f"/openai/deployments/{MODEL}/chat/completions?api-version=2024-10-21"]


def test_azure_lists_nothing_and_says_what_to_name() -> None:
    with pytest.raises(ModelError, match="name a deployment, as in azure:NAME"):
        asyncio.run(
            listed_models("azure", "", ModelSettings(environment={"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}))
        )


# --- other servers


def test_thoughts_within_the_text_stay_there_for_the_reader_that_knows_them() -> None:
    (completion,) = generate(server_of("compatible", thinks="text"), {}, SCHEMA)
    assert completion.text.startswith("<think>")


def test_an_empty_account_stops_the_calls() -> None:
    server = server_of("compatible")
    server._refusal = lambda asked, model: server._error(429, "You exceeded your current quota", "insufficient_quota")  # type: ignore[method-assign]
    with pytest.raises(CallRejected) as fault:
        generate(server)
    assert fault.value.hopeless


@pytest.mark.parametrize(
    ("reference", "address", "variable"),
    [
        ("anthropic:claude-sonnet-4", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        ("mistral:mistral-small-latest", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        ("openrouter:vendor/model:free", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("groq:llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        ("together:meta/llama", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
        ("lmstudio:any", "http://127.0.0.1:1234/v1", "LMSTUDIO_API_KEY"),
    ],
)
def test_a_provider_s_server_and_key_are_known_without_configuration(reference: str, address: str, variable: str) -> None:
    parsed = ModelReference.parse(reference)
    contact = ModelSettings().contact(parsed)
    assert contact is not None
    assert (contact.address, contact.variables) == (address, (variable,))
