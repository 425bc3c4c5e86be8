"""How many connections the process may open: the system counts them among its open files."""

import sys
from collections.abc import Iterable

from areopage.errors import ModelError
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

RESERVED_FILES = 40
"""Files of a process that calls models which are not connections to them: the ledger, its queue, the log."""


def room_for(wanted: int, reserved: int) -> int:
    """How many connections of the wanted ones the process may open, after its limit of open files is raised as far as it may."""
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = wanted + reserved
    if soft != resource.RLIM_INFINITY and soft < enough:
        raised = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - reserved))


def require_connections(
    models: Iterable[ModelReference], at_once: int, settings: ModelSettings, setting: str = "--concurrency"
) -> None:
    """Refuse more calls at once to models on servers than the process may open connections; its limit is raised where it may be.

    Args:
        at_once: how many calls may be open to each model.
        setting: what the user lowers for fewer calls.

    Raises:
        ModelError: the connections do not fit.
    """
    called = len({model for model in models if settings.contact(model) is not None})
    wanted = called * at_once
    room = room_for(wanted, RESERVED_FILES) if wanted else 0
    if room < wanted:
        enough = wanted + RESERVED_FILES
        lower = f", or make at most {room // called} calls at once ({setting})" if room >= called else ""
        raise ModelError(
            f"{at_once} calls at once to each model need up to {enough} open files, more than the system allows this process: "
            f"raise the limit with `ulimit -n {enough}`{lower}"
        )
