"""The failing cases of a run, one criterion at a time, for the formats that other tools read."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from areopage.bench.figures.disputes import DISPUTED
from areopage.bench.figures.failures import FAILURES
from areopage.bench.results.pass_views import passes_of
from areopage.bench.results.run_data import RunData
from areopage.cases import Case, load_dataset
from areopage.criteria import Criterion
from areopage.errors import UserError


class FailingScore(Struct, frozen=True, kw_only=True):
    """A case that fails a criterion.

    Args:
        score: on the run's scale; `limit` is the score from which on it fails.
        judge, explanation: what a judge whose own score fails says; "" where none says anything.
        turn: the number of the reply of a conversation that it says so of; 0: the case as a whole.
        counts_first: the failures of the criterion are counted before any score.
        disputed: some judges say that it fails, and others that it does not.
    """

    case: Case
    criterion: Criterion
    score: float
    limit: float
    judge: str = ""
    explanation: str = ""
    turn: int = 0
    counts_first: bool = False
    disputed: bool = False


def failing_scores(view: RunData, cases: Iterable[Case] | None = None) -> Iterator[FailingScore]:
    """Every failing score of a run: in order of its cases, and of each case the worst first.

    Args:
        cases: only those of these cases; None: all.
    """
    spec, criteria = view.spec, view.spec.criteria_by_id()
    limits = spec.limits
    for case in view.cases if cases is None else cases:
        failed = FAILURES.of(view).by_case.get(case.id, ())
        record = view.scores.records.find(case.id) if failed else None
        scores = {one.criterion: one for one in record.criteria} if record else {}
        for id in failed:
            own = scores[id]
            said = [one for one in passes_of(view, own) if one.explanation and one.score is not None]
            said.sort(key=lambda one: not spec.scale.reaches(one.score or 0.0, limits[id]))
            yield FailingScore(
                case=case,
                criterion=criteria[id],
                score=own.score or 0.0,
                limit=limits[id],
                judge=said[0].judge if said else "",
                explanation=said[0].explanation if said else "",
                turn=said[0].turn if said else 0,
                counts_first=criteria[id].category in FAILURES.of(view).categories,
                disputed=(case.id, id) in DISPUTED.of(view),
            )


class CasePlace(Struct, frozen=True):
    """The file that a case comes from, and the line in it that it begins on; None where that is not known."""

    path: Path
    line: int | None = None


def case_places(view: RunData) -> Mapping[str, CasePlace]:
    """Where the cases of a run are in its datasets, by their ids, as far as the files are still there and say the same."""
    paths = [Path(name) for name in view.spec.datasets]
    try:
        dataset = load_dataset(paths, default_maturity=view.spec.default_maturity if view.spec.personas else "")
    except UserError:
        return {}
    prompts = {case.id: case.prompt for case in dataset.cases}
    return {
        item.case.id: CasePlace(Path(dataset.places[item.case.id][0]), dataset.lines.get(item.case.id))
        for item in view.items
        if prompts.get(item.case.id) == item.case.prompt
    }
