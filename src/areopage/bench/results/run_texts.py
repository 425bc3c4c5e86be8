"""What of a run is read when it is shown: the texts of cases and answers, and single judgments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np
from msgspec import structs

from areopage.bench.keys import answered_cases, recorded_id
from areopage.bench.pass_settings import PassKey
from areopage.bench.results.run_columns import RunColumns
from areopage.bench.spec import RunCase, RunSpec
from areopage.cases import Case
from areopage.jury import JudgedCase
from areopage.ledger import Answer, Judgment, Ledger, StoredState, Thoughts

AT_ONCE, JUDGMENTS_AT_ONCE = 100, 1_000
"""Cases whose judgments are read together where one case after the other is asked for, and about how many these may be."""
HELD = 6_000
"""A run of at most so many judgments is read once: its files and pages ask for each of them several times."""


class RunAnswers:
    """The answers of a run, and its cases as they are judged."""

    def __init__(self, ledger: Ledger, run_id: str, spec: RunSpec, items: Mapping[int, RunCase], *, linked: bool) -> None:
        """Args:
        items: the cases whose answers are read, in order, by their positions in the run.
        linked: the run's results are stored: its cases name all of its answers.
        """
        self._ledger, self._run_id, self._spec, self._items, self.linked = ledger, run_id, spec, items, linked

    def of_cases(self, positions: Iterable[int]) -> "RunAnswers":
        """The answers to some cases."""
        items = {position: self._items[position] for position in positions}
        return RunAnswers(self._ledger, self._run_id, self._spec, items, linked=self.linked)

    @cached_property
    def _stored(self) -> dict[int, StoredState]:
        states = self._ledger.answers.states_in(self._run_id)
        return {position: states[position] for position in self._items if position in states}

    @cached_property
    def _kept(self) -> list[RunCase]:
        """The cases that are not erased."""
        erased = {position for position, state in self._stored.items() if state.erased}
        return [item for position, item in self._items.items() if position not in erased]

    @cached_property
    def erased(self) -> dict[str, Answer]:
        """The answers of cases that are erased, by case."""
        if not any(state.erased for state in self._stored.values()):
            return {}
        erased = self._ledger.answers.erased_in(self._run_id)
        return {self._items[position].case.id: answer for position, answer in erased.items() if position in self._items}

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """The target's answers by case, and those of an earlier run that are judged again."""
        stored = self._ledger.answers
        asked = [at for at, item in self._items.items() if item.case.response is None and not item.answer_id]
        by_position = sorted(stored.given_in(self._run_id, asked).items())
        by_case = {self._items[position].case.id: answer for position, answer in by_position}
        ids = {item.case.id: item.answer_id for item in self._kept if item.answer_id}
        reused = stored.by_id(list(ids.values())) if ids else {}
        return by_case | {case_id: reused[id] for case_id, id in ids.items() if id in reused}

    @cached_property
    def judged(self) -> list[JudgedCase]:
        """The cases with a response, and without one that is erased."""
        return answered_cases(self._spec, self._kept, self.answers)

    @cached_property
    def responses(self) -> dict[str, Case]:
        """The cases with their responses, by id."""
        return {judged.case.id: judged.case for judged in self.judged}

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Every case, the target's response filled in where there is one."""
        if not self._are_plain:
            return tuple(self.responses.get(item.case.id, item.case) for item in self._items.values())
        texts = self._ledger.answers.responses_in(self._run_id)

        def answered(position: int, case: Case) -> Case:
            text = texts.get(position) if case.response is None else None
            return structs.replace(case, response=text) if text and text.strip() else case

        return tuple(answered(position, item.case) for position, item in self._items.items())

    @cached_property
    def ids(self) -> dict[str, str]:
        """The ids of answers by case: the target's, and those that came with the dataset."""
        if self.linked:
            return {self._items[position].case.id: state.id for position, state in self._stored.items()}
        recorded = [item.case for item in self._kept if item.case.response is not None and not item.answer_id]
        answers = self.answers | self.erased
        return {id: answer.id for id, answer in answers.items()} | {case.id: recorded_id(case) for case in recorded}

    @cached_property
    def states(self) -> dict[str, StoredState]:
        """What is known of the answers to the cases that were put to the target, by case; erased ones are left out."""
        if not self._are_linked:
            answers = self.answers.items()
            return {id: StoredState(answer.id, answer.state, answer.reason, answer.thoughts, False) for id, answer in answers}
        items = ((self._items[position].case, state) for position, state in self._stored.items())
        return {case.id: state for case, state in items if case.response is None and not state.erased}

    @cached_property
    def _are_linked(self) -> bool:
        """Whether links name all answers, as none of them is that of an earlier run."""
        return self.linked and not any(item.answer_id for item in self._items.values())

    @property
    def _are_plain(self) -> bool:
        """Whether links name all answers and each of them is the response to its case as it stands."""
        return self._are_linked and not self.are_conversations

    @cached_property
    def unanswered(self) -> frozenset[str]:
        """The ids of the cases without a response that can be read; erased ones are left out."""
        if self._are_plain and not any(state.state in ("cut", "filtered") for state in self.states.values()):
            asked = (item.case.id for item in self._kept if item.case.response is None)
            return frozenset(id for id in asked if id not in self.states or self.states[id].state != "answered")
        return frozenset(item.case.id for item in self._kept if self.responses.get(item.case.id, item.case).response is None)

    @cached_property
    def not_whole(self) -> frozenset[str]:
        """The ids of the cases that were put to the target and have no whole answer; erased ones are left out.

        What came of an answer is judged, so that harm in it counts. But nothing in such a case passes: what never came might have
        failed, and a target must gain nothing by falling silent.
        """
        return frozenset(id for id, state in self.states.items() if state.state != "answered")

    def longer_than(self, characters: int) -> tuple[str, ...]:
        """The ids of the cases whose answers are longer; their texts are not read where links name them."""
        if self._are_linked:
            long = self._ledger.answers.longer_than(self._run_id, characters)
            return tuple(item.case.id for at, item in self._items.items() if at in long and item.case.id in self.states)
        return tuple(id for id, answer in self.answers.items() if len(answer.case.response or "") > characters)

    def with_thoughts(self, place: Thoughts) -> tuple[str, ...]:
        """The ids of the cases whose answers came with thoughts there, which no judge has read; also of erased ones."""
        if self._are_linked:
            return tuple(self._items[position].case.id for position, state in self._stored.items() if state.thoughts == place)
        return tuple(id for id, answer in (self.answers | self.erased).items() if answer.thoughts == place)

    @cached_property
    def thoughts(self) -> dict[str, str]:
        """The thoughts in the text of answers, which no judge has read, by case, as far as they are kept."""
        flagged = set(self.with_thoughts("in_text"))
        return {id: answer.thinking for id, answer in self.answers.items() if id in flagged} if flagged else {}

    @cached_property
    def are_conversations(self) -> bool:
        """Whether a case is a conversation with a simulated child."""
        return any(item.case.child is not None for item in self._items.values())


