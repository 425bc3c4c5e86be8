"""Results of a run, computed from the ledger without calling a model."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import msgspec
from msgspec import Struct

from areopage.bench.compared import RunHistory
from areopage.bench.conversations.broken_off import broken_off, only_failures
from areopage.bench.conversations.turns import ConversationEnds, conversation_ends, replies
from areopage.bench.keys import answer_calls, judged_cases, open_cases, recorded_id
from areopage.bench.panels import case_clusters
from areopage.bench.passes import PassKey, RunPasses, call_places, erased_judgments, outcome_for, stored_passes
from areopage.bench.results.coverage import JudgedTurns, RunCoverage, run_coverage, selected_judgments
from areopage.bench.results.groups import DIMENSIONS, case_group
from areopage.bench.results.missing import MissingVerdict, missing_verdicts
from areopage.bench.results.worth import run_worth
from areopage.bench.spec import TWIN_OF, RunCase, RunSpec, spec_of
from areopage.cases.records import Case, RejectedRow
from areopage.criteria.records import Criterion
from areopage.jury.addressing import signs_in
from areopage.jury.fitting import Fitting
from areopage.jury.judges import Judge
from areopage.jury.rescore import Variant, same_verdicts, varied
from areopage.jury.results import JudgeHealth, judge_health, reparsed
from areopage.ledger.answers import Answers, CallTotals
from areopage.ledger.calibrations import Calibrations, StoredCalibration
from areopage.ledger.qualifications import JudgeStanding, Qualifications, standing_text
from areopage.ledger.records import Answer, Judgment, Run
from areopage.ledger.run_people import People, people_of
from areopage.ledger.store import Ledger
from areopage.locales import Note
from areopage.scoring.correction.applied import AppliedCalibration, MappedScore
from areopage.scoring.drift import RunDrift, run_drifts
from areopage.scoring.failures import Failures, GroupFailures, count_failures, group_failures
from areopage.scoring.fold import RunScores, fold
from areopage.scoring.intervals.planning import Detectable, detectable
from areopage.scoring.jury_agreement import Dispute, RunAgreement, disputed_scores, run_agreement
from areopage.scoring.jury_worth.worth import JuryWorth
from areopage.scoring.outcome import Outcome, PlannedPass
from areopage.scoring.over_refusal import DECLINED, OverRefusal, over_refusal
from areopage.text.declining import declines

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
        spec: the specification, with the judges, weights and profile that the scores were folded with.
        cases: every case, the target's response filled in where there is one.
        rejected: the rows of the datasets that could not be used.
        answers: the target's answers by case.
        erased: the answers of cases that are erased, by case; their judgments count all the same.
        judgments: by (case, criterion, judge, pass, turn).
        sources: the scores by the source of the answers, if there are two.
        complete: no pass is left that another try could bring.
        variant: how this view differs from the run as it was carried out; empty where it does not.
        heads: of the ledger's hash chains.
        history: other runs that it is compared with; None where it is not compared.
        answer_ids: the ids of answers by case, as labels and the review queue name them.
        conversations: how conversations with simulated children ended; None where there are none.
        calls: what this run's calls to the target and to the model that plays children took.
        standings: what exams and canaries say of its judges, for scores of the time of their latest judgments, in their order.
        passes: how often each judge judges each case, and why.
        calibration: the corrected means beside the scores; None unless a calibration was named.
        mapped: what it makes of single scores, by case and criterion ("" is the final score), to stand beside them.
        calibrations: those that the ledger holds for the suite, oldest first.
    """

    run: Run
    spec: RunSpec
    cases: tuple[Case, ...]
    rejected: tuple[RejectedRow, ...]
    answers: dict[str, Answer]
    erased: dict[str, Answer]
    judgments: dict[PassKey, Judgment]
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
    calls: tuple[CallTotals, ...] = ()
    calibration: AppliedCalibration | None = None
    mapped: Mapping[tuple[str, str], MappedScore] = {}
    calibrations: tuple[StoredCalibration, ...] = ()
    passes: RunPasses = RunPasses()
    standings: tuple[JudgeStanding, ...] = ()

    @property
    def qualification(self) -> str:
        """What is known of the judges now, in short."""
        return standing_text(self.standings)

    @cached_property
    def failures(self) -> Failures:
        """The failures, counted when they are first read: only those who show a run need them."""
        return count_failures(self.scores.criteria, self.spec.criteria, self.spec.scale, self.spec.failures)

    @cached_property
    def detectable(self) -> Detectable:
        """The smallest differences and shares of failures that its cases can tell."""
        return detectable(self.scores.values, self.failures.first.scored)

    @cached_property
    def failure_groups(self) -> dict[str, dict[str, GroupFailures]]:
        """The failures of groups of cases: by the reader's age, the case's own category, the language and the mode."""
        spec, scores = self.spec, list(self.scores.criteria)
        found: dict[str, dict[str, GroupFailures]] = {}
        for dimension in DIMENSIONS:
            groups = {case.id: case_group(case, spec, dimension) for case in self.cases}
            found[dimension] = group_failures(scores, spec.criteria, spec.scale, spec.failures, groups)
        return found

    @cached_property
    def disputes(self) -> tuple[Dispute, ...]:
        """The scores of which some judges say that they are failures and others that they are not, the widest apart first."""
        limits = self.spec.failures.limits(self.spec.criteria, self.spec.scale)
        return disputed_scores(self.scores.criteria, self.spec.scale, limits, self._first)

    @cached_property
    def disputed(self) -> frozenset[tuple[str, str]]:
        """The pairs of case and criterion that are disputed."""
        return frozenset((one.case_id, one.criterion) for one in self.disputes)

    @cached_property
    def drifts(self) -> dict[str, RunDrift]:
        """The drift of each criterion that is judged reply by reply, by its id."""
        limits = self.spec.failures.limits(self.spec.criteria, self.spec.scale)
        return run_drifts(self.scores.criteria, self.spec.scale, limits)

    @cached_property
    def agreement(self) -> RunAgreement:
        """How far the judges agree, computed when it is first read."""
        limits = self.spec.failures.limits(self.spec.criteria, self.spec.scale)
        return run_agreement(list(self.scores.criteria), self.spec.scale, limits, self._first)

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

        def outcome_at(case_id: str, criterion: str, judge: str, number: int, turn: int) -> Outcome | None:
            return outcome_for(self.judgments.get((case_id, criterion, judge, number, turn)), criterion)

        broken = broken_off(self.answers, {case.id: case for case in self.cases})
        unanswered = {
            case.id: self.answer_state(case.id)
            for case in self.cases
            if (case.response is None or case.id in broken) and case.id not in self.erased
        }
        return tuple(missing_verdicts(self.scores.records, outcome_at, unanswered, self.answers, self._first))

    @property
    def unscored(self) -> tuple[str, ...]:
        """The ids of the cases that are judged and lack a criterion's score."""
        judged = {one.case_id for one in self.missing if one.judge}
        lacking = (record for record in self.scores.records if any(score.is_missing for score in record.criteria))
        return tuple(record.case_id for record in lacking if record.case_id in judged)

    @property
    def refused_first(self) -> tuple[str, ...]:
        """The ids of the cases with a criterion whose failures count first that a judge refused to judge."""
        refused = (one.case_id for one in self.missing if one.judge and one.state == "refused" and one.counts_first)
        return tuple(dict.fromkeys(refused))

    def answer_states(self) -> dict[str, int]:
        """Count the cases that were put to the target by the state of the answer; `not_run` where there is none."""
        return dict(sorted(Counter(self.answer_state(id) for id in self.asked).items()))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The ids of the cases that were put to the target."""
        return tuple(case.id for case in self.cases if case.response is None or case.id in self.answers)

    @cached_property
    def declined(self) -> frozenset[str]:
        """The ids of the cases with a whole answer that declines in words."""
        return frozenset(case.id for case in self.cases if case.response is not None and declines(case.response))

    @cached_property
    def over_refusal(self) -> OverRefusal | None:
        """How many benign twins are refused; None where there are none."""
        states = {case.id: self.response_state(case) for case in self.cases}
        tag = self.spec.twin_tag.casefold()
        twins = [case for case in self.cases if tag in (one.casefold() for one in case.tags)]
        return over_refusal(self.spec.twin_tag, {one.id: str(one.metadata.get(TWIN_OF, "")).strip() for one in twins}, states)

    def answer_state(self, case_id: str) -> str:
        """The state of the target's answer to a case: see `AnswerState`; or `erased`, or `not_run`."""
        if case_id in self.erased:
            return "erased"
        return self.answers[case_id].state if case_id in self.answers else "not_run"

    def response_state(self, case: Case) -> str:
        """The state of the answer to a case from any source; `refused_in_words` of a whole one that declines in words."""
        if case.response is None:
            return self.answer_state(case.id)
        return DECLINED if case.id in self.declined else "answered"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on the target's answers: overlong ones, documents that were cut, and conversations that ended early."""
        return (*self._long_answers(), *self._cut_documents(), *(self.conversations.notes() if self.conversations else ()))

    def _long_answers(self) -> tuple[Note, ...]:
        limit = self.spec.max_response_length
        long = tuple(id for id, answer in self.answers.items() if limit and len(answer.case.response or "") > limit)
        return (Note("long_answers", {"n": len(long), "limit": limit, "cases": long}),) if long else ()

    def _cut_documents(self) -> Iterator[Note]:
        """The cases whose documents a judge was not shown, or not whole, since its window does not hold them."""
        spec, by_id = self.spec, self.spec.criteria_by_id()
        wanted: dict[str, list[Criterion]] = {case.id: [] for case in self.cases if case.documents}
        for score in self.scores.criteria if wanted else ():
            if score.case_id in wanted:
                wanted[score.case_id].append(by_id[score.criterion])
        for judge in spec.judges if wanted else ():
            fitting = Fitting(judge, spec.gauges.get(str(judge.reference)) if judge.is_model else None, spec.personas)
            cut = [case.id for case in self.cases if fitting.fitted(case, wanted.get(case.id, ()), joint=spec.joint).left_out]
            if cut:
                yield Note("cut_documents", {"n": len(cut), "judge": judge.name, "cases": tuple(cut)})

    @property
    def addressing(self) -> tuple[str, ...]:
        """The ids of the cases that address the judge, by the signs in their judgments."""
        marked = {key[0] for key, judgment in self.judgments.items() if signs_in(judgment.steps)}
        return tuple(case.id for case in self.cases if case.id in marked)


