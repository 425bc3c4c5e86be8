"""The judges of a run as its release verdict sees them."""

from collections.abc import Iterator, Sequence

from areopage.bench.spec import RunSpec
from areopage.ledger import CriterionStanding, JudgeStanding
from areopage.scoring import JudgeState, ReleaseJudge, is_undecided


def release_judges(spec: RunSpec, standings: Sequence[JudgeStanding]) -> Iterator[ReleaseJudge]:
    """What a release verdict needs to know of each judge."""
    code = {judge.name for judge in spec.judges if judge.kind == "code"}
    for standing in standings:
        yield ReleaseJudge(
            judge=standing.judge,
            states={standing_on.criterion: _state(standing_on) for standing_on in standing.criteria},
            unfit=standing.state == "unfit",
            is_code=standing.judge in code,
        )


def _state(standing: CriterionStanding) -> JudgeState:
    if standing.state == "unfit" or standing.failed_otherwise:
        return "not_qualified"
    if standing.state == "not_qualified" and is_undecided(standing.missed):
        return "undecided"
    return "provisional" if standing.provisional else standing.state
