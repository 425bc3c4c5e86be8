"""The base of the adapters of chat models: JSON is posted to a server, and what the model does not take is left out.

An adapter is a codec: it writes the body of a call, reads the answer, and knows what a rejection means.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from areopage.cases import Case
from areopage.errors import CallError, CallRejected, CallUnreachable, PromptTooLong
from areopage.models.error_bodies import error_of, error_status
from areopage.models.known_providers import SchemaMode
from areopage.models.lenient_json import decode_reply
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.servers import ModelServer
from areopage.models.settings import ModelSettings
from areopage.models.untaken import Untaken
from areopage.models.window import PromptMeter

PROBE = (Message("user", "ok"),)
"""The shortest call."""
SCHEMA_FIELDS = ("response_format", "json_schema", "guided_json")
"""Fields of a request that state a schema: a fault that names one is about it."""
Reply = TypeVar("Reply")


class ChatModel(ABC, Generic[Reply]):
    """A model of a server. It may refuse options, and ways of stating a schema: what it refused once is not sent again."""

    path: ClassVar[str]
    """Where calls go, below the server's address."""
    reply_type: ClassVar[type[Any]]
    """The record of an answer: `Reply`."""
    schema_signs: ClassVar[tuple[str, ...]] = ()
    """Words of a rejection that is about the schema."""

    max_concurrency: int | None = None
    """None: the server queues, the caller decides."""

    def __init__(self, reference: ModelReference, settings: ModelSettings) -> None:
        """Nothing is called yet; ModelError where the endpoint is unknown, or an address is none."""
        self.reference = reference
        self.server = ModelServer(reference.provider, reference.endpoint, settings, reference.model)
        self._modes = self.server.modes  # those before the first are refused
        self._untaken, self._meter = Untaken(), PromptMeter()

    @property
    def schema_mode(self) -> SchemaMode:
        """How the server is told a schema, as the last call found out."""
        return self._modes[0]

    # --- the codec

    @abstractmethod
    async def check(self) -> ModelStatus:
        """Make sure that the model can be called; see `LanguageModel.check`."""

    @abstractmethod
    def _plain_body(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        """The body of a call without a schema, with the names that the provider has for options."""

    @abstractmethod
    def _schema_fields(self, mode: SchemaMode, schema: Schema) -> Mapping[str, Any]:
        """The fields of a request that hold the answer to a schema."""

    @abstractmethod
    def _completion(self, reply: Reply, seconds: float) -> Completion:
        """What an answer says."""

    def _window(self, options: Options) -> tuple[int | None, str]:
        """How many tokens a call's window holds, where that is known before it is sent, and the name of what sets it."""
        return None, ""

    def _was_cut(self, completion: Completion, messages: Sequence[Message], options: Options) -> bool:
        return False

    def _explained(self, fault: CallError, options: Options) -> Completion:
        """The completion that a fault stands for; or raise the fault, as the kind that it is."""
        raise fault

    def _is_about_schema(self, fault: CallError) -> bool:
        message = str(fault).lower()
        if isinstance(fault, CallRejected) and fault.status in (400, 422):
            return any(sign in message for sign in self.schema_signs)
        return any(field in message for field in SCHEMA_FIELDS)  # some servers answer 404, 500 or 501

    def _next_mode(self, fault: CallError, at: int, last: int) -> int | None:
        """The number of the way of stating a schema to try after the rejection of number `at`; None: the schema is not why."""
        return at + 1 if self._is_about_schema(fault) else None

    def _learns(self, fault: CallError, sent: Mapping[str, Any]) -> bool:
        """Whether a fault names what the model does not take, so that the call is worth another try without it."""
        if isinstance(fault, CallRejected):
            return self._untaken.learn(fault, sent)
        return self._untaken.learn_system(str(fault), sent)  # some servers answer 500 where a chat template has no system role

    # --- calls

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once, or once more where the model does not take the schema or an option; see `LanguageModel.generate`."""
        self._refuse_too_long(messages, options)
        try:
            completion = await self._ask(self._plain_body(messages, options), schema)
        except (CallRejected, CallUnreachable) as fault:
            completion = self._explained(fault, options)
        return self._noted(completion, messages, options)

    def body(self, messages: Sequence[Message], options: Options, schema: Schema | None = None) -> dict[str, Any]:
        """The body of a call, for a service that makes it later."""
        self._refuse_too_long(messages, options)
        fields = {} if schema is None else self._schema_fields(self._modes[0], schema)
        return self._untaken.applied({**self._plain_body(messages, options), **fields})

    def learn(self, fault: CallRejected, options: Options) -> bool:
        """Learn from the rejection of a call that a service made; whether it is worth another try."""
        if len(self._modes) > 1 and self._is_about_schema(fault):
            self._modes = self._modes[1:]
            return True
        return self._untaken.learn(fault, self._plain_body(PROBE, options))

    def read(self, reply: bytes, messages: Sequence[Message], options: Options) -> Completion:
        """Read the body of an answer that a service brought; its time is not known and is 0."""
        try:
            decoded: Reply = decode_reply(reply, self.reply_type)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CallUnreachable(f"{self.server.address}: the answer is not the JSON expected") from error
        try:
            completion = self._completion(decoded, 0.0)
        except CallRejected as fault:
            completion = self._explained(fault, options)
        return self._noted(completion, messages, options)

    def allowances(self) -> tuple[Allowance, ...]:
        """What the server said is left of its limits; see `JsonServer.allowances`."""
        return self.server.http.allowances()

    async def aclose(self) -> None:
        """Close the connections; a server that loads models keeps this one for as long as it wants."""
        await self.server.http.aclose()

    def _fault_in(self, error: object) -> CallError:
        body = error_of({"error": error})
        return self.server.http.fault(self.path, error_status(error), body.message, retry_after=body.pause, body=body)

    def _refuse_too_long(self, messages: Sequence[Message], options: Options) -> None:
        if refusal := self._meter.refusal(messages, *self._window(options)):
            raise PromptTooLong(f"{self.reference}: {refusal}")

    def _noted(self, completion: Completion, messages: Sequence[Message], options: Options) -> Completion:
        """A completion that says what was not sent, and whether the server cut the prompt."""
        notes = self._untaken.notes(options, self.server.provider.unsent)
        was_cut = self._was_cut(completion, messages, options)
        return replace(completion, notes=(*completion.notes, *notes), prompt_cut=was_cut) if notes or was_cut else completion

    async def _ask(self, body: Mapping[str, Any], schema: Schema | None) -> Completion:
        """Ask with each way of stating a schema until one is taken; only then is it known that the schema was refused."""
        modes, at = self._modes, 0
        while True:
            fields = {} if schema is None else self._schema_fields(modes[at], schema)
            started = time.perf_counter()
            try:
                reply = await self._post({**body, **fields})
                completion = self._completion(reply, time.perf_counter() - started)
            except (CallRejected, CallUnreachable) as fault:
                last = len(modes) - 1
                after = None if schema is None or at == last else self._next_mode(fault, at, last)
                if after is None:
                    raise
                at = after
            else:
                self._modes = modes[at:] if at else self._modes
                return completion

    async def _post(self, asked: dict[str, Any]) -> Reply:
        """Ask once; once more for each option that the model turns out not to take."""
        while True:
            sent = self._untaken.applied(asked)
            try:
                reply: Reply = await self.server.http.post(self.path, sent, self.reply_type, query=self.server.query)
            except (CallRejected, CallUnreachable) as fault:
                # a call beside this one may have learnt it meanwhile
                if not self._learns(fault, sent) and self._untaken.applied(asked) == sent:
                    raise
            else:
                return reply
