"""Results of a run, computed from the ledger without calling a model."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from areopage.bench.conversations.turns import ConversationEnds, conversation_ends
from areopage.bench.figures.agreement import AGREEMENT
from areopage.bench.figures.answers import ANSWER_STATES
from areopage.bench.figures.case_index import CaseIndex
from areopage.bench.figures.conversations import DRIFTS
from areopage.bench.figures.costs import COSTS
from areopage.bench.figures.disputes import DISPUTED, DISPUTES
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.jury_worth import JURY_WORTH
from areopage.bench.figures.missing import MISSING, UNSCORED
from areopage.bench.figures.over_refusal import OVER_REFUSAL
from areopage.bench.figures.people import PEOPLE
from areopage.bench.figures.release import DOUBT, RELEASE, SCORES_RELEASE
from areopage.bench.figures.remarks import NOTES
from areopage.bench.figures.scores import DETECTABLE
from areopage.bench.panels import case_clusters, chosen_cases
from areopage.bench.passes import RunPasses, call_places, stored_passes
from areopage.bench.results.coverage import JudgedTurns, run_coverage, selected_judgments
from areopage.bench.results.run_columns import RunColumns, run_columns, run_health
from areopage.bench.results.run_data import RECORDED, RunData, SourceScore
from areopage.bench.results.run_texts import RunAnswers, RunJudgments
from areopage.bench.spec import RunCase, RunSpec, load_rejected_rows, load_run_cases
from areopage.bench.trust.run import RUN_TRUST
from areopage.criteria import BY_REPLY
from areopage.jury import Rescoring, reparsed
from areopage.ledger import Judgment, Ledger, Run, VerdictColumns
from areopage.scoring import PassColumns, RunScores, fold


class RunView(RunData, frozen=True, kw_only=True, dict=True):
    """A run with its figures, each computed when it is first read."""

    failures = FAILURES
    detectable = DETECTABLE
    disputed = DISPUTED
    over_refusal = OVER_REFUSAL
    release = RELEASE
    scores_release = SCORES_RELEASE
    doubt = DOUBT
    drifts = DRIFTS
    answer_states = ANSWER_STATES
    costs = COSTS
    agreement = AGREEMENT
    worth = JURY_WORTH
    missing = MISSING
    reviewed = PEOPLE
    notes = NOTES
    trust = RUN_TRUST

    @cached_property
    def case_index(self) -> CaseIndex:
        """Where the page of cases shows its cases."""
        return CaseIndex(
            view=self,
            failed=self.failures.by_case,
            kinds={
                "failing": self.failures.by_case,
                "disputed": [dispute.case_id for dispute in DISPUTES.of(self)],
                "unscored": UNSCORED.of(self),
                "unanswered": self.without_response,
                "thoughts": self.stored.with_thoughts("in_text"),
            },
        )


def view_run(
    run: Run, ledger: Ledger, variant: Rescoring | None = None, *, linked: bool | None = None, where: Sequence[str] = ()
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
    change = variant or Rescoring()
    stored = RunSpec.of(run)
    spec = change.applied_to(stored, stored.quorum)
    cases = load_run_cases(ledger, run.id)
    chosen: list[int] | None = None
    if linked is None:
        linked = run.finished_at is not None and run.outcome is not None and not ledger.verdicts.shares_answers(run.id)
    answers = RunAnswers(ledger, run.id, stored, dict(enumerate(cases)), linked=linked)
    verdicts = ledger.verdicts.read(run.id, _keys(ledger, run, stored, answers, cases))
    columns, used, turns, planned = _arranged(run, ledger, stored, spec, answers, cases, verdicts)
    reread, readings = _read_again(ledger, spec, columns, answers) if change.reparse else ({}, ())
    if reread:
        columns, used, turns, planned = _arranged(run, ledger, stored, spec, answers, cases, verdicts.with_readings(reread))
    if where:
        spec, positions = _chosen_part(spec, cases, where)
        chosen, columns = positions.tolist(), columns.of_cases(positions)
        cases, answers = tuple(cases[position] for position in chosen), answers.of_cases(chosen)
        used = used.rows(np.flatnonzero(np.isin(used.position, positions)))
    scores, counted = _counted(spec, cases, columns, answers.not_whole)
    tree, passes = scores.tree, int(columns.passes.planned.sum()) if spec.adaptive is not None else None
    exams = ledger.qualifications
    judged_at = ledger.last_judged(run.id, sorted(verdicts.elsewhere)) if exams.any_of(spec.criteria) else {}
    return RunView(
        run=run,
        spec=spec,
        items=cases,
        rejected=load_rejected_rows(ledger, run.id),
        stored=answers,
        judgments=RunJudgments(ledger, columns, reread),
        columns=columns,
        readings=readings,
        scores=scores,
        coverage=run_coverage(spec, selected_judgments(spec, cases, turns), tree.scored, tree.not_applicable, passes),
        sources=_scores_by_source(spec, cases, counted),
        health=run_health(spec, columns.passes, used, scores.consistency.outliers_by_judge),
        complete=run.finished_at is not None,
        variant=change.notes(),
        heads=tuple(map(str, ledger.heads())),
        answer_ids=answers.ids,
        people=ledger.signoffs.people_of(run.id, list(answers.ids.values())),
        conversations=_conversations(spec, cases, answers),
        reused=ledger.answers.reused_in(run.id, chosen) if stored.reuse_answers or stored.reassessed else None,
        calls=tuple(ledger.answers.calls_of(run.id)) if not where else (),
        standings=exams.standings(spec.judges, spec.criteria, judged_at, joint=spec.joint),
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
    turns_of_erased = [(cases[position].case.id, turn) for position, turn in verdicts.turns()] if answers.erased else []
    by_turn = any(criterion.scope in BY_REPLY for criterion in spec.criteria)
    turns = JudgedTurns(cases, answers.responses if by_turn else {}, answers.erased, turns_of_erased)
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
    reread: dict[int, Judgment] = {}
    readings: dict[str, Judgment] = {}
    for case_id, number, judgment in RunJudgments(ledger, columns).numbered():
        if number not in reread and case_id in answers.responses:
            again = reparsed(judgment, spec, answers.responses[case_id])
            if again != judgment:
                reread[number] = again
            if again.outcomes != judgment.outcomes:
                readings[again.key] = again
    return reread, tuple(readings.values())


def _conversations(spec: RunSpec, cases: Sequence[RunCase], answers: RunAnswers) -> ConversationEnds | None:
    if not answers.are_conversations:
        return None
    items = (item for item in cases if item.case.id not in answers.erased)
    return conversation_ends(spec, [item.case for item in items if not item.answer_id], answers.answers)


def _counted(
    spec: RunSpec, cases: Sequence[RunCase], columns: RunColumns, broken: Collection[str]
) -> tuple[RunScores, PassColumns]:
    """The scores with the passes that they rest on; of cases without a whole answer (`broken`) only failures count."""
    clusters = case_clusters([item.case for item in cases], spec.cluster)
    scores = _folded(spec, columns.passes, clusters)
    if not broken:
        return scores, columns.passes
    counted = columns.only_failing(scores.criteria, scores.criteria.failing(spec.limits, spec.scale), broken)
    return _folded(spec, counted, clusters), counted


def _folded(spec: RunSpec, passes: PassColumns, clusters: Mapping[str, str] | None = None) -> RunScores:
    rules = (spec.scale, spec.weights, spec.profile, spec.failures)
    return fold(passes, spec.criteria, *rules, clusters=clusters, first=spec.first_passes)


def _scores_by_source(spec: RunSpec, cases: Sequence[RunCase], passes: PassColumns) -> tuple[SourceScore, ...]:
    """The scores of recorded answers and of the target's; none where all answers have one source."""
    recorded = {item.case.id for item in cases if item.case.response is not None}
    asked = {item.case.id for item in cases} - recorded
    if spec.target is None or not recorded or not asked:
        return ()
    scores: list[SourceScore] = []
    for source, ids in ((RECORDED, recorded), (str(spec.target.reference), asked)):
        rows = np.array([case_id in ids for case_id in passes.cases], dtype=bool)[passes.case]
        tree = _folded(spec, passes.rows(rows)).tree
        scores.append(SourceScore(source=source, cases=len(ids), score=tree.score, coverage=tree.coverage))
    return tuple(scores)
