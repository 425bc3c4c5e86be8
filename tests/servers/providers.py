"""Test servers of providers, written from their documentation as it stood in autumn 2026; none was compared with a real provider.

In a test: `with ProviderServer("mistral") as server:`. Each is strict where the documentation says that the provider is: a field
that it does not know, a missing version or key is an error in the provider's own shape. `Quirks` say what else happens.

- `anthropic`: Messages API, `anthropic-version: 2023-06-01`; batches are in `servers.message_batches`.
- `mistral`: chat completions; unknown fields are a 422 with `detail`, rate headers name their window and no reset.
- `openrouter`: chat completions; several providers answer in turn, errors may stand in a 200.
- `azure`: deployments under `/openai/deployments/NAME` with a dated `api-version`, and `/openai/v1`.
- `compatible`: any other server of the OpenAI protocol.
"""

import json
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from aiohttp import web

from servers.fake_answers import Call, answer_text
from servers.fake_llm import FakeServer

KEYS = {"anthropic": "x-api-key", "azure": "api-key"}
VERSION = "2023-06-01"
HIDDEN_THOUGHT = 'I first thought of {"score": 4, "explanation": "a thought, not the answer"}.'
BEHIND = ("Fireworks", "DeepInfra <b>")
_MESSAGE_FIELDS = frozenset(
    {
        *("model", "messages", "max_tokens", "system", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "stream"),
        *("thinking", "tools", "tool_choice", "output_config", "service_tier", "cache_control"),
    }
)
_MISTRAL_FIELDS = frozenset(
    {
        *("model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed", "response_format", "tools"),
        *("tool_choice", "presence_penalty", "frequency_penalty", "n", "prediction", "prompt_mode", "safe_prompt", "metadata"),
    }
)
_FILTER = {
    "hate": {"filtered": False, "severity": "safe"},
    "self_harm": {"filtered": True, "severity": "high"},
    "violence": {"filtered": True, "severity": "medium"},
    "jailbreak": {"filtered": False, "detected": False},
}


@dataclass
class Quirks:
    """What a server does.

    Args:
        thinks: "parts" gives thoughts as blocks of their own, "field" in the field of the protocol, "text" within `<think>`.
        untaken: options that the model refuses, by name.
        modes: ways of stating a schema that it takes.
        filters: "prompt" refuses the call, "answer" ends the answer; for calls that hold `trigger`, or all.
        trigger: what a filter, a refusal or a cut waits for in the messages.
        refuses: the model refuses, in its own way.
        cuts: the answer is cut.
        inside: codes of the next errors that stand in a 200.
        overloaded: how many of the next calls are answered so.
        cost: of each call, in US dollars, as gateways state it.
        left: what the rate headers say is left.
    """

    thinks: str = ""
    untaken: tuple[str, ...] = ()
    modes: tuple[str, ...] = ("json_schema", "json_object", "tool", "none")
    filters: str = ""
    trigger: str = ""
    refuses: bool = False
    cuts: bool = False
    inside: list[int] = field(default_factory=list)
    overloaded: int = 0
    cost: float | None = None
    left: int | None = None


