"""What the models of one server share: whether it is there, how many calls are open, and when calls may begin."""

import asyncio
import threading
from collections.abc import Mapping
from types import MappingProxyType

from areopage.models.breaker import Breaker, OutageObserver
from areopage.models.contacts import contacts_of
from areopage.models.flow import Flow
from areopage.models.guard import CallBudget, Guarded
from areopage.models.pacing import Pacer
from areopage.models.providers import open_model
from areopage.models.reference import ModelReference
from areopage.models.retry import Retrying
from areopage.models.settings import Endpoint, ModelSettings
from areopage.models.window import Gauge


class Traffic:
    """The calls to all servers; one instance serves any number of models in any event loop."""

    def __init__(
        self,
        outage_seconds: float = 0.0,
        observer: OutageObserver | None = None,
        budget: CallBudget | None = None,
        gauges: Mapping[str, Gauge] = MappingProxyType({}),
    ) -> None:
        """Prepare it.

        Args:
            outage_seconds: how long calls wait for a server that is gone; 0: no call waits.
            observer: is told of outages.
            budget: says when a call that costs money may begin; None: at once.
            gauges: tell what fits into the windows of models, by reference.
        """
        self._budget, self._gauges = budget, gauges
        self._outage_seconds, self._observer = outage_seconds, observer
        self._guard = threading.Lock()
        self._servers: dict[tuple[asyncio.AbstractEventLoop, str, str], tuple[Breaker, Flow]] = {}
        self._pacers: dict[tuple[str, str], Pacer] = {}

    def open(self, reference: ModelReference, settings: ModelSettings) -> Retrying:
        """A model whose calls are made again where that may help; called in the event loop that makes them.

        Raises:
            ModelError, MissingExtra: see `open_model`.
        """
        contact = contacts_of([reference], settings).get(reference)
        address = str(reference) if contact is None else contact.address
        breaker, flow, pacer = self._shared(address, reference.endpoint, settings.endpoints.get(reference.endpoint))
        model = open_model(reference, settings)
        budget = self._budget if self._budget is not None and self._budget.is_paid(reference) else None
        gauge = self._gauges.get(str(reference))
        if budget is not None or gauge is not None:
            model = Guarded(model, gauge, budget)
        return Retrying(model, breaker=breaker, flow=flow, pacer=pacer)

    def _shared(self, address: str, name: str, endpoint: Endpoint | None) -> tuple[Breaker, Flow, Pacer]:
        """What the models of a server share: in this event loop, but for the pacer, which all loops share."""
        loop = asyncio.get_running_loop()
        with self._guard:
            self._servers = {key: found for key, found in self._servers.items() if not key[0].is_closed()}
            flow, pacer = limits_of(endpoint)
            pacer = self._pacers.setdefault((address, name), pacer)
            found = self._servers.get((loop, address, name))
            if found is None:
                breaker = Breaker(address, self._outage_seconds, self._observer)
                found = self._servers[loop, address, name] = (breaker, flow)
        return *found, pacer


def limits_of(endpoint: Endpoint | None) -> tuple[Flow, Pacer]:
    """What bounds the calls to a server by its stated limits; without any for None."""
    if endpoint is None:
        return Flow(), Pacer()
    return Flow(endpoint.concurrency), Pacer(endpoint.requests_per_minute, endpoint.tokens_per_minute)