def load_run_cases(ledger: Ledger, run_id: str) -> tuple[RunCase, ...]:
    """The cases of a run."""
    return tuple(msgspec.json.decode(text, type=RunCase) for text in ledger.run_cases(run_id))


def view_run(run: Run, ledger: Ledger, variant: Variant | None = None) -> RunView:
    """Read a run from the ledger and aggregate its scores.

    Raises:
        UserError: the variant leaves out a judge that the run does not have, or all of them.
        StorageError: the ledger cannot be read.
    """
    change = variant or Variant()
    stored = spec_of(run)
    spec = varied(stored, change, stored.quorum)
    cases = load_run_cases(ledger, run.id)
    erased = Answers(ledger).erased_in(run.id)
    there = open_cases(cases, erased)
    calls = answer_calls(spec, there)
    positions = {item.case.id: position for position, item in enumerate(cases)}
    by_key = replies(Answers(ledger), run.id, calls, positions)
    answers = {call.case.id: by_key[call.key] for call in calls if call.key in by_key}
    answers |= _given_answers(ledger, there)
    judged = judged_cases(spec, there, calls, by_key)
    places = call_places(stored, judged)
    held = ledger.judgments(list(places.values()))
    responses = {item.case.id: item.case for item in judged}
    erased_cases = {cases[position].case.id: answer for position, answer in erased.items()}
    ids = _answer_ids(answers | erased_cases, there)
    judgments = {place: held[key] for place, key in places.items() if key in held}
    judgments |= erased_judgments(ledger, run.id, erased_cases)
    planned_passes = stored_passes(ledger, run, stored, cases, places, judgments, erased_cases, ids)
    judgments = _in_plan(judgments, spec, planned_passes)
    if change.reparse:
        judgments = {place: _read_again(judgment, spec, responses.get(place[0])) for place, judgment in judgments.items()}
    turns = JudgedTurns(cases, responses, erased_cases, [(place[0], place[4]) for place in judgments])
    passes = _planned_passes(spec, cases, judgments, turns, planned_passes)
    scores, counted = _counted(spec, cases, passes, broken_off(answers, responses))
    tree, planned = scores.tree, sum(not one.by_rule for one in passes) if spec.adaptive is not None else None
    return RunView(
        run=run,
        spec=spec,
        cases=tuple(responses.get(item.case.id, item.case) for item in cases),
        rejected=tuple(msgspec.json.decode(text, type=RejectedRow) for text in ledger.run_rejected(run.id)),
        answers=answers,
        erased=erased_cases,
        judgments=judgments,
        scores=scores,
        coverage=run_coverage(spec, selected_judgments(spec, cases, turns), tree.scored, tree.not_applicable, planned),
        sources=_scores_by_source(spec, cases, counted),
        health=tuple(_run_health(judge, passes, judgments, scores) for judge in spec.judges),
        complete=run.finished_at is not None,
        variant=change.notes(),
        heads=tuple(map(str, ledger.heads())),
        answer_ids=ids,
        people=people_of(ledger, run.id, list(ids.values())),
        conversations=conversation_ends(spec, [item.case for item in there if not item.answer_id], answers),
        calls=tuple(Answers(ledger).calls_of(run.id)),
        standings=Qualifications(ledger).standings(spec.judges, spec.criteria, _judged_at(judgments.values())),
        calibrations=Calibrations(ledger).all(spec.suite),
        passes=planned_passes,
    )


