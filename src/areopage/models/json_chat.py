"""What the adapters of chat models have in common: JSON is posted to a server, and what the model does not take is left out.

An adapter writes the body of a call and reads the answer.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from areopage.errors import CallRejected, CallUnreachable
from areopage.models.http import JsonServer, Query
from areopage.models.port import Completion, Schema
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.untaken import Untaken

Mode = TypeVar("Mode", bound=str)
T = TypeVar("T")


class JsonChat:
    """A model of a server."""

    def __init__(self, reference: ModelReference, server: JsonServer) -> None:
        self._reference, self._server = reference, server

    @property
    def reference(self) -> ModelReference:
        """What the user called it."""
        return self._reference

    @property
    def max_concurrency(self) -> int | None:
        """None: the server queues, the caller decides."""
        return None

    def allowances(self) -> tuple[Allowance, ...]:
        """What the server said is left of its limits; see `JsonServer.allowances`."""
        return self._server.allowances()

    async def aclose(self) -> None:
        """Close the connections; a server that loads models keeps this one for as long as it wants."""
        await self._server.aclose()


class HostedModel(JsonChat, ABC, Generic[Mode]):
    """A model that may refuse options, and ways of stating a schema: what it refused once is not sent again."""

    def __init__(self, reference: ModelReference, server: JsonServer, modes: tuple[Mode, ...]) -> None:
        super().__init__(reference, server)
        self._modes = modes  # those before the first are refused
        self._untaken = Untaken()

    @property
    def schema_mode(self) -> Mode:
        """How the server is told a schema, as the last call found out."""
        return self._modes[0]

    @abstractmethod
    def _schema_fields(self, mode: Mode, schema: Schema) -> Mapping[str, Any]:
        """The fields of a request that hold the answer to a schema."""

    @abstractmethod
    def _following(self, fault: CallRejected, at: int, last: int) -> int | None:
        """The number of the way of stating a schema to try after the rejection of number `at`; None: the schema is not why."""

    async def _ask(
        self,
        path: str,
        body: Mapping[str, Any],
        schema: Schema | None,
        into: type[T],
        read: Callable[[T, float], Completion],
        query: Query | None = None,
    ) -> Completion:
        """Ask with each way of stating a schema until one is taken; only then is it known that the schema was refused.

        Args:
            read: what an answer says, and the seconds that it took.
        """
        modes, at = self._modes, 0
        while True:
            fields = {} if schema is None else self._schema_fields(modes[at], schema)
            started = time.perf_counter()
            try:
                reply = await self._post(path, {**body, **fields}, into, query)
                completion = read(reply, time.perf_counter() - started)
            except CallRejected as fault:
                last = len(modes) - 1
                after = None if schema is None or at == last else self._following(fault, at, last)
                if after is None:
                    raise
                at = after
            else:
                self._modes = modes[at:] if at else self._modes
                return completion

    async def _post(self, path: str, body: Mapping[str, Any], into: type[T], query: Query | None) -> T:
        """Ask once; once more for each option that the model turns out not to take."""
        asked = dict(body)
        while True:
            sent = self._untaken.applied(asked)
            try:
                return await self._server.post(path, sent, into, query=query)
            except CallRejected as fault:
                # a call beside this one may have learnt it meanwhile
                if not self._untaken.learn(fault, sent) and self._untaken.applied(asked) == sent:
                    raise
            except CallUnreachable as fault:  # some servers answer 500 where a chat template has no system role
                if not self._untaken.learn_system(str(fault), sent):
                    raise
