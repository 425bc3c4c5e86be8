"""What the models of one server share: whether it is there, how many calls are open, and when calls may begin."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from areopage.models.adapters import open_model
from areopage.models.breaker import Breaker, OutageObserver
from areopage.models.limits import Limiter, Pacer, limiter_of
from areopage.models.reference import ModelReference
from areopage.models.retry import ATTEMPTS, CallBudget, Calls, Retrying
from areopage.models.settings import ModelSettings
from areopage.models.window import Gauge


class CalledServer(Struct, frozen=True, kw_only=True):
    """What the models of a server share in one event loop.

    Args:
        name: of its endpoint; "" for a provider's usual server.
        concurrency: how many calls may be open by the endpoint; None: any number.
        is_shared: whether other processes share the endpoint's limits.
    """

    address: str
    name: str
    concurrency: int | None
    is_shared: bool
    breaker: Breaker
    limiter: Limiter


class Traffic:
    """The calls to all servers; one instance serves any number of models in any event loop."""

    BEGUN_FOR_EACH = 2
    """Calls begun for each call that may be open to a server: prompts are rendered ahead."""

    def __init__(
        self,
        outage_seconds: float = 0.0,
        observer: OutageObserver | None = None,
        budget: CallBudget | None = None,
        *,
        gauges: Mapping[str, Gauge] = MappingProxyType({}),
        at_once: int | None = None,
        attempts: int = ATTEMPTS,
    ) -> None:
        """Prepare it.

        Args:
            outage_seconds: how long calls wait for a server that is gone; 0: no call waits.
            observer: is told of outages.
            budget: says when a call that costs money may begin; None: at once.
            gauges: tell what fits into the windows of models, by reference.
            at_once: how many calls may be open to one server, in one event loop; None: any number. A call that waits for another
                try is not open.
            attempts: how often a call is made that fails.
        """
        self._attempts = attempts
        self._budget, self._gauges = budget, gauges
        self._outage_seconds, self._observer, self.at_once = outage_seconds, observer, at_once
        self._guard = threading.Lock()
        self._servers: dict[tuple[asyncio.AbstractEventLoop, str, str], CalledServer] = {}
        self._pacers: dict[tuple[str, str], Pacer] = {}
        self._sharing: set[asyncio.AbstractEventLoop] = set()
        self.held = False
        """Whether no call begins any more."""

    def share_limits(self) -> None:
        """Let no call of this event loop to a server with stated limits begin before it has a part of them; see `limited`."""
        self._sharing = {asyncio.get_running_loop(), *(loop for loop in self._sharing if not loop.is_closed())}

    def limited(self) -> Sequence[CalledServer]:
        """The servers whose stated limits this event loop shares with other processes."""
        return [server for server in self._called() if server.is_shared]

    def hold(self) -> None:
        """Let no call begin any more; those that are open end."""
        self.held = True
        for server in self._called():
            server.limiter.limit_to(0)

    def open_calls(self) -> int:
        """How many calls of this event loop are open."""
        return sum(server.limiter.open_calls for server in self._called())

    def open(self, reference: ModelReference, settings: ModelSettings) -> Retrying:
        """A model whose calls are made again where that may help; called in the event loop that makes them."""
        server, model = self._server(reference, settings), open_model(reference, settings)
        return Retrying(
            model,
            Calls(attempts=self._attempts, breaker=server.breaker, limiter=server.limiter),
            gauge=self._gauges.get(str(reference)),
            budget=self._budget if self._budget is not None and self._budget.is_paid(reference) else None,
        )

    def calls(self, reference: ModelReference, settings: ModelSettings) -> Calls:
        """Calls to the server of a model that are not to the model, made again where that may help; as for `open`."""
        server = self._server(reference, settings)
        return Calls(breaker=server.breaker, limiter=server.limiter)

    def _called(self) -> Sequence[CalledServer]:
        loop = asyncio.get_running_loop()
        with self._guard:
            return [server for key, server in self._servers.items() if key[0] is loop]

    def _server(self, reference: ModelReference, settings: ModelSettings) -> CalledServer:
        """What the models of a server share: in this event loop, but for the pacer, which all loops share."""
        loop, name = asyncio.get_running_loop(), reference.endpoint
        contact, endpoint = settings.contact(reference), settings.endpoints.get(name)
        address = str(reference) if contact is None else contact.address
        limits = (endpoint.concurrency, endpoint.requests_per_minute, endpoint.tokens_per_minute) if endpoint else ()
        with self._guard:
            self._servers = {key: server for key, server in self._servers.items() if not key[0].is_closed()}
            shared = self._servers.get((loop, address, name))
            if shared is not None:
                return shared
            limiter = limiter_of(endpoint, self.at_once, self._pacers.get((address, name)))
            self._pacers[address, name] = limiter.pacer
            server = self._servers[loop, address, name] = CalledServer(
                address=address,
                name=name,
                concurrency=None if endpoint is None else endpoint.concurrency,
                is_shared=loop in self._sharing and any(limit is not None for limit in limits),
                breaker=Breaker(address, self._outage_seconds, self._observer),
                limiter=limiter,
            )
        if server.is_shared or self.held:
            server.limiter.limit_to(0)
        return server
