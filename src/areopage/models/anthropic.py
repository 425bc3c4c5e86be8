"""The Messages API of Anthropic: `/v1/messages` and `/v1/models`, without streaming.

Written from Anthropic's documentation as it stood in autumn 2026, with the header `anthropic-version: 2023-06-01`: messages, stop
reasons, structured outputs (`output_config.format`), prompt caching, errors and rate limits.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.errors import CallError, CallRejected, CallUnreachable, ModelError, ModelMissing, PromptTooLong
from areopage.models.anthropic_messages import MessagesReply, completion_of, message_body, schema_fields
from areopage.models.json_chat import ChatModel
from areopage.models.known_providers import SchemaMode
from areopage.models.port import SERVER, Completion, Message, ModelStatus, Options, Schema
from areopage.models.reference import ModelReference
from areopage.models.servers import ListedModel, ModelServer, connect
from areopage.models.settings import ModelSettings

_TOO_LONG = ("prompt is too long", "exceed context limit", "exceeds the maximum")
_ADVICE = "areopage models list anthropic"
_PAGE = 1000


class _AnthropicEntry(msgspec.Struct):
    id: str
    max_input_tokens: int | None = None


class _AnthropicEntries(msgspec.Struct):
    data: list[_AnthropicEntry] | None = None


class AnthropicModel(ChatModel[MessagesReply]):
    """One model of the Messages API, as a `LanguageModel`."""

    path = "/v1/messages"
    reply_type = MessagesReply
    schema_signs = ("output_config", "output format", "structured output", "schema", "tool_choice", "tools")

    async def check(self) -> ModelStatus:
        """Look the model up; see `LanguageModel.check`. There is no digest of weights: the server's address stands in for it."""
        name = self._reference.model
        try:
            entry = await self.server.look_up(f"/v1/models/{_path_part(name)}", _AnthropicEntry)
        except CallRejected as fault:
            raise ModelMissing(f"{self.server.address} has no model {name!r}: {_ADVICE} [{fault}]") from fault
        return ModelStatus(digest=f"{SERVER}{self.server.address}", context_length=entry.max_input_tokens)

    def explained(self, fault: CallError) -> CallError:
        """A fault as the kind that it is: too long a prompt, or an account without money."""
        if not isinstance(fault, CallRejected):
            return fault
        message = str(fault).lower()
        if fault.status in (400, 413) and any(sign in message for sign in _TOO_LONG):
            return PromptTooLong(f"{self._reference}: the prompt does not fit: {fault}", status=fault.status)
        if fault.status == 400 and "credit balance is too low" in message:
            return CallRejected(str(fault), status=402, code=fault.code)
        return fault

    def _explained(self, fault: CallError, options: Options) -> Completion:
        raise self.explained(fault) from fault

    def _plain_body(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        return message_body(self._reference.model, messages, options, self.server.provider.unsent)

    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        return schema_fields(mode, schema)

    def _completion(self, reply: MessagesReply, seconds: float) -> Completion:
        if reply.error is not None:
            raise self._fault_in(reply.error)
        if reply.content is None:
            raise CallUnreachable(f"{self.server.address}{self.path}: the answer holds no content")
        return completion_of(reply, reply.content, seconds)


def open_model(reference: ModelReference, settings: ModelSettings) -> AnthropicModel:
    """Open a model; nothing is called yet.

    Raises:
        ModelError: the endpoint is unknown, or an address is none.
    """
    return AnthropicModel(reference, connect("anthropic", reference.endpoint, settings))


async def listed(server: ModelServer) -> tuple[ListedModel, ...]:
    """The models that a server lists."""
    try:
        reply = await server.look_up("/v1/models", _AnthropicEntries, [("limit", str(_PAGE))])
    except CallRejected as fault:
        raise ModelError(f"{server.place} does not list its models: {fault}") from fault
    return tuple(ListedModel(name=model.id, context_length=model.max_input_tokens) for model in reply.data or ())


def _path_part(name: str) -> str:
    if not name or not all(char.isalnum() or char in "-_.:@" for char in name) or set(name) <= {"."}:
        raise ModelError(f"{name[:60]!r} is not the name of a model of Anthropic: {_ADVICE}")
    return name
