"""Recompute scores from stored judgments with other weights, rules or judges.

Raw texts can also be read again.

No model is called, and nothing is written. The benchmark, the monitor and the gate change their panels by the same `Rescoring`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from areopage.cases import Case
from areopage.errors import StorageError, UserError, name_list
from areopage.jury.panel import Panel
from areopage.jury.results import evaluated_again, reparsed
from areopage.ledger import PORTION, Evaluation, EvaluationFilter, Judgment, Ledger, Run, TraceFilter
from areopage.locales import Note
from areopage.scoring import LevelNames, Profile, Weights

AnyPanel = TypeVar("AnyPanel", bound=Panel)
GLOBAL = ""
"""The name of the global score among criteria."""


class Rescoring(Struct, frozen=True, kw_only=True):
    """The changes of a rescoring; None and empty change nothing. `weights` are laid over those of a panel."""

    weights: Weights | None = None
    profile: Profile | None = None
    without_judges: tuple[str, ...] = ()
    reparse: bool = False

    def describe(self) -> str:
        """Describe the changes; "" without any."""
        return "; ".join(map(str, self.notes()))

    def notes(self) -> tuple[Note, ...]:
        """The changes, one by one."""
        return (
            *((Note("other_weights"),) if self.weights is not None else ()),
            *((Note("other_profile", {"name": self.profile.name}),) if self.profile is not None else ()),
            *((Note("without_judges", {"names": self.without_judges}),) if self.without_judges else ()),
            *((Note("parsed_again"),) if self.reparse else ()),
        )

    def applied_to(self, panel: AnyPanel, quorum: float) -> AnyPanel:
        """A panel with the changes.

        Raises:
            UserError: a judge is left out that the panel does not have, or all of them; or what is weighed is not there.
        """
        names = [judge.name for judge in panel.judges]
        for name in self.without_judges:
            if name not in names:
                raise UserError(f"the run has no judge {name!r}: it has {name_list(names)}")
        judges = tuple(judge for judge in panel.judges if judge.name not in self.without_judges)
        if not judges:
            raise UserError("no judge would be left")
        profile = self.profile.with_quorum(quorum) if self.profile else panel.profile
        weights = panel.weights
        if self.weights is not None:
            weighed = panel.weights.names(panel.criteria)
            _refuse_weights(self.weights, weighed)
            weights = self.weights.laid_over(panel.weights, weighed)
        return msgspec.structs.replace(panel, judges=judges, weights=weights, profile=profile)


def _refuse_weights(weights: Weights, names: LevelNames) -> None:
    faults = weights.faults(names)
    if faults:
        more = f" (+{len(faults) - 1} more)" if len(faults) > 1 else ""
        raise UserError(f"{faults[0]}{more}")


class AnswerJudgments(Struct, frozen=True, kw_only=True):
    """An answer with a panel's judgments."""

    run_id: str
    case: Case
    erased: bool
    judgments: Sequence[Judgment]


class ScoreChange(Struct):
    """The scores on one criterion before and after: counts and sums."""

    before: int = 0
    after: int = 0
    total_before: float = 0.0
    total_after: float = 0.0

    def add(self, before: float | None, after: float | None) -> None:
        """Add one answer's scores; None where there is no score."""
        self.before += before is not None
        self.after += after is not None
        self.total_before += before or 0.0
        self.total_after += after or 0.0

    @property
    def means(self) -> tuple[float | None, float | None]:
        """The means before and after."""
        return (
            self.total_before / self.before if self.before else None,
            self.total_after / self.after if self.after else None,
        )


class Rescored(Struct, kw_only=True):
    """The result of a rescoring.

    Args:
        answers: how many were scored again: answers, or judgments of the gate, each about the doubtful sentences of an answer.
        criteria: by the criterion's path; "" is the global score.
        grades: how many went from one grade to another.
        readings: judgments that were read otherwise than they are stored.
        unread: judgments that could not be read again: their texts are erased, or not stored in full.
        unreadable: panels that another version stored, with the reason; their answers are left out.
    """

    answers: int = 0
    criteria: dict[str, ScoreChange] = field(default_factory=dict)
    grades: Counter[tuple[str, str]] = field(default_factory=Counter)
    readings: list[Judgment] = field(default_factory=list)
    unread: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """The number of answers with another grade."""
        return sum(count for (before, after), count in self.grades.items() if before != after)

    def add(self, before: Evaluation, after: Evaluation) -> None:
        """Add one evaluation."""
        self.answers += 1
        self.grades[before.grade, after.grade] += 1
        self.criteria.setdefault(GLOBAL, ScoreChange()).add(before.score_global, after.score_global)
        earlier, later = ({result.criterion: result.score for result in side.criteria} for side in (before, after))
        for criterion in dict.fromkeys((*earlier, *later)):
            self.criteria.setdefault(criterion, ScoreChange()).add(earlier.get(criterion), later.get(criterion))