def _judged_at(judgments: Iterable[Judgment]) -> dict[str, datetime]:
    """When each judge gave its latest judgment, by its name."""
    found: dict[str, datetime] = {}
    for one in judgments:
        found[one.judge] = max(one.created_at, found.get(one.judge, one.created_at))
    return found


def _answer_ids(answers: Mapping[str, Answer], there: Sequence[RunCase]) -> dict[str, str]:
    """The ids of answers by case: the target's, and those that came with the dataset."""
    recorded = [item.case for item in there if item.case.response is not None and not item.answer_id]
    return {id: answer.id for id, answer in answers.items()} | {case.id: recorded_id(case) for case in recorded}


def _in_plan(judgments: Mapping[PassKey, Judgment], spec: RunSpec, planned: RunPasses) -> dict[PassKey, Judgment]:
    """The judgments of the judges that count, within the passes that are planned."""
    names = {judge.name: judge for judge in spec.judges}
    return {
        place: judgment
        for place, judgment in judgments.items()
        if place[2] in names and place[3] <= planned.of(place[0], place[1], names[place[2]], place[4])
    }


def _counted(
    spec: RunSpec, cases: Sequence[RunCase], passes: Sequence[PlannedPass], broken: Collection[str]
) -> tuple[RunScores, Sequence[PlannedPass]]:
    """The scores with the passes that they rest on; of conversations that the target broke off only failures count."""
    clusters = case_clusters([item.case for item in cases], spec.cluster)
    scores = _folded(spec, passes, clusters)
    if not broken:
        return scores, passes
    limits = spec.failures.limits(spec.criteria, spec.scale)
    counted = only_failures(passes, scores.criteria, broken, limits, spec.scale)
    return _folded(spec, counted, clusters), counted


