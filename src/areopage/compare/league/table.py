"""Runs of several targets by one panel on the same cases: who fails less, by how much, and whether the cases can tell."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Literal

import msgspec
from msgspec import Struct

from areopage.bench import Doubt, PanelParts, RunSpec, RunView, case_clusters, case_column, panel_parts, totals
from areopage.cases import MATURITIES, Case, field_named
from areopage.compare.statistics.levels import primary_criteria
from areopage.ledger import Answer, Judgment, ReusedAnswers, Run
from areopage.models import costs_of
from areopage.scoring import (
    CriterionScore,
    FailingCases,
    FailureCount,
    GroupFailures,
    Interval,
    OverRefusal,
    PairedDifference,
    PairedFailures,
    Release,
    Standing,
    paired_difference,
    paired_failures,
)

_ORDER: tuple[Standing, ...] = (*Release.PASSES, "NO_FLOORS", "INCONCLUSIVE", "FAIL")


class Use(Struct, frozen=True, kw_only=True):
    """What calls took; tokens and seconds as far as servers told them.

    Args:
        seconds: of all calls together.
        costs: by currency; empty without a price.
    """

    calls: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    costs: dict[str, float] = {}


class LeagueEntry(Struct, frozen=True, kw_only=True):
    """A run in a league.

    Args:
        target: what is compared: the model under test, or "" where the answers come with the cases.
        parts: what determines its scores, beside the target.
        cases: without their responses.
        doubt: why it settles nothing; "" where it does, and where it fails.
        failures: of the categories that count first.
        weakest: the criterion of them with the worst mean score, by its id, with the score.
        answer_states: of the target's answers.
        refusals: of harmless questions; None where no case is marked as such.
        refusing: how many answers refuse, by their state or in words.
        reused: the answers that were given to earlier runs; None where there are none.
        target_use, judges_use: what the target's answers, and the judgments on them, took.
        unfit: judges that are unfit to judge; `qualification` is what is known of all judges now, in short.
        scores: of each case; None where it has none.
        fails: whether each case fails a criterion of the categories that count first; None where that is not known. A case that
            none of them applies to has no entry.
        fails_primary: the same for the criteria whose failures comparisons test first; `failing` are the ids of all criteria that
            a case fails, worst first.
        groups: the failures of the categories that count first among the cases with each value of a column, by the column.
    """

    run: Run
    spec: RunSpec
    target: str
    parts: PanelParts
    cases: tuple[Case, ...]
    standing: Standing
    doubt: Doubt
    failures: FailureCount
    by_criterion: dict[str, FailureCount]
    categories: tuple[str, ...]
    weakest: tuple[str, float] | None
    score: float | None
    interval: Interval | None
    coverage: float
    answer_states: dict[str, int]
    refusals: OverRefusal | None
    refusing: int
    reused: ReusedAnswers | None
    target_use: Use
    judges_use: Use
    unfit: tuple[str, ...]
    qualification: str
    scores: dict[str, float | None]
    fails: dict[str, bool | None]
    fails_primary: dict[str, bool | None]
    failing: dict[str, tuple[str, ...]]
    groups: dict[str, dict[str, FailureCount]]

    @property
    def is_ranked(self) -> bool:
        """Whether anything of it can be compared."""
        return self.score is not None or bool(self.failures.scored)

    @property
    def is_refuser(self) -> bool:
        """Whether it refuses more than half of the harmless questions: what says nothing fails no criterion of safety."""
        return self.refusals is not None and 2 * self.refusals.refused > self.refusals.known


class EntryPair(Struct, frozen=True, kw_only=True):
    """Two runs of a league, the higher ranked first; differences are first − second.

    Args:
        better: the id of the run that is better beyond chance; "" where the cases cannot tell.
        by: what tells them apart.
    """

    first: str
    second: str
    failures: PairedFailures
    score: PairedDifference
    better: str
    by: Literal["", "failures", "score"]


class SliceCell(Struct, frozen=True, kw_only=True):
    """A run on the cases of a slice.

    Args:
        score: the mean of the cases' scores, of which there are `scored`.
        is_small: so few cases that hardly anything follows.
    """

    failures: FailureCount
    score: float | None
    scored: int
    is_small: bool


class SliceRow(Struct, frozen=True, kw_only=True):
    """The cases with one value in a column, with a cell for each run; "" is no value."""

    value: str
    cases: int
    cells: tuple[SliceCell, ...]


class Slices(Struct, frozen=True, kw_only=True):
    """All values of a column, the most frequent first."""

    column: str
    rows: tuple[SliceRow, ...]


class Absent(Struct, frozen=True, kw_only=True):
    """A target without a run: why it could not be asked."""

    target: str
    reason: str


class League(Struct, frozen=True, kw_only=True):
    """Runs that one panel judged on the same cases, best first, compared two by two."""

    entries: tuple[LeagueEntry, ...]
    pairs: tuple[EntryPair, ...]
    slices: tuple[Slices, ...]
    absent: tuple[Absent, ...] = ()

    @property
    def standing(self) -> Standing:
        """The worst of its runs; a target without a run makes it INCONCLUSIVE at best."""
        worst = max((entry.standing for entry in self.entries), key=_ORDER.index)
        return worst if worst == "FAIL" or not self.absent else "INCONCLUSIVE"

    def level_with(self, entry: LeagueEntry) -> tuple[str, ...]:
        """The ids of the runs that the cases cannot tell from this one."""
        pairs = (pair for pair in self.pairs if not pair.better and entry.run.id in (pair.first, pair.second))
        return tuple(pair.second if pair.first == entry.run.id else pair.first for pair in pairs)


def league_of(entries: Sequence[LeagueEntry], *, cluster: str = "", absent: Sequence[Absent] = ()) -> League:
    """Rank runs and compare each two of them.

    Ranked by the release verdict, by whether most harmless questions are answered, by the share of failures that cannot be
    excluded, by the weakest criterion of the categories that count first, and only then by the score; what cannot be compared at
    all comes last.
    """
    ranked = sorted(entries, key=_rank)
    cases = ranked[0].cases
    together = case_clusters(cases, cluster)
    return League(
        entries=tuple(ranked),
        pairs=tuple(_pair(first, second, together) for first, second in combinations(ranked, 2)),
        slices=tuple(_slices(column, cases, ranked) for column in ranked[0].groups),
        absent=tuple(absent),
    )


def entry_of(view: RunView, by: Sequence[str] = ()) -> LeagueEntry:
    """What a league needs of a run."""
    spec, release = view.spec, view.release
    failed = release is not None and release.verdict == "FAIL"
    doubt = "" if failed else view.doubt
    standing: Standing = "INCONCLUSIVE" if doubt else release.verdict if release else "NO_FLOORS"
    asked = tuple(msgspec.structs.replace(item.case, response=None) for item in view.items)
    first = [criterion.id for criterion in spec.criteria if criterion.category in view.failures.categories]
    groups: dict[str, dict[str, FailureCount]] = {}
    for column in dict.fromkeys(by):
        values = case_column(asked, column)
        by_value = GroupFailures.of(view.scores.criteria, spec.criteria, spec.scale, spec.failures, values)
        groups[column] = {value: group.first for value, group in by_value.items()}
    price = spec.target.price if spec.target else None
    answers = {answer.id: answer for answer in view.answers.values()}.values()  # cases alike to the letter share one
    judgments = {judgment.key: judgment for _, _, judgment in view.judgments.numbered()}.values()
    return LeagueEntry(
        run=view.run,
        spec=spec,
        target=str(spec.target.reference) if spec.target else "",
        parts=panel_parts(spec, view.items),
        cases=asked,
        standing=standing,
        doubt=doubt,
        failures=view.failures.first,
        by_criterion=view.failures.by_criterion,
        categories=view.failures.categories,
        weakest=_weakest(view, first),
        score=view.scores.tree.score,
        interval=view.scores.interval,
        coverage=view.coverage.share,
        answer_states=view.answer_states,
        refusals=view.over_refusal,
        refusing=view.answer_states.get("refused", 0) + len(view.declined),
        reused=view.reused,
        target_use=_use(
            answers, costs_of((price, answer.prompt_tokens or 0, answer.completion_tokens or 0) for answer in answers)
        ),
        judges_use=_use(judgments, totals([cost for cost in view.costs if cost.role == "judge"])),
        unfit=tuple(health.judge for health in view.health if health.unfit),
        qualification=view.qualification,
        scores={record.case_id: record.tree.score for record in view.scores.records},
        fails=_fails(view, first),
        fails_primary=_fails(view, primary_criteria(spec.criteria)),
        failing=view.failures.by_case,
        groups=groups,
    )


def _fails(view: RunView, first: Sequence[str]) -> dict[str, bool | None]:
    spec = view.spec
    failing = FailingCases.of(view.scores.criteria, first, spec.failures.limits(spec.criteria, spec.scale), spec.scale)
    concerned = {score.case_id: False for score in view.scores.criteria if score.criterion in first and score.applies}
    return concerned | dict.fromkeys(failing.missing) | dict.fromkeys(failing.failed, True)


def _weakest(view: RunView, first: Sequence[str]) -> tuple[str, float] | None:
    """The criterion of some with the worst mean score."""
    by_criterion: dict[str, list[CriterionScore]] = {id: [] for id in first}
    for score in view.scores.criteria:
        if score.criterion in by_criterion and score.score is not None:
            by_criterion[score.criterion].append(score)
    means = {id: fmean([score.score or 0.0 for score in scores]) for id, scores in by_criterion.items() if scores}
    worst = min if view.spec.scale.higher_is_better else max
    return worst(means.items(), key=lambda pair: pair[1]) if means else None


def _use(records: Collection[Answer | Judgment], costs: dict[str, float]) -> Use:
    return Use(
        calls=len(records),
        seconds=sum(record.seconds or 0.0 for record in records),
        prompt_tokens=sum(record.prompt_tokens or 0 for record in records),
        completion_tokens=sum(record.completion_tokens or 0 for record in records),
        costs=costs,
    )


def _rank(entry: LeagueEntry) -> tuple[bool, int, bool, float, float, float, str]:
    sign = -1.0 if entry.spec.scale.higher_is_better else 1.0
    last = float("inf")
    return (
        not entry.is_ranked,
        _ORDER.index(entry.standing),
        entry.is_refuser,
        1.0 if entry.failures.high is None else entry.failures.high,
        sign * entry.weakest[1] if entry.weakest else last,
        sign * entry.score if entry.score is not None else last,
        entry.target,
    )


def _pair(first: LeagueEntry, second: LeagueEntry, together: Mapping[str, str]) -> EntryPair:
    scale = first.spec.scale
    score = paired_difference(first.scores, second.scores, span=scale.max - scale.min, clusters=together)
    failures = paired_failures(first.fails, second.fails, clusters=together)
    better = ""
    by: Literal["", "failures", "score"] = ""
    if failures.is_separate:
        by, better = "failures", first.run.id if (failures.difference.difference or 0.0) < 0 else second.run.id
    elif score.is_separate:
        is_higher = (score.difference or 0.0) > 0
        by, better = "score", first.run.id if is_higher == scale.higher_is_better else second.run.id
    return EntryPair(first=first.run.id, second=second.run.id, failures=failures, score=score, better=better, by=by)


def _slices(column: str, cases: Sequence[Case], entries: Sequence[LeagueEntry]) -> Slices:
    ids: dict[str, list[str]] = {}
    for id, value in case_column(cases, column).items():
        ids.setdefault(value, []).append(id)
    rows: list[SliceRow] = []
    for value, members in ids.items():
        cells: list[SliceCell] = []
        for entry in entries:
            failures = entry.groups[column][value]
            scores = [score for id in members if (score := entry.scores.get(id)) is not None]
            is_small = max(len(scores), failures.scored) < Interval.MIN_CASES
            mean = fmean(scores) if scores else None
            cells.append(SliceCell(failures=failures, score=mean, scored=len(scores), is_small=is_small))
        rows.append(SliceRow(value=value, cases=len(members), cells=tuple(cells)))
    ages: Mapping[str, int] = {name: place for place, name in enumerate(MATURITIES)} if field_named(column) == "maturity" else {}
    rows.sort(key=lambda row: (ages.get(row.value, len(ages)), -row.cases, row.value))
    return Slices(column=column, rows=tuple(rows))
