"""What the models of one server share: whether it is there, how many calls are open, and when calls may begin."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from areopage.models.breaker import Breaker, OutageObserver
from areopage.models.flow import Flow
from areopage.models.guard import CallBudget, Guarded
from areopage.models.pacing import Pacer
from areopage.models.providers import contacts_of, open_model
from areopage.models.reference import ModelReference
from areopage.models.retry import ATTEMPTS, Calls, Retrying
from areopage.models.settings import Endpoint, ModelSettings
from areopage.models.window import Gauge


class Limited(Struct, frozen=True, kw_only=True):
    """The calls of this event loop to a server with stated limits."""

    address: str
    name: str
    stated: Endpoint
    flow: Flow
    pacer: Pacer


class Traffic:
    """The calls to all servers; one instance serves any number of models in any event loop."""

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
        self._servers: dict[tuple[asyncio.AbstractEventLoop, str, str], tuple[Breaker, Flow]] = {}
        self._pacers: dict[tuple[str, str], Pacer] = {}
        self._limited: dict[tuple[asyncio.AbstractEventLoop, str, str], Limited] = {}
        self._sharing: set[asyncio.AbstractEventLoop] = set()
        self._held = False

    def share_limits(self) -> None:
        """Let no call of this event loop to a server with stated limits begin before it has a part of them; see `limited`."""
        self._sharing = {asyncio.get_running_loop(), *(loop for loop in self._sharing if not loop.is_closed())}

    def limited(self) -> Sequence[Limited]:
        """The servers with stated limits that this event loop calls."""
        loop = asyncio.get_running_loop()
        with self._guard:
            return [one for key, one in self._limited.items() if key[0] is loop]

    def hold(self) -> None:
        """Let no call begin any more; those that are open end."""
        loop = asyncio.get_running_loop()
        self._held = True
        with self._guard:
            for key, (_, flow) in self._servers.items():
                if key[0] is loop:
                    flow.limit_to(0)

    @property
    def held(self) -> bool:
        """Whether no call begins any more."""
        return self._held

    def open_calls(self) -> int:
        """How many calls of this event loop are open."""
        loop = asyncio.get_running_loop()
        with self._guard:
            return sum(flow.open_calls for key, (_, flow) in self._servers.items() if key[0] is loop)

    def open(self, reference: ModelReference, settings: ModelSettings) -> Retrying:
        """A model whose calls are made again where that may help; called in the event loop that makes them.

        Raises:
            ModelError, MissingExtra: see `open_model`.
        """
        breaker, flow, pacer = self._of(reference, settings)
        model = open_model(reference, settings)
        budget = self._budget if self._budget is not None and self._budget.is_paid(reference) else None
        gauge = self._gauges.get(str(reference))
        if budget is not None or gauge is not None:
            model = Guarded(model, gauge, budget)
        return Retrying(model, attempts=self._attempts, breaker=breaker, flow=flow, pacer=pacer)

    def calls(self, reference: ModelReference, settings: ModelSettings) -> Calls:
        """Calls to the server of a model that are not to the model, made again where that may help; as for `open`."""
        breaker, flow, pacer = self._of(reference, settings)
        return Calls(breaker=breaker, flow=flow, pacer=pacer)

    def _of(self, reference: ModelReference, settings: ModelSettings) -> tuple[Breaker, Flow, Pacer]:
        endpoint = settings.endpoints.get(reference.endpoint)
        return self._shared(_address_of(reference, settings), reference.endpoint, endpoint)

    def _shared(self, address: str, name: str, endpoint: Endpoint | None) -> tuple[Breaker, Flow, Pacer]:
        """What the models of a server share: in this event loop, but for the pacer, which all loops share."""
        loop = asyncio.get_running_loop()
        with self._guard:
            self._servers = {key: found for key, found in self._servers.items() if not key[0].is_closed()}
            flow, pacer = limits_of(endpoint, self.at_once)
            pacer = self._pacers.setdefault((address, name), pacer)
            found = self._servers.get((loop, address, name))
            if found is None:
                breaker = Breaker(address, self._outage_seconds, self._observer)
                found = self._servers[loop, address, name] = (breaker, flow)
                limited = loop in self._sharing and endpoint is not None and _has_limits(endpoint)
                if limited and endpoint is not None:
                    self._limited = {key: one for key, one in self._limited.items() if not key[0].is_closed()}
                    one = Limited(address=address, name=name, stated=endpoint, flow=flow, pacer=pacer)
                    self._limited[loop, address, name] = one
                if limited or self._held:
                    flow.limit_to(0)
        return *found, pacer


def _address_of(reference: ModelReference, settings: ModelSettings) -> str:
    """What the models of one server have in common."""
    contact = contacts_of([reference], settings).get(reference)
    return str(reference) if contact is None else contact.address


def _has_limits(endpoint: Endpoint) -> bool:
    return any(limit is not None for limit in (endpoint.concurrency, endpoint.requests_per_minute, endpoint.tokens_per_minute))


def limits_of(endpoint: Endpoint | None, at_once: int | None = None) -> tuple[Flow, Pacer]:
    """What bounds the calls to a server: its stated limits, none for None, and what the caller wants open at most."""
    if endpoint is None:
        return Flow(at_once=at_once), Pacer()
    return Flow(endpoint.concurrency, at_once), Pacer(endpoint.requests_per_minute, endpoint.tokens_per_minute)