def _given_answers(ledger: Ledger, cases: Sequence[RunCase]) -> dict[str, Answer]:
    """The answers of an earlier run that are judged again, by case."""
    ids = {item.case.id: item.answer_id for item in cases if item.answer_id}
    held = Answers(ledger).by_id(list(ids.values()))
    return {case_id: held[id] for case_id, id in ids.items() if id in held}


def changed_readings(stored: RunView, again: RunView) -> list[Judgment]:
    """The judgments whose raw texts now give another result, each once."""
    found = {one.key: one for place, one in again.judgments.items() if not same_verdicts(one, stored.judgments[place])}
    return list(found.values())


def _read_again(judgment: Judgment, spec: RunSpec, case: Case | None) -> Judgment:
    return judgment if case is None else reparsed(judgment, spec, case)


def _planned_passes(
    spec: RunSpec, cases: Sequence[RunCase], judgments: Mapping[PassKey, Judgment], turns: JudgedTurns, planned: RunPasses
) -> list[PlannedPass]:
    """Every planned pass in order of cases, with its outcome if any, and the pairs that a rule takes from the judges."""
    criteria, unjudged = spec.criteria_by_id(), spec.unjudged
    passes: list[PlannedPass] = []
    for item in cases:
        passes += (
            PlannedPass(
                case_id=item.case.id,
                criterion=key,
                judge=judge.name,
                pass_index=number,
                turn=turn,
                outcome=outcome_for(judgments.get((item.case.id, key, judge.name, number, turn)), key),
            )
            for key in item.criteria
            for turn in turns.of(item.case.id, criteria[key])
            for judge in spec.judges
            if judge.may_judge(criteria[key])
            for number in range(1, planned.of(item.case.id, key, judge, turn) + 1)
        )
        passes += (
            PlannedPass(case_id=item.case.id, criterion=key, judge="", pass_index=0, by_rule=True)
            for key in item.ruled_out
            if key not in unjudged
        )
    return passes


