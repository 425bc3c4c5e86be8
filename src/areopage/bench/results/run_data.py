"""A run as its ledger holds it: cases, answers, judgments, and the scores that they give."""

from collections.abc import Mapping
from functools import cached_property
from typing import Self

import msgspec
from msgspec import Struct

from areopage.bench.compared import RunHistory
from areopage.bench.conversations.turns import ConversationEnds
from areopage.bench.passes import RunPasses
from areopage.bench.results.coverage import RunCoverage
from areopage.bench.results.run_columns import JudgeHealth, RunColumns
from areopage.bench.results.run_texts import RunAnswers, RunJudgments
from areopage.bench.spec import RunCase, RunSpec
from areopage.cases import Case, RejectedRow
from areopage.jury import asks_for_score
from areopage.ledger import (
    Answer,
    CallTotals,
    JudgeStanding,
    Judgment,
    People,
    ReusedAnswers,
    Run,
    StoredCalibration,
    standing_text,
)
from areopage.locales import Note
from areopage.scoring import DECLINED, AppliedCalibration, MappedScore, RunScores
from areopage.text import marked_as

RECORDED = "dataset"
"""The source of answers that come with the dataset."""


class SourceScore(Struct, frozen=True, kw_only=True):
    """The score of the answers of one source: the target, or `dataset`."""

    source: str
    cases: int
    score: float | None
    coverage: float


class RunData(Struct, frozen=True, kw_only=True, dict=True):
    """A run with its cases, answers, judgments and scores.

    Args:
        spec: with the judges, weights and profile that the scores were folded with.
        readings: the judgments that are read otherwise than they are stored.
        complete: no pass is left that another try could bring.
        variant: how this view differs from the run as it was carried out; empty where it does not.
        history: other runs that it is compared with; None where it is not compared.
        calls: what this run's calls to the target and to the model that plays children took; empty for a part of its cases.
        standings: what exams and canaries say of its judges, for scores of the time of their latest judgments, in their order.
        calibration: the corrected means beside the scores; None unless a calibration was named.
        mapped: what it makes of single scores, by case and criterion ("" is the final score), to stand beside them.
    """

    run: Run
    spec: RunSpec
    items: tuple[RunCase, ...]
    rejected: tuple[RejectedRow, ...]
    stored: RunAnswers
    judgments: RunJudgments
    columns: RunColumns
    readings: tuple[Judgment, ...] = ()
    scores: RunScores
    coverage: RunCoverage
    sources: tuple[SourceScore, ...]
    health: tuple[JudgeHealth, ...]
    complete: bool
    variant: tuple[Note, ...]
    heads: tuple[str, ...]
    history: RunHistory | None = None
    answer_ids: dict[str, str]
    people: People
    conversations: ConversationEnds | None = None
    reused: ReusedAnswers | None = None
    calls: tuple[CallTotals, ...] = ()
    calibration: AppliedCalibration | None = None
    mapped: Mapping[tuple[str, str], MappedScore] = {}
    calibrations: tuple[StoredCalibration, ...] = ()
    passes: RunPasses = RunPasses()
    standings: tuple[JudgeStanding, ...] = ()

    def in_language(self, language: str) -> Self:
        """The run with the names of its criteria and categories in a language; "" is its own."""
        spec = self.spec.in_language(language) if language else self.spec
        return self if spec is self.spec else msgspec.structs.replace(self, spec=spec)

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case, the target's response filled in where there is one."""
        return self.stored.cases

    @property
    def answers(self) -> dict[str, Answer]:
        """The target's answers by case."""
        return self.stored.answers

    @property
    def erased(self) -> dict[str, Answer]:
        """The answers of cases that are erased, by case; their judgments count all the same."""
        return self.stored.erased

    @property
    def qualification(self) -> str:
        """What is known of the judges now, in short."""
        return standing_text(self.standings)

    @cached_property
    def states_of_asked(self) -> dict[str, str]:
        """The states of the answers to the cases that were put to the target, by case."""
        return {id: self.answer_state(id) for id in self.asked}

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The ids of the cases that were put to the target."""
        responses = ((item.case.id, item.case.response) for item in self.items)
        return tuple(id for id, response in responses if response is None or id in self.stored.states)

    @cached_property
    def without_response(self) -> tuple[str, ...]:
        """The ids of the cases without a whole response; an erased one has none."""
        missing = {*self.stored.unanswered, *self.stored.not_whole, *self.erased}
        return tuple(item.case.id for item in self.items if item.case.id in missing)

    @cached_property
    def declined(self) -> frozenset[str]:
        """The ids of the cases with a whole answer that declines in words."""
        from areopage.text import declines  # its patterns take 0.01 s to compile

        return frozenset(
            case.id
            for case in self.cases
            if case.response is not None and case.id not in self.stored.not_whole and declines(case.response)
        )

    def answer_state(self, case_id: str) -> str:
        """The state of the target's answer to a case: see `AnswerState`; or `erased`, or `not_run`."""
        if case_id in self.erased:
            return "erased"
        return self.stored.states[case_id].state if case_id in self.stored.states else "not_run"

    def response_state(self, case: Case) -> str:
        """The state of the answer to a case from any source; `refused_in_words` of a whole one that declines in words."""
        if case.response is None or case.id in self.stored.not_whole:
            return self.answer_state(case.id)
        return DECLINED if case.id in self.declined else "answered"

    @cached_property
    def withheld(self) -> tuple[str, ...]:
        """The ids of the cases whose response is withheld."""
        cases = self.cases if self.stored.are_conversations else (item.case for item in self.items)
        return tuple(case.id for case in cases if marked_as(case.response))

    def queued_as(self, why: str) -> set[str]:
        """The ids of the answers that are in the queue for review for this reason."""
        return {id for id, item in self.people.items.items() if item.why == why}

    @property
    def unfit(self) -> list[JudgeHealth]:
        """The judges that are unfit to judge."""
        return [health for health in self.health if health.unfit]

    @cached_property
    def addressing(self) -> tuple[str, ...]:
        """The ids of the cases that address the judge, by the signs in their judgments."""
        return tuple(item.case.id for position, item in enumerate(self.items) if position in self.columns.addressing)

    @cached_property
    def swaying(self) -> tuple[str, ...]:
        """The ids of the cases whose answer asks the judge for a score; those that are erased count by the signs alone."""
        marked = set(self.addressing)
        cases = (case for case in self.cases if case.id in marked) if marked else ()
        return tuple(case.id for case in cases if case.response is None or asks_for_score(case))
