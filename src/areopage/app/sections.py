"""All sections of `areopage.yml`: those that every part reads, and those of applications, which a benchmark does without."""

from typing import Annotated, Any

from pydantic import Field

from areopage.checking import RagSection
from areopage.monitor import MonitorSection
from areopage.suites import ConfigSection, Count, SharedSections


class ServerSection(ConfigSection):
    """The server. `origins` are other addresses that pages may be sent from; without keys only this computer may enter.

    `max_body` is in bytes; a body has to be there as a whole `body_seconds` after its request's head. The head has to be there
    `head_seconds` after the connection or the reply before. `connections` is the most in all, `connections_per_client` from one
    address.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8600
    max_body: Count = 2_000_000
    body_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    head_seconds: Annotated[float, Field(gt=0, le=3600)] = 15.0
    connections: Count = 2000
    connections_per_client: Count = 1000
    origins: list[str] = []


class FleetSection(ConfigSection):
    """Workers of this computer. `endpoints`: the only ones that they call for benchmark runs; [] all that they can."""

    endpoints: list[str] = []


class AppSection(SharedSections):
    """The whole file. `gate` holds rules of the gate; without `rag` the server answers no questions."""

    server: ServerSection = ServerSection()
    monitor: MonitorSection = MonitorSection()
    fleet: FleetSection = FleetSection()
    gate: dict[str, Any] = {}
    rag: RagSection | None = None

    @classmethod
    def over(cls, shared: SharedSections) -> "AppSection":
        """The shared sections of a file, with the defaults of all others; the same where it has others."""
        if isinstance(shared, cls):
            return shared
        return cls.model_construct(_fields_set=set(shared.model_fields_set), **dict(shared))
