"""What the report shows of a run, before it is put into words: numbers stay numbers, texts stay as they came."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from areopage.bench.results import RunView
from areopage.cases.records import MATURITIES, RejectedRow
from areopage.criteria.records import Scale
from areopage.jury.results import JudgeHealth
from areopage.report.run_results import run_criteria
from areopage.report.worst import WorstCase, label_of, worst_cases
from areopage.scoring.agreement import mean
from areopage.scoring.tree import Node

LISTED = 100


class ScoreRow(Struct, frozen=True, kw_only=True):
    """A line of the tree of scores. `level` is 1 for categories to 3 for criteria; `share` is the score's place on the scale."""

    level: int
    key: str
    label: str
    score: float | None
    share: float | None
    weight: float
    coverage: float
    agreement: float | None


class Band(Struct, frozen=True, kw_only=True):
    """The cases of one audience: the mean of their final scores, over `scored` of `cases`."""

    maturity: str
    ages: str
    score: float | None
    share: float | None
    scored: int
    cases: int


class Unanswered(Struct, frozen=True, kw_only=True):
    """A case without a response. `state` is timed_out, unreachable or not_run."""

    case_id: str
    state: str
    reason: str


class Page(Struct, frozen=True, kw_only=True):
    """The report's content. Lists are cut at `LISTED`; `missing` counts the passes that may still bring a verdict."""

    view: RunView
    unfit: tuple[JudgeHealth, ...]
    missing: int
    final_share: float | None
    interval_shares: tuple[float, float] | None
    rows: tuple[ScoreRow, ...]
    bands: tuple[Band, ...]
    asked_once: bool
    judged_alone: bool
    worst: tuple[WorstCase, ...]
    unanswered: tuple[Unanswered, ...]
    unanswered_count: int
    rejected: tuple[RejectedRow, ...]
    remarks: tuple[str, ...]


def page_of(view: RunView) -> Page:
    """Work out what the report shows."""
    scale, scores = view.spec.scale, view.scores
    interval = scores.interval
    unanswered = [
        Unanswered(case_id=case.id, state=answer.state if answer else "not_run", reason=answer.reason if answer else "")
        for case in view.cases
        if case.response is None
        for answer in [view.answers.get(case.id)]
    ]
    judged = [
        [judge for judge in score.judges if judge.score is not None] for record in scores.records for score in record.criteria
    ]
    return Page(
        view=view,
        unfit=tuple(health for health in view.health if health.unfit),
        missing=sum(health.outcomes[name] for health in view.health for name in ("not_run", "timed_out", "unreachable")),
        final_share=share_of(scores.tree.score, scale),
        interval_shares=None if interval is None else (place_on(interval.low, scale), place_on(interval.high, scale)),
        rows=tuple(score_rows(view)),
        bands=tuple(bands_of(view)),
        asked_once=all(judge.planned < 2 for found in judged for judge in found),
        judged_alone=all(len(found) < 2 for found in judged),
        worst=worst_cases(view),
        unanswered=tuple(unanswered[:LISTED]),
        unanswered_count=len(unanswered),
        rejected=view.rejected[:LISTED],
        remarks=view.spec.remarks,
    )


def place_on(score: float, scale: Scale) -> float:
    """Where a score lies on a scale, in [0, 1]."""
    return min(1.0, max(0.0, (score - scale.min) / (scale.max - scale.min)))


def share_of(score: float | None, scale: Scale) -> float | None:
    """The same, None where there is no score."""
    return None if score is None else place_on(score, scale)


def score_rows(view: RunView) -> Iterator[ScoreRow]:
    """The tree of scores, line by line."""
    labels, criteria, details = view.spec.labels, view.spec.criteria_by_id(), run_criteria(view)

    def row(node: Node, level: int, key: str, label: str, agreement: float | None = None) -> ScoreRow:
        return ScoreRow(
            level=level,
            key=key,
            label=label,
            score=node.score,
            share=share_of(node.score, view.spec.scale),
            weight=node.weight,
            coverage=node.coverage,
            agreement=agreement,
        )

    for category in view.scores.tree.parts:
        yield row(category, 1, category.name, labels.get(category.name))
        for part in category.parts:
            key = f"{category.name}.{part.name}"
            yield row(part, 2, key, labels.get(key))
            for leaf in part.parts:
                yield row(leaf, 3, leaf.name, label_of(criteria[leaf.name]), details[leaf.name].agreement)


def bands_of(view: RunView) -> Iterator[Band]:
    """Scores by audience, the youngest first; audiences that no case has are left out."""
    finals = {record.case_id: record.tree.score for record in view.scores.records}
    by_maturity: dict[str, list[float | None]] = {}
    for case in view.cases:
        by_maturity.setdefault(case.maturity, []).append(finals.get(case.id))
    for maturity in order_of(list(by_maturity)):
        known = [score for score in by_maturity[maturity] if score is not None]
        score = mean(known) if known else None
        persona = view.spec.personas.get(maturity)
        yield Band(
            maturity=maturity,
            ages=persona.maturity_band.replace("-", "–") if persona else "",
            score=score,
            share=share_of(score, view.spec.scale),
            scored=len(known),
            cases=len(by_maturity[maturity]),
        )


def order_of(found: Sequence[str]) -> list[str]:
    """Audiences from young to old, others after them."""
    return [name for name in MATURITIES if name in found] + sorted(name for name in found if name not in MATURITIES)
