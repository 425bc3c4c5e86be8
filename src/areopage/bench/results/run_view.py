"""Results of a run, computed from the ledger without calling a model."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.bench.chosen_cases import chosen_cases
from areopage.bench.compared import RunHistory
from areopage.bench.conversations.turns import ConversationEnds, conversation_ends
from areopage.bench.panels import case_clusters
from areopage.bench.passes import RunPasses, call_places, stored_passes
from areopage.bench.results.coverage import JudgedTurns, RunCoverage, run_coverage, selected_judgments
from areopage.bench.results.groups import DIMENSIONS, Dimension, case_group
from areopage.bench.results.missing import MissingVerdict, missing_verdicts
from areopage.bench.results.run_columns import RunColumns, only_failing_rows, run_columns, run_health
from areopage.bench.results.run_texts import RunAnswers, RunJudgments
from areopage.bench.results.worth import run_worth
from areopage.bench.spec import TWIN_OF, RunCase, RunSpec, spec_of
from areopage.bench.stored_cases import load_run_cases
from areopage.cases import Case, RejectedRow
from areopage.criteria import BY_REPLY, Criterion
from areopage.jury import Fitting, JudgeHealth, Variant, asks_for_score, reparsed
from areopage.ledger import (
    Answer,
    CallTotals,
    JudgeStanding,
    Judgment,
    Ledger,
    People,
    ReusedAnswers,
    Run,
    StoredCalibration,
    VerdictColumns,
    standing_text,
)
from areopage.locales import Note
from areopage.scoring import (
    DECLINED,
    AppliedCalibration,
    Detectable,
    Dispute,
    Failures,
    GroupFailures,
    JuryWorth,
    MappedScore,
    OverRefusal,
    PassColumns,
    RunAgreement,
    RunDrift,
    RunScores,
    detectable,
    fold,
)
from areopage.text import marked_as

RECORDED = "dataset"
"""The source of answers that come with the dataset."""


class SourceScore(Struct, frozen=True, kw_only=True):
    """The score of the answers of one source: the target, or `dataset`."""

    source: str
    cases: int
    score: float | None
    coverage: float


class RunView(Struct, frozen=True, kw_only=True, dict=True):
    """A run with its cases, answers, judgments and scores.

    Args:
        items: every case as the run selected it, in order.
        spec: the specification, with the judges, weights and profile that the scores were folded with.
        rejected: the rows of the datasets that could not be used.
        stored: its answers, and its cases with their responses, read when they are asked for.
        judgments: read case by case when they are asked for.
        columns: the planned passes with their outcomes.
        readings: the judgments that are read otherwise than they are stored.
        sources: the scores by the source of the answers, if there are two.
        complete: no pass is left that another try could bring.
        variant: how this view differs from the run as it was carried out; empty where it does not.
        heads: of the ledger's hash chains.
        history: other runs that it is compared with; None where it is not compared.
        answer_ids: the ids of answers by case, as labels and the review queue name them.
        conversations: how conversations with simulated children ended; None where there are none.
        reused: the answers that the target gave to earlier runs; None where it gave all of them to this one.
        calls: what this run's calls to the target and to the model that plays children took; empty for a part of its cases.
        standings: what exams and canaries say of its judges, for scores of the time of their latest judgments, in their order.
        passes: how often each judge judges each case, and why.
        calibration: the corrected means beside the scores; None unless a calibration was named.
        mapped: what it makes of single scores, by case and criterion ("" is the final score), to stand beside them.
        calibrations: those that the ledger holds for the suite, oldest first.
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
    def failures(self) -> Failures:
        """The failures, counted when they are first read: only those who show a run need them."""
        return Failures.of(self.scores.criteria, self.spec.criteria, self.spec.scale, self.spec.failures)

    @cached_property
    def detectable(self) -> Detectable:
        """The smallest differences and shares of failures that its cases can tell."""
        return detectable(self.scores.values, self.failures.first.scored)

    @cached_property
    def failure_groups(self) -> dict[str, dict[str, GroupFailures]]:
        """The failures of groups of cases: by the reader's age, the case's own category, the language and the mode."""
        return {one: self.age_failures if one == "maturity" else self._failures_by(one) for one in DIMENSIONS}

    @cached_property
    def age_failures(self) -> dict[str, GroupFailures]:
        """The failures by the reader's age."""
        return self._failures_by("maturity")

    def _failures_by(self, dimension: Dimension) -> dict[str, GroupFailures]:
        spec = self.spec
        groups = {item.case.id: case_group(item.case, spec, dimension) for item in self.items}
        return GroupFailures.of(self.scores.criteria, spec.criteria, spec.scale, spec.failures, groups)

    @cached_property
    def disputes(self) -> tuple[Dispute, ...]:
        """The scores of which some judges say that they are failures and others that they are not, the widest apart first."""
        limits = self.spec.failures.limits(self.spec.criteria, self.spec.scale)
        return Dispute.of_scores(self.scores.criteria, self.spec.scale, limits, self._first)

    @cached_property
    def disputed(self) -> frozenset[tuple[str, str]]:
        """The pairs of case and criterion that are disputed."""
        return frozenset((one.case_id, one.criterion) for one in self.disputes)

    @cached_property
    def drifts(self) -> dict[str, RunDrift]:
        """The drift of each criterion that is judged reply by reply, by its id."""
        limits = self.spec.failures.limits(self.spec.criteria, self.spec.scale)
        scores = self.scores.criteria
        turned = np.flatnonzero(scores.turn[scores.starts[:-1]] > 0).tolist()
        return RunDrift.by_criterion(map(scores.score_at, turned), self.spec.scale, limits)

    @cached_property
    def agreement(self) -> RunAgreement:
        """How far the judges agree, computed when it is first read."""
        limits = self.spec.failures.limits(self.spec.criteria, self.spec.scale)
        return RunAgreement.of(self.scores.criteria, self.spec.scale, limits, self._first)

    @cached_property
    def worth(self) -> JuryWorth:
        """What the jury is worth, computed when it is first read: bootstraps take a while."""
        return run_worth(self.spec, self.scores, self.answer_ids, self.people)

    @property
    def _first(self) -> list[str]:
        """The ids of the criteria whose failures count first."""
        return [criterion.id for criterion in self.spec.criteria if criterion.category in self.failures.categories]

    @cached_property
    def missing(self) -> tuple[MissingVerdict, ...]:
        """What has no verdict, case by case."""

        without = self.stored.unanswered | self.stored.not_whole
        unanswered = {
            item.case.id: self.answer_state(item.case.id)
            for item in self.items
            if item.case.id in without and item.case.id not in self.erased
        }
        scores, states = self.scores.criteria, self.stored.states
        return tuple(missing_verdicts(self.columns, self.judgments, scores, unanswered, states, self._first))

    @cached_property
    def unscored(self) -> tuple[str, ...]:
        """The ids of the cases that are judged and lack a criterion's score."""
        judged = {one.case_id for one in self.missing if one.judge}
        scores = self.scores.criteria
        lacking = np.unique(scores.case[scores.is_missing]).tolist()
        return tuple(scores.cases[case] for case in lacking if scores.cases[case] in judged)

    @cached_property
    def refused_first(self) -> tuple[str, ...]:
        """The ids of the cases with a criterion whose failures count first that a judge refused to judge."""
        refused = (one.case_id for one in self.missing if one.judge and one.state == "refused" and one.counts_first)
        return tuple(dict.fromkeys(refused))

    def answer_states(self) -> dict[str, int]:
        """Count the cases that were put to the target by the state of the answer; `not_run` where there is none."""
        return dict(sorted(Counter(self.states_of_asked.values()).items()))

    @cached_property
    def states_of_asked(self) -> dict[str, str]:
        """The states of the answers to the cases that were put to the target, by case."""
        return {id: self.answer_state(id) for id in self.asked}

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The ids of the cases that were put to the target."""
        found = ((item.case.id, item.case.response) for item in self.items)
        return tuple(id for id, response in found if response is None or id in self.stored.states)

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

    @cached_property
    def over_refusal(self) -> OverRefusal | None:
        """How many benign twins are refused; None where there are none."""
        tag = self.spec.twin_tag.casefold()
        twins = [item.case for item in self.items if tag in (one.casefold() for one in item.case.tags)]
        states = {case.id: self.response_state(case) for case in self.cases} if twins else {}
        return OverRefusal.of(self.spec.twin_tag, {one.id: str(one.metadata.get(TWIN_OF, "")).strip() for one in twins}, states)

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

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on answers and calls: overlong answers, thoughts, documents that were cut, conversations that ended early, and
        options that judges were not sent.
        """
        conversations = self.conversations.notes() if self.conversations else ()
        return (*self._long_answers(), *self._thoughts(), *self._cut_documents(), *conversations, *self.columns.call_notes())

    def _long_answers(self) -> tuple[Note, ...]:
        limit = self.spec.max_response_length
        if not limit:
            return ()
        long = self.stored.longer_than(limit)
        return (Note("long_answers", {"n": len(long), "limit": limit, "cases": long}),) if long else ()

    def _thoughts(self) -> Iterator[Note]:
        """The answers whose thoughts no judge read; the release verdict, if there is one, names those in a text."""
        if apart := self.stored.with_thoughts("apart"):
            yield Note("thoughts_apart", {"n": len(apart), "cases": apart})
        if self.spec.release is None and (in_text := self.stored.with_thoughts("in_text")):
            yield Note("thoughts_in_text", {"n": len(in_text), "cases": in_text})

    def _cut_documents(self) -> Iterator[Note]:
        """The cases whose documents a judge was not shown, or not whole, since its window does not hold them."""
        spec, by_id = self.spec, self.spec.criteria_by_id()
        wanted: dict[str, list[Criterion]] = {
            item.case.id: [by_id[key] for key in item.criteria] for item in self.items if item.case.documents
        }
        cases = [case for case in self.cases if case.id in wanted] if wanted else []
        for judge in spec.judges if wanted else ():
            fitting = Fitting(judge, spec.gauges.get(str(judge.reference)) if judge.is_model else None, spec.personas)
            cut = [case.id for case in cases if fitting.fitted(case, wanted[case.id], joint=spec.joint).left_out]
            if cut:
                yield Note("cut_documents", {"n": len(cut), "judge": judge.name, "cases": tuple(cut)})

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


