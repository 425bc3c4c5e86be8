"""The cases of a run, as the ledger holds them."""

from msgspec.json import Decoder

from areopage.bench.spec import RunCase, shared_parts
from areopage.ledger import Ledger

_CASE: Decoder[RunCase] = Decoder(RunCase)


def load_run_cases(ledger: Ledger, run_id: str) -> tuple[RunCase, ...]:
    """The cases of a run."""
    return tuple(shared_parts(map(_CASE.decode, ledger.run_cases(run_id))))