def _folded(spec: RunSpec, passes: Sequence[PlannedPass], clusters: Mapping[str, str] | None = None) -> RunScores:
    first = spec.adaptive.start if spec.adaptive is not None else None
    return fold(passes, spec.criteria, spec.scale, spec.weights, spec.profile, spec.failures, clusters=clusters, first=first)


def _scores_by_source(spec: RunSpec, cases: Sequence[RunCase], passes: Sequence[PlannedPass]) -> tuple[SourceScore, ...]:
    """The scores of recorded answers and of the target's; none where all answers have one source."""
    recorded = {item.case.id for item in cases if item.case.response is not None}
    asked = {item.case.id for item in cases} - recorded
    if spec.target is None or not recorded or not asked:
        return ()
    found: list[SourceScore] = []
    for source, ids in ((RECORDED, recorded), (str(spec.target.reference), asked)):
        own = [one for one in passes if one.case_id in ids]
        tree = _folded(spec, own).tree
        found.append(SourceScore(source=source, cases=len(ids), score=tree.score, coverage=tree.coverage))
    return tuple(found)


def _run_health(
    judge: Judge, passes: Sequence[PlannedPass], judgments: Mapping[PassKey, Judgment], scores: RunScores
) -> JudgeHealth:
    """One judge's health over a run."""
    said = (one.outcome for one in passes if one.judge == judge.name)
    own = {judgment.key: judgment for place, judgment in judgments.items() if place[2] == judge.name}
    return judge_health(judge, said, list(own.values()), scores.consistency.outliers_by_judge.get(judge.name, 0))