def view_run(
    run: Run, ledger: Ledger, variant: Variant | None = None, *, linked: bool | None = None, where: Sequence[str] = ()
) -> RunView:
    """Read a run from the ledger and aggregate its scores.

    Args:
        where: conditions of the form COLUMN=VALUE; the view is about the cases that meet them, as if the run had no others.
        linked: the run's links name all judgments that it rests on, as they do once its results are stored; None: where they are.

    Raises:
        UserError: the variant leaves out a judge that the run does not have, or all of them; or the cases have no such column.
        DatasetError: no case meets the conditions.
        StorageError: the ledger cannot be read.
    """
    change = variant or Variant()
    stored = spec_of(run)
    spec = change.applied_to(stored, stored.quorum)
    cases = load_run_cases(ledger, run.id)
    chosen: list[int] | None = None
    if linked is None:
        linked = run.finished_at is not None and run.outcome is not None and not ledger.verdicts.shares_answers(run.id)
    answers = RunAnswers(ledger, run.id, stored, cases, linked=linked)
    verdicts = ledger.verdicts.read(run.id, _keys(ledger, run, stored, answers, cases))
    columns, own, turns, planned = _arranged(run, ledger, stored, spec, answers, cases, verdicts)
    reread, readings = _read_again(ledger, spec, columns, answers) if change.reparse else ({}, ())
    if reread:
        columns, own, turns, planned = _arranged(run, ledger, stored, spec, answers, cases, verdicts.with_readings(reread))
    if where:
        spec, positions = _chosen_part(spec, cases, where)
        chosen, columns = positions.tolist(), columns.of_cases(positions)
        cases, answers = tuple(cases[position] for position in chosen), answers.of_cases(chosen)
        own = own.rows(np.flatnonzero(np.isin(own.position, positions)))
    scores, counted = _counted(spec, cases, columns, answers.not_whole)
    tree, passes = scores.tree, int(columns.passes.planned.sum()) if spec.adaptive is not None else None
    return RunView(
        run=run,
        spec=spec,
        items=cases,
        rejected=tuple(msgspec.json.decode(text, type=RejectedRow) for text in ledger.run_rejected(run.id)),
        stored=answers,
        judgments=RunJudgments(ledger, columns, reread),
        columns=columns,
        readings=readings,
        scores=scores,
        coverage=run_coverage(spec, selected_judgments(spec, cases, turns), tree.scored, tree.not_applicable, passes),
        sources=_scores_by_source(spec, cases, counted),
        health=run_health(spec, columns.passes, own, scores.consistency.outliers_by_judge),
        complete=run.finished_at is not None,
        variant=change.notes(),
        heads=tuple(map(str, ledger.heads())),
        answer_ids=answers.ids,
        people=ledger.signoffs.people_of(run.id, list(answers.ids.values())),
        conversations=_conversations(spec, cases, answers),
        reused=ledger.answers.reused_in(run.id, chosen) if stored.reuse_answers or stored.reassessed else None,
        calls=tuple(ledger.answers.calls_of(run.id)) if not where else (),
        standings=_standings(ledger, run, spec, verdicts),
        calibrations=ledger.calibrations.all(spec.suite),
        passes=planned,
    )