def rescore(judged: Iterable[AnswerJudgments], runs: Sequence[Run], change: Rescoring) -> Rescored:
    """Recompute scores, and compare them with the stored panels' scores.

    Raises:
        UserError: the variant leaves out a judge that no panel has, or all of one panel.
    """
    done = Rescored()
    panels = _varied(runs, change, done.unreadable)
    for answer in judged:
        if answer.run_id not in panels:
            continue
        panel, other = panels[answer.run_id]
        judgments = (
            [_read_again(judgment, panel, answer, done) for judgment in answer.judgments] if change.reparse else answer.judgments
        )
        at = max((judgment.created_at for judgment in answer.judgments), default=runs[0].created_at)
        before = evaluated_again(panel, answer.run_id, answer.case, answer.judgments, at)
        done.add(before, evaluated_again(other, answer.run_id, answer.case, judgments, at))
    return done


def _varied(runs: Sequence[Run], change: Rescoring, unreadable: dict[str, str]) -> dict[str, tuple[Panel, Panel]]:
    """The panels of runs by id, each with the changes beside it.

    A judge that is left out, and each name that is weighed, must be in at least one panel.
    """
    panels: dict[str, Panel] = {}
    for run in runs:
        try:
            panels[run.id] = Panel.of(run)
        except StorageError as fault:
            unreadable[run.id] = str(fault)
    names = {judge.name for panel in panels.values() for judge in panel.judges}
    for name in change.without_judges:
        if name not in names:
            raise UserError(f"no panel has a judge {name!r}: there are {name_list(sorted(names)) or 'none'}")
    if change.weights is not None and panels:
        every: LevelNames = {}
        for panel in panels.values():
            for place, level in panel.weights.names(panel.criteria).items():
                every.setdefault(place, {}).update(level)
        _refuse_weights(change.weights, every)
    pairs: dict[str, tuple[Panel, Panel]] = {}
    for id, panel in panels.items():
        left_out = tuple(name for name in change.without_judges if name in {judge.name for judge in panel.judges})
        weights = change.weights and change.weights.only(panel.weights.names(panel.criteria))
        variant = msgspec.structs.replace(change, without_judges=left_out, weights=weights)
        pairs[id] = (panel, variant.applied_to(panel, panel.profile.quorum))
    return pairs


def _read_again(judgment: Judgment, panel: Panel, answer: AnswerJudgments, done: Rescored) -> Judgment:
    if answer.erased or judgment.stored != "full":
        done.unread += 1
        return judgment
    reading = reparsed(judgment, panel, answer.case)
    if reading.outcomes != judgment.outcomes:
        done.readings.append(reading)
    return reading


# --- what is scored again


def monitored(ledger: Ledger, wanted: EvaluationFilter, *, texts: bool) -> Iterator[AnswerJudgments]:
    """The monitor's evaluated answers that pass a filter."""
    stored = ledger.answers
    for portion in ledger.streams.evaluations(*wanted.conditions()):
        by_answer = ledger.judgments_under([(number, evaluation.run_id) for number, evaluation in portion])
        for number, evaluation in portion:
            answer = stored.get(evaluation.id) if texts and not evaluation.erased else None
            case = Case(id=evaluation.id, prompt="") if answer is None else answer.case
            judgments = by_answer.get((number, evaluation.run_id), ())
            yield AnswerJudgments(run_id=evaluation.run_id, case=case, erased=evaluation.erased, judgments=judgments)


def gated(ledger: Ledger, runs: Sequence[Run], filter: TraceFilter, ids: Sequence[str] = ()) -> Iterator[AnswerJudgments]:
    """What the gate's judge said of doubtful sentences, in order of answers.

    Args:
        runs: the gate's panels.
        ids: only judgments of these answers; empty: of all that the filter lets through.
    """
    wanted = set(ids)
    traces = (trace for trace in ledger.traces.each(filter) if not wanted or trace.id in wanted)
    while portion := list(islice(traces, PORTION)):
        by_trace = ledger.judgments_under([(trace.answer.number, run.id) for trace in portion for run in runs])
        for trace in portion:
            for run in runs:
                for judgment in by_trace.get((trace.answer.number, run.id), ()):
                    yield AnswerJudgments(run_id=run.id, case=trace.answer.case, erased=trace.erased, judgments=(judgment,))