class RunJudgments(Mapping[PassKey, Judgment]):
    """The judgments of a run by case, criterion, judge, pass and turn.

    They are read case by case when they are asked for; those of cases that follow each other are read together. Those of a small
    run stay in memory.
    """

    def __init__(self, ledger: Ledger, columns: RunColumns, reread: Mapping[int, Judgment] = MappingProxyType({})) -> None:
        """Args:
        reread: judgments that are read otherwise than they are stored, by number.
        """
        self._ledger, self._columns, self._reread = ledger, columns, reread
        self._positions = {case_id: position for position, case_id in enumerate(columns.passes.cases)}
        self._held: dict[str, dict[PassKey, Judgment]] = {}
        self._expected: Sequence[str] = columns.passes.cases
        self._order = self._positions

    def __iter__(self) -> Iterator[PassKey]:
        self.expect(self._columns.passes.cases)
        passes = self._columns.passes
        for row, judge, place in zip(*(some.tolist() for some in np.nonzero(self._columns.judgment)), strict=True):
            criterion, turn = passes.criteria[passes.criterion[row]], int(passes.turn[row])
            yield passes.cases[passes.case[row]], criterion, passes.judges[judge], place + 1, turn

    def __len__(self) -> int:
        return int(np.count_nonzero(self._columns.judgment))

    def __getitem__(self, place: PassKey) -> Judgment:
        if place[0] not in self._positions:
            raise KeyError(place)
        return self.of(place[0])[place]

    def of(self, case_id: str) -> Mapping[PassKey, Judgment]:
        """The judgments on a case."""
        if case_id not in self._held:
            at = self._order.get(case_id)
            portion = [case_id] if at is None else self._expected[at : at + self._at_once]
            following = [id for id in portion if id not in self._held]
            if not self._is_small:
                self._held = {}
            self._held |= self._read(following)
        return self._held[case_id]

    @cached_property
    def _is_small(self) -> bool:
        return len(self) <= HELD

    @cached_property
    def _at_once(self) -> int:
        return max(1, min(AT_ONCE, JUDGMENTS_AT_ONCE * len(self._positions) // max(1, len(self))))

    def expect(self, case_ids: Sequence[str]) -> None:
        """Say in which order cases will be asked for, so that those that follow each other are read together."""
        self._expected, self._order = case_ids, {case_id: at for at, case_id in enumerate(case_ids)}

    def numbered(self) -> Iterator[tuple[str, int, Judgment]]:
        """Every judgment with a case that it is on, and its number."""
        cases = self._columns.passes.cases
        for start in range(0, len(cases), self._at_once):
            numbers_of = {case_id: self._numbers(case_id) for case_id in cases[start : start + self._at_once]}
            judgments = self._ledger.judgments_numbered([number for some in numbers_of.values() for number in some])
            for case_id, numbers in numbers_of.items():
                yield from ((case_id, number, judgments[number]) for number in numbers)

    @cached_property
    def reasons(self) -> dict[tuple[int, str], str]:
        """Why verdicts are missing, by the number of the judgment and the criterion."""
        made = self._columns.judgment[self._columns.lacking()]
        numbers = np.unique(made[made > 0]).tolist()
        reasons = self._ledger.reasons(numbers)
        again = ((number, said) for number in numbers if number in self._reread for said in self._reread[number].verdicts)
        return reasons | {(number, said.criterion): getattr(said.outcome, "reason", "") for number, said in again}

    def _numbers(self, case_id: str) -> list[int]:
        numbers = np.unique(self._columns.judgment[self._columns.rows_of(self._positions[case_id])])
        return [number for number in numbers.tolist() if number]

    def _read(self, cases: Sequence[str]) -> Iterator[tuple[str, dict[PassKey, Judgment]]]:
        passes, judgment = self._columns.passes, self._columns.judgment
        judgments = self._ledger.judgments_numbered([number for case_id in cases for number in self._numbers(case_id)])
        judgments |= {number: self._reread[number] for number in judgments if number in self._reread}
        for case_id in cases:
            rows = self._columns.rows_of(self._positions[case_id])
            yield (
                case_id,
                {
                    (case_id, passes.criteria[passes.criterion[row]], judge, place, int(passes.turn[row])): judgments[number]
                    for row in range(rows.start, rows.stop)
                    for judge, numbers in zip(passes.judges, judgment[row].tolist(), strict=True)
                    for place, number in enumerate(numbers, 1)
                    if number in judgments
                },
            )
