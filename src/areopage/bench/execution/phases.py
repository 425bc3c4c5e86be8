"""The phases of a run: on which server each is carried out, and which phases it waits for.

A phase is all calls to the target, or all calls to one judge. Phases on different servers are carried out at the same time. A
judge is asked about a case as soon as the target's answer is in the ledger. Phases on one server follow each other in the order
of the suite, the target first:

- A server that holds one model in memory (Ollama, the embedded model, an endpoint with `resident: 1`) begins a phase when the
  phase before has no calls left, in no process: each model is loaded once. A server that holds N models has calls to N models
  at most.
- Another server begins a phase while the last blocks of the phase before are out.

What a phase waits for is said by `PhasePlace`; `areopage.bench.execution.blocks` carries it out.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from msgspec import Struct

from areopage.bench.spec import RunSpec
from areopage.models import ModelReference, ModelSettings

TARGET_PHASE = "target"
CHILD_PHASE = "child"
ROUND = " (round "
"""Stands in the name of a judge's phase before the number of its round, from the second one on."""
_IN_THIS_PROCESS = "this process"


class PhasePlace(Struct, frozen=True, kw_only=True):
    """Where a phase stands among the phases of a run.

    Args:
        name: of the phase, unique in the run.
        server: the name of the server that is asked, the same for all phases on it.
        after: the phases that have no calls left when this one begins.
        behind: the phase before on the same server, whose last blocks this one may overlap; "" for the first.
    """

    name: str
    server: str
    after: tuple[str, ...] = ()
    behind: str = ""


class Phase(Protocol):
    """All calls to the target or to one judge, in blocks."""

    async def prepare(self) -> None:
        """Plan what is known already; no call is made. May be done while other phases are carried out."""
        ...

    async def more(self) -> Sequence[int]:
        """The numbers of the blocks, from 0, that can be done since the last time and have open calls. Models may be opened."""
        ...

    @property
    def complete(self) -> bool:
        """Whether `more` has given all blocks."""
        ...

    def has_left(self, number: int) -> bool:
        """Whether a block has calls without a final result or an attempt in this phase."""
        ...

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make a block's open calls; on return they are in the ledger."""
        ...

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        ...

    async def ended(self, numbers: Collection[int]) -> None:
        """Note that blocks have no calls left; this process or others made them."""
        ...

    async def close(self) -> None:
        """Close the models; nothing is called any more. Done once, however the phase ends, also where it has not begun."""
        ...


def places(spec: RunSpec, settings: ModelSettings, names: Sequence[str], *, answers: bool) -> list[PhasePlace]:
    """The places of the phases of a run, in order: the target's, then those of the judges.

    Args:
        settings: how models are reached.
        names: of the judges' phases, one for each judge; "" for a judge that is not asked.
        answers: whether the target is asked.
    """
    ordered: list[PhasePlace] = []
    models: dict[str, list[tuple[str, ModelReference]]] = {}
    asked = spec.answering if answers else ()
    for model in asked:
        models.setdefault(server_of(model.reference, settings), []).append((TARGET_PHASE, model.reference))
    if asked:
        ordered.append(PhasePlace(name=TARGET_PHASE, server=server_of(asked[0].reference, settings)))
    for judge, name in zip(spec.judges, names, strict=True):
        if not name:
            continue
        server = server_of(judge.reference, settings)
        before = models.setdefault(server, [])
        after = _ended_first(before, judge.reference, settings.resident_models(judge.reference))
        ordered.append(PhasePlace(name=name, server=server, after=after, behind=before[-1][0] if before else ""))
        before.append((name, judge.reference))
    return ordered


def servers(spec: RunSpec, settings: ModelSettings) -> list[str]:
    """The names of the servers of a run, in the order of its phases; the same in every process with the same settings."""
    references = [*(model.reference for model in spec.answering[:1]), *(judge.reference for judge in spec.judges)]
    return list(dict.fromkeys(server_of(reference, settings) for reference in references))


def server_of(reference: ModelReference, settings: ModelSettings) -> str:
    """The name of a model's server: its address; models in this process share one, and code has one of its own."""
    contact = settings.contact(reference)
    if contact is not None:
        return contact.address
    return _IN_THIS_PROCESS if reference.provider == "embedded" else str(reference)


def _ended_first(
    before: Sequence[tuple[str, ModelReference]], reference: ModelReference, resident: int | None
) -> tuple[str, ...]:
    """The phases on a server that end before a model is asked there, so that no more models are in use than it holds."""
    if resident is None:
        return ()
    in_use = {reference}
    for place in range(len(before) - 1, -1, -1):
        in_use.add(before[place][1])
        if len(in_use) > resident:
            return tuple(dict.fromkeys(name for name, _ in before[: place + 1]))
    return ()
