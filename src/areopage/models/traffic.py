"""What the models of one server share: whether it is there."""

import asyncio
import threading

from areopage.models.breaker import Breaker, OutageObserver
from areopage.models.contacts import contacts_of
from areopage.models.providers import open_model
from areopage.models.reference import ModelReference
from areopage.models.retry import Retrying
from areopage.models.settings import ModelSettings


class Traffic:
    """The calls to all servers; one instance serves any number of models in any event loop."""

    def __init__(self, outage_seconds: float = 0.0, observer: OutageObserver | None = None) -> None:
        """Prepare it.

        Args:
            outage_seconds: how long calls wait for a server that is gone; 0: no call waits.
            observer: is told of outages.
        """
        self._outage_seconds, self._observer = outage_seconds, observer
        self._guard = threading.Lock()
        self._breakers: dict[tuple[asyncio.AbstractEventLoop, str], Breaker] = {}

    def open(self, reference: ModelReference, settings: ModelSettings) -> Retrying:
        """A model whose calls are made again where that may help; called in the event loop that makes them.

        Raises:
            ModelError, MissingExtra: see `open_model`.
        """
        return Retrying(open_model(reference, settings), breaker=self._breaker(reference, settings))

    def _breaker(self, reference: ModelReference, settings: ModelSettings) -> Breaker:
        contact = contacts_of([reference], settings).get(reference)
        address = str(reference) if contact is None else contact.address
        loop = asyncio.get_running_loop()
        with self._guard:
            self._breakers = {key: breaker for key, breaker in self._breakers.items() if not key[0].is_closed()}
            found = self._breakers.get((loop, address))
            if found is None:
                found = self._breakers[loop, address] = Breaker(address, self._outage_seconds, self._observer)
            return found