@dataclass
class ProviderServer(FakeServer):
    """The server of one provider; `rejected` are the bodies that it refused."""

    provider: str = "compatible"
    quirks: Quirks = field(default_factory=Quirks)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._behind = cycle(BEHIND)

    @property
    def url(self) -> str:
        """What the provider's variable names."""
        path = {"anthropic": "", "azure": "", "openrouter": "/api/v1"}.get(self.provider, "/v1")
        return f"http://{self.address}{path}"

    # --- requests

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path_qs)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if self.api_key and not self._has_key(request):
            return self._error(
                401, "invalid x-api-key" if self.provider == "anthropic" else "Unauthorized", "authentication_error"
            )
        if self.provider == "anthropic" and request.headers.get("anthropic-version") != VERSION:
            return self._error(400, "anthropic-version: header is required", "invalid_request_error")
        if request.method == "POST":
            return await self._posted(request)
        return self._looked_up(request)

    def _has_key(self, request: web.Request) -> bool:
        header = KEYS.get(self.provider)
        if header:
            return request.headers.get(header) == self.api_key and "Authorization" not in request.headers
        return request.headers.get("Authorization") == f"Bearer {self.api_key}"

    async def _posted(self, request: web.Request) -> web.StreamResponse:
        path, deployment = request.path, ""
        if self.provider == "azure":
            if path.startswith("/openai/deployments/") and request.query.get("api-version"):
                deployment = path.split("/")[3]
            elif path != "/openai/v1/chat/completions":
                return self._error(404, "Resource not found", "404")
        elif path != (
            "/v1/messages" if self.provider == "anthropic" else f"{self.url.partition(self.address)[2]}/chat/completions"
        ):
            return self._error(404, "unknown path", "not_found_error")
        asked = json.loads(await request.read())
        return self._chatted(asked, deployment or asked.get("model", ""))

    def _looked_up(self, request: web.Request) -> web.StreamResponse:
        self.lookups += 1
        name = request.path.rpartition("/")[2]
        if self.provider == "anthropic":
            found = [{"type": "model", "id": one, "display_name": one, "max_input_tokens": 200_000} for one in self.models]
            if request.path == "/v1/models":
                return web.json_response({"data": found, "has_more": False, "first_id": None, "last_id": None})
            one = next((one for one in found if one["id"] == name), None)
            return web.json_response(one) if one else self._error(404, f"model: {name}", "not_found_error")
        if not request.path.endswith("/models"):
            return self._error(404, "unknown path", "not_found")
        window = {"mistral": "max_context_length", "openrouter": "context_length"}.get(self.provider, "max_model_len")
        listed = [{"id": one, "object": "model", window: 32_000} for one in self.models]
        return web.json_response(listed if self.provider == "compatible" else {"object": "list", "data": listed})

    def _chatted(self, asked: dict[str, Any], model: str) -> web.StreamResponse:
        refusal = self._refusal(asked, model)
        if refusal is not None:
            self.rejected.append(asked)
            return refusal
        call = self._noted(asked, model)
        if self.quirks.inside and self.provider != "anthropic":
            code = self.quirks.inside.pop(0)
            error = {"code": code, "message": "Provider returned error", "metadata": {"provider_name": BEHIND[0]}}
            return web.json_response({"error": error, "user_id": "user_1"})
        self.answered += 1
        return web.json_response(self.reply(call, *self._ended(call)), headers=self._rate_headers())

    def _noted(self, asked: dict[str, Any], model: str) -> Call:
        """The call in the words of the other servers."""
        system = asked.get("system", "")
        turns = [("system", _text_of(system))] if system else []
        turns += [(one["role"], _text_of(one["content"])) for one in asked["messages"]]
        call = Call(
            path="/v1/chat/completions",
            model=model,
            messages=tuple(turns),
            options={name: value for name, value in asked.items() if name not in ("messages", "system")},
            asks_verdict=any(name in asked for name in ("response_format", "output_config", "tool_choice"))
            or "output format" in turns[0][1].lower()
            or '"score"' in turns[0][1] + turns[-1][1],
            authorization="",
            body=json.dumps(asked).encode(),
            fault="",
        )
        self.calls.append(call)
        return call

    # --- refusals

    def _refusal(self, asked: dict[str, Any], model: str) -> web.Response | None:
        """What the provider says of a request that it does not carry out; None where it does."""
        quirks = self.quirks
        if self.faults.storm > 0:
            self.faults.storm -= 1
            limits = {"retry-after": self.faults.retry_after}
            return self._error(429, "Rate limit exceeded", "rate_limit_error", limits)
        if quirks.overloaded > 0:
            quirks.overloaded -= 1
            return self._error(529 if self.provider == "anthropic" else 503, "Overloaded", "overloaded_error")
        if model not in self.models:
            return self._error(404, f"model: {model}", "not_found_error")
        unknown = self._unknown(asked)
        if unknown:
            return unknown
        for name in quirks.untaken:
            if name in asked:
                return self._untaken(name)
        mode = _mode_of(asked)
        if mode and mode not in quirks.modes:
            told = {"json_schema": "response_format.json_schema", "json_object": "response_format", "tool": "tool_choice"}[mode]
            if self.provider == "anthropic" and mode == "json_schema":
                told = "output_config.format"
            return self._error(400, f"{told}: not supported by this model", "invalid_request_error")
        if quirks.filters == "prompt" and quirks.trigger in json.dumps(asked["messages"], ensure_ascii=False):
            return self._filtered()
        return None

    def _unknown(self, asked: dict[str, Any]) -> web.Response | None:
        """The error for a request that the documentation does not allow."""
        known = {"anthropic": _MESSAGE_FIELDS, "mistral": _MISTRAL_FIELDS}.get(self.provider)
        strange = sorted(asked.keys() - known) if known else []
        if self.provider == "anthropic":
            if strange:
                return self._error(400, f"{strange[0]}: Extra inputs are not permitted", "invalid_request_error")
            if type(asked.get("max_tokens")) is not int:
                return self._error(400, "max_tokens: Field required", "invalid_request_error")
            if any(one["role"] == "system" for one in asked["messages"]):
                return self._error(400, 'messages: Unexpected role "system"', "invalid_request_error")
            if "minimum" in json.dumps(asked.get("output_config", {})):
                told = "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported"
                return self._error(400, told, "invalid_request_error")
        if strange:
            detail = [
                {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"} for name in strange
            ]
            return web.json_response(
                {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}, status=422
            )
        return None

    def _untaken(self, name: str) -> web.Response:
        if self.provider == "anthropic":
            return self._error(400, f"`{name}` is deprecated for this model.", "invalid_request_error")
        if name == "max_tokens":
            told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            return self._error(400, told, "unsupported_parameter")
        told = f"Unsupported value: '{name}' does not support 0.1 with this model. Only the default (1) value is supported."
        return self._error(400, told, "unsupported_value")

    def _filtered(self) -> web.Response:
        if self.provider == "openrouter":
            metadata = {"reasons": ["violence"], "flagged_input": "...", "provider_name": "OpenAI", "model_slug": "m"}
            return web.json_response({"error": {"code": 403, "message": "Input was flagged", "metadata": metadata}}, status=403)
        told = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
        inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": _FILTER}
        error = {"message": told, "type": None, "param": "prompt", "code": "content_filter", "status": 400, "innererror": inner}
        return web.json_response({"error": error}, status=400)

    def _error(self, status: int, message: str, kind: str, headers: dict[str, str] | None = None) -> web.Response:
        """An error in the provider's shape."""
        body: dict[str, Any] = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": kind}}
        if self.provider == "anthropic":
            body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
        elif self.provider == "mistral":
            body = {"object": "error", "message": message, "type": kind, "param": None, "code": "1300"}
        elif self.provider == "openrouter":
            body = {"error": {"code": status, "message": message}}
        return web.json_response(body, status=status, headers=headers)

    def _rate_headers(self) -> dict[str, str]:
        left = self.quirks.left
        if left is None:
            return {}
        if self.provider == "anthropic":
            limit = {"limit": "1000", "remaining": str(left), "reset": "2999-01-01T00:00:00Z"}
            return {f"anthropic-ratelimit-requests-{name}": value for name, value in limit.items()}
        if self.provider == "mistral":
            return {"x-ratelimit-limit-req-minute": "1000", "x-ratelimit-remaining-req-minute": str(left)}
        names = {"limit": "1000", "remaining": str(left), "reset": "1s"}
        return {f"x-ratelimit-{name}-requests": value for name, value in names.items()}

    # --- answers

    def _ended(self, call: Call) -> tuple[str, str]:
        text, end = answer_text(call)
        quirks, hit = self.quirks, self.quirks.trigger in call.user
        if quirks.cuts and hit:
            return text[: len(text) // 3], "length"
        if quirks.refuses and hit:
            return "", "refusal"
        if quirks.filters == "answer" and hit:
            return "", "content_filter"
        return text, end

    def reply(self, call: Call, text: str, end: str) -> dict[str, Any]:
        """A whole answer in the provider's shape."""
        asked = json.loads(call.body)
        counted, completed = max(1, sum(len(content) for _, content in call.messages) // 4), max(1, len(text) // 4)
        if self.provider == "anthropic":
            return self._message(asked, call.model, text, end, counted, completed)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self.quirks.thinks == "parts":
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": HIDDEN_THOUGHT}]}
            message["content"] = [thought, {"type": "text", "text": text}]
        elif self.quirks.thinks == "field":
            message["reasoning" if self.provider == "openrouter" else "reasoning_content"] = HIDDEN_THOUGHT
        elif self.quirks.thinks == "text":
            message["content"] = f"<think>{HIDDEN_THOUGHT}</think>\n{text}"
        if end == "refusal":
            message |= {"content": None, "refusal": "I'm sorry, I can't help with that."}
            end = "stop"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": end}
        if end == "content_filter" and self.provider == "azure":
            choice |= {"content_filter_results": _FILTER}
        usage: dict[str, Any] = {"prompt_tokens": counted, "completion_tokens": completed, "total_tokens": counted + completed}
        reply = {"id": "gen-1", "object": "chat.completion", "model": call.model, "choices": [choice], "usage": usage}
        if self.quirks.cost is not None:
            usage["cost"] = self.quirks.cost
        return {**reply, "provider": next(self._behind)} if self.provider == "openrouter" else reply

    def _message(self, asked: dict[str, Any], model: str, text: str, end: str, counted: int, completed: int) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = []
        if self.quirks.thinks:
            blocks = [
                {"type": "thinking", "thinking": HIDDEN_THOUGHT, "signature": "x"},
                {"type": "redacted_thinking", "data": "y"},
            ]
        stop = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "content_filter": "refusal"}[end]
        if "tool_choice" in asked and stop == "end_turn":
            blocks.append({"type": "tool_use", "id": "toolu_1", "name": asked["tool_choice"]["name"], "input": json.loads(text)})
            stop = "tool_use"
        elif text:
            blocks.append({"type": "text", "text": text})
        created, read = self._kept(asked)
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": counted - created - read,
                "output_tokens": completed,
                "cache_creation_input_tokens": created,
                "cache_read_input_tokens": read,
            },
        }

    def _kept(self, asked: dict[str, Any]) -> tuple[int, int]:
        """How many tokens are kept, and were kept, by the marks of a request."""
        beginning, marked = "", ""
        for block in [
            *_blocks(asked.get("system", "")),
            *(one for turn in asked["messages"] for one in _blocks(turn["content"])),
        ]:
            beginning += block["text"]
            marked = beginning if "cache_control" in block else marked
        if not marked:
            return 0, 0
        known = marked in self.kept
        self.kept.add(marked)
        return (0, len(marked) // 4) if known else (len(marked) // 4, 0)


def _mode_of(asked: dict[str, Any]) -> str:
    if "output_config" in asked:
        return "json_schema"
    if "tool_choice" in asked:
        return "tool"
    return str((asked.get("response_format") or {}).get("type", ""))


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text_of(content: str | list[dict[str, Any]]) -> str:
    return "".join(block["text"] for block in _blocks(content))