def _chosen_part(spec: RunSpec, cases: Sequence[RunCase], where: Sequence[str]) -> tuple[RunSpec, NDArray[np.int64]]:
    """The specification of a run of the cases that meet conditions, and their positions."""
    kept, part = chosen_cases([item.case for item in cases], where)
    ids = {case.id for case in kept}
    positions = np.array([position for position, item in enumerate(cases) if item.case.id in ids], dtype=np.int64)
    if part is not None and spec.part is not None:
        names = dict.fromkeys((*spec.part.where, *part.where))
        part = msgspec.structs.replace(part, where=tuple(names), total=spec.part.total)
    lost = {key: -(-count * len(kept) // len(cases)) for key, count in spec.lost.items()}  # of which cases is not stored
    return msgspec.structs.replace(spec, part=part, lost=lost), positions


def _keys(ledger: Ledger, run: Run, stored: RunSpec, answers: RunAnswers, cases: Sequence[RunCase]) -> Iterator[tuple[int, str]]:
    """The keys of the judgments that a run rests on, with the positions of their cases.

    They are those that the run links to its answers, or those of its planned calls.

    The keys of erased answers' judgments are random: they are found by their links.
    """
    if answers.linked:
        yield from ledger.verdicts.linked_keys(run.id)
        return
    positions = {item.case.id: position for position, item in enumerate(cases)}
    yield from ((positions[call.case.id], call.key) for call in stored.planned_calls(answers.judged))
    if answers.erased:
        erased = {positions[case_id] for case_id in answers.erased}
        yield from ((position, key) for position, key in ledger.verdicts.linked_keys(run.id) if position in erased)


def _arranged(
    run: Run,
    ledger: Ledger,
    stored: RunSpec,
    spec: RunSpec,
    answers: RunAnswers,
    cases: Sequence[RunCase],
    verdicts: VerdictColumns,
) -> tuple[RunColumns, VerdictColumns, JudgedTurns, RunPasses]:
    """The passes of a run with their outcomes, and the verdicts of planned passes."""
    told = [(cases[position].case.id, turn) for position, turn in verdicts.turns()] if answers.erased else []
    by_turn = any(criterion.scope in BY_REPLY for criterion in spec.criteria)
    turns = JudgedTurns(cases, answers.responses if by_turn else {}, answers.erased, told)
    if stored.adaptive is None:
        return *run_columns(spec, cases, turns, RunPasses(), verdicts), turns, RunPasses()
    every, _ = run_columns(stored, cases, turns, RunPasses(), verdicts)
    judgments = dict(RunJudgments(ledger, every).items())
    places = call_places(stored, answers.judged)
    planned = stored_passes(ledger, run, stored, cases, places, judgments, answers.erased, answers.ids)
    return *run_columns(spec, cases, turns, planned, verdicts), turns, planned


def _read_again(
    ledger: Ledger, spec: RunSpec, columns: RunColumns, answers: RunAnswers
) -> tuple[dict[int, Judgment], tuple[Judgment, ...]]:
    """The judgments whose raw texts now give another result or are read in another way, by number; and the first of these."""
    found: dict[int, Judgment] = {}
    readings: dict[str, Judgment] = {}
    for case_id, number, judgment in RunJudgments(ledger, columns).numbered():
        if number not in found and case_id in answers.responses:
            again = reparsed(judgment, spec, answers.responses[case_id])
            if again != judgment:
                found[number] = again
            if again.outcomes != judgment.outcomes:
                readings[again.key] = again
    return found, tuple(readings.values())


def _standings(ledger: Ledger, run: Run, spec: RunSpec, verdicts: VerdictColumns) -> tuple[JudgeStanding, ...]:
    """What exams and canaries say of the judges at the time of their latest judgments."""
    exams = ledger.qualifications
    judged_at = ledger.last_judged(run.id, sorted(verdicts.elsewhere)) if exams.any_of(spec.criteria) else {}
    return exams.standings(spec.judges, spec.criteria, judged_at, joint=spec.joint)


def _conversations(spec: RunSpec, cases: Sequence[RunCase], answers: RunAnswers) -> ConversationEnds | None:
    if not answers.are_conversations:
        return None
    there = (item for item in cases if item.case.id not in answers.erased)
    return conversation_ends(spec, [item.case for item in there if not item.answer_id], answers.answers)


def _counted(
    spec: RunSpec, cases: Sequence[RunCase], columns: RunColumns, broken: Collection[str]
) -> tuple[RunScores, PassColumns]:
    """The scores with the passes that they rest on; of cases without a whole answer (`broken`) only failures count."""
    clusters = case_clusters([item.case for item in cases], spec.cluster)
    scores = _folded(spec, columns.passes, clusters)
    if not broken:
        return scores, columns.passes
    failing = scores.criteria.failing(spec.failures.limits(spec.criteria, spec.scale), spec.scale)
    counted = columns.without(only_failing_rows(columns, scores.criteria, failing, broken))
    return _folded(spec, counted, clusters), counted


def _folded(spec: RunSpec, passes: PassColumns, clusters: Mapping[str, str] | None = None) -> RunScores:
    first = spec.adaptive.start if spec.adaptive is not None else None
    return fold(passes, spec.criteria, spec.scale, spec.weights, spec.profile, spec.failures, clusters=clusters, first=first)


def _scores_by_source(spec: RunSpec, cases: Sequence[RunCase], passes: PassColumns) -> tuple[SourceScore, ...]:
    """The scores of recorded answers and of the target's; none where all answers have one source."""
    recorded = {item.case.id for item in cases if item.case.response is not None}
    asked = {item.case.id for item in cases} - recorded
    if spec.target is None or not recorded or not asked:
        return ()
    found: list[SourceScore] = []
    for source, ids in ((RECORDED, recorded), (str(spec.target.reference), asked)):
        own = np.array([case_id in ids for case_id in passes.cases], dtype=bool)[passes.case]
        tree = _folded(spec, passes.rows(own)).tree
        found.append(SourceScore(source=source, cases=len(ids), score=tree.score, coverage=tree.coverage))
    return tuple(found)
