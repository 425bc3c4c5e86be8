"""The passes of a run: how often each judge judges each case, computed from what the ledger holds.

Without adaptive passes it is the number that the suite or the user gives. With them it is planned in rounds, see
`areopage.bench.pass_allocation`: every process that replays the rounds over the same ledger gets the same plan.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from areopage.bench.execution.phases import ROUND
from areopage.bench.pass_settings import PassItem, PassKey, PassSettings
from areopage.bench.spec import RunCase, RunSpec
from areopage.jury import Judge, JudgedCase
from areopage.ledger import Answer, Judgment, Ledger, Run

if TYPE_CHECKING:
    from areopage.bench.pass_allocation import PassPlan


class RunPasses(Struct, frozen=True, kw_only=True):
    """How often each judge judges each case on each criterion.

    Args:
        first: passes that every item has where passes are adaptive; None: all passes of every judge.
        items: the number of passes of each item that the judges have been asked about, or are to be.
        plan: the rounds so far, in the order of `items`; None where passes are not adaptive.
        earlier: those that earlier rounds have made; None in the first round.
    """

    first: int | None = None
    items: Mapping[PassItem, int] = {}
    plan: "PassPlan | None" = None
    earlier: "RunPasses | None" = None

    def of(self, case_id: str, criterion: str, judge: Judge, turn: int) -> range:
        """The numbers of the planned passes that earlier rounds have not made."""
        made = self.earlier.count(case_id, criterion, judge, turn) if self.earlier is not None else 0
        return range(made + 1, min(self.count(case_id, criterion, judge, turn), judge.passes) + 1)

    def count(self, case_id: str, criterion: str, judge: Judge, turn: int) -> int:
        """How many passes are planned in all rounds so far."""
        if self.first is None:
            return judge.passes
        return self.items.get((case_id, criterion, judge.name, turn), min(self.first, judge.passes))

    def phase_of(self, judge: Judge) -> str:
        """The name of a judge's phase, unique in the run."""
        number = self.plan.rounds if self.plan is not None else 1
        return judge.name if number == 1 else f"{judge.name}{ROUND}{number})"


def call_places(spec: RunSpec, judged: Sequence[JudgedCase]) -> dict[PassKey, str]:
    """The key of every call that a run may make, by its place; of adaptive passes as many as there may be at most."""
    return {
        (call.case.id, criterion.id, call.judge.name, call.pass_index, call.turn): call.key
        for call in spec.planned_calls(judged)
        for criterion in call.criteria
    }


def passes_so_far(
    ledger: Ledger, run_id: str, spec: RunSpec, cases: Sequence[RunCase], judged: Sequence[JudgedCase], numbers: Mapping[str, int]
) -> RunPasses:
    """Plan the passes of a run from the ledger."""
    if spec.adaptive is None:
        return RunPasses()
    keys = call_places(spec, judged)
    stored = ledger.judgments(list(keys.values()))
    erased = {cases[place].case.id: answer.number for place, answer in ledger.answers.erased_in(run_id).items()}
    judgments = {place: stored[key] for place, key in keys.items() if key in stored}
    judgments |= _linked(ledger, run_id, erased)  # found by their links: their keys are random
    return _planned(ledger, run_id, spec, spec.adaptive, cases, keys, judgments, erased, numbers)


def stored_passes(
    ledger: Ledger,
    run: Run,
    spec: RunSpec,
    cases: Sequence[RunCase],
    places: Collection[PassKey],
    judgments: Mapping[PassKey, Judgment],
    erased: Mapping[str, Answer],
    ids: Mapping[str, str],
) -> RunPasses:
    """The passes of a run that is read; of a complete one no pass is planned that was not made."""
    if spec.adaptive is None:
        return RunPasses()
    by_id = ledger.answers.numbers(list(ids.values()))
    numbers = {case_id: by_id[id] for case_id, id in ids.items() if id in by_id}
    erased_numbers = {case_id: answer.number for case_id, answer in erased.items()}
    planned = _planned(ledger, run.id, spec, spec.adaptive, cases, places, judgments, erased_numbers, numbers)
    if run.finished_at is None:
        return planned
    first = spec.adaptive.start
    kept = {item: max(min(first, number), min(number, _in_a_row(item, judgments))) for item, number in planned.items.items()}
    return structs.replace(planned, items=kept)


def _planned(
    ledger: Ledger,
    run_id: str,
    spec: RunSpec,
    settings: PassSettings,
    cases: Sequence[RunCase],
    places: Collection[PassKey],
    judgments: Mapping[PassKey, Judgment],
    erased: Mapping[str, int],
    numbers: Mapping[str, int],
) -> RunPasses:
    """Plan the passes of a run from its judgments.

    Args:
        spec: as the run was begun; no variant of it.
        places: of the calls that the run may make.
        judgments: what the ledger holds in these places, and of the answers that are erased.
        erased: the numbers of erased answers, by case: their judges are not asked again, so they get no further pass.
        numbers: of the other answers, by case.
    """
    from areopage.bench.adaptive_passes import planned_round  # with numbers, which other runs do without as they begin

    asked = {(case, criterion, judge, turn) for case, criterion, judge, _, turn in (*places, *judgments)}
    made: dict[PassItem, int] = {}  # by the run itself
    for case, criterion, judge, number, turn in _linked(ledger, run_id, {**numbers, **erased}):
        made[case, criterion, judge, turn] = max(number, made.get((case, criterion, judge, turn), 0))
    items, plan = planned_round(spec, settings, asked, cases, judgments, erased, made)
    planned = {item: int(passes) for item, passes in zip(items, plan.passes, strict=True)}
    return RunPasses(first=settings.start, items=planned, plan=plan)


def _in_a_row(item: PassItem, judgments: Mapping[PassKey, Judgment]) -> int:
    """How many passes of an item there are, from the first one to the first that is missing."""
    case, criterion, judge, turn = item
    return next(number for number in count() if (case, criterion, judge, number + 1, turn) not in judgments)


def _linked(ledger: Ledger, run_id: str, numbers: Mapping[str, int]) -> dict[PassKey, Judgment]:
    """The judgments that the run's links name, of answers by their numbers."""
    judgments = ledger.judgments_under([(number, run_id) for number in numbers.values()])
    return {
        (case_id, verdict.criterion, judgment.judge, judgment.pass_index, judgment.turn): judgment
        for case_id, number in numbers.items()
        for judgment in judgments.get((number, run_id), ())
        for verdict in judgment.verdicts
    }
