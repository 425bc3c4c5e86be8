"""What extensions add to the server."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter
from msgspec import Struct

from areopage.extensions import imported, registered


class ServerPart(NamedTuple):
    """Routes, and what belongs to them.

    Args:
        records: bodies of requests and responses, for the OpenAPI schema.
        folder: templates (`*.j2`) and messages (`*words.yml`) of its pages; None where it has no pages.
    """

    router: APIRouter
    records: tuple[type[Struct], ...] = ()
    folder: Path | None = None


@cache
def server_parts() -> tuple[ServerPart, ...]:
    """The parts of all extensions."""
    return tuple(imported(place) for place in registered("pages").values())
