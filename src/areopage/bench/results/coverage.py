"""How much of what a run selects is judged."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from areopage.bench.keys import given_in
from areopage.bench.spec import RunCase, RunSpec
from areopage.cases import Case
from areopage.criteria import BY_REPLY, WHOLE, Criterion, turns_to_judge


class Coverage(Struct, frozen=True, kw_only=True):
    """Passes that gave a score, passes that say that the criterion does not apply, and passes that were planned."""

    scored: int
    not_applicable: int
    planned: int


class RunCoverage(Coverage, frozen=True, kw_only=True):
    """How much of what was selected is judged; a criterion that is not counts as planned as often as the others on average.

    Args:
        criteria: how many are judged.
        lost: the ids of the selected criteria that are not: no judge may judge them, or their prompt files cannot be used.
    """

    criteria: int
    lost: tuple[str, ...]

    @property
    def share(self) -> float:
        """Passes in which a judge has judged over planned ones, in [0, 1]; 0 when none was planned."""
        return (self.scored + self.not_applicable) / self.planned if self.planned else 0.0

    @property
    def none_applies(self) -> bool:
        """Whether all that was judged is that no criterion applies to any case."""
        return not self.scored and 0 < self.not_applicable == self.planned


def run_coverage(
    spec: RunSpec, selected: Counter[str], scored: int, not_applicable: int, planned: int | None = None
) -> RunCoverage:
    """The coverage of a run, by the judgments of each selected criterion that one pass of a judge makes, and by passes.

    `planned` passes are of the criteria that are judged; None: all of every judge, or where passes are adaptive the first ones.
    """
    lost = {**spec.lost, **{key: selected[key] for key in spec.unjudged if selected[key]}}
    judged = {key: count for key, count in selected.items() if key not in lost}
    if planned is None:
        criteria = spec.criteria_by_id()
        planned = sum(
            count * judge.first(spec.first_passes).passes
            for key, count in judged.items()
            for judge in spec.judges
            if judge.may_judge(criteria[key])
        )
    planned += round(planned * sum(lost.values()) / max(1, sum(judged.values())))
    return RunCoverage(scored=scored, not_applicable=not_applicable, planned=planned, criteria=len(judged), lost=tuple(lost))


class JudgedTurns:
    """The replies of each case that are judged one by one."""

    def __init__(
        self,
        cases: Sequence[RunCase],
        responses: Mapping[str, Case] = MappingProxyType({}),
        erased: Collection[str] = (),
        judged: Iterable[tuple[str, int]] = (),
    ) -> None:
        """Args:
        responses: the cases with their responses, by id.
        erased: the ids of the cases without texts.
        judged: the ids and turns of all judgments.
        """
        self._cases, self._responses = {item.case.id: item for item in cases}, responses
        self._erased: dict[str, set[int]] = {id: set() for id in erased}
        for case_id, turn in judged:
            if case_id in self._erased and turn:
                self._erased[case_id].add(turn)

    def of(self, case_id: str, criterion: Criterion) -> Sequence[int]:
        """Their numbers; of an erased case those that its judgments tell."""
        item = self._cases[case_id]
        if criterion.scope not in BY_REPLY or not (criterion.scope == "turn" or item.case.is_conversation):
            return (WHOLE,)
        if case_id in self._erased:
            return sorted(self._erased[case_id]) or (1,)
        return turns_to_judge(criterion.scope, self._responses.get(case_id, item.case), given_in(item))


def selected_judgments(spec: RunSpec, cases: Sequence[RunCase], turns: JudgedTurns) -> Counter[str]:
    """How many judgments of each selected criterion one pass of a judge makes."""
    criteria, counts = spec.criteria_by_id(), Counter[str]()
    for item in cases:
        for key in item.criteria:
            counts[key] += len(turns.of(item.case.id, criteria[key]))
    return counts
