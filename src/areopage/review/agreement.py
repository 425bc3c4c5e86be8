"""Judge against people, over the labels that a ledger holds."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from areopage.errors import UserError, name_list
from areopage.ledger.labels import Labels, ReviewQueue
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import Label
from areopage.ledger.store import Ledger
from areopage.review.rubric import OVERALL, Rubric
from areopage.scoring.human_agreement import HumanAgreement, Rating, human_agreement

SAMPLE = "sample"
EXCERPT = 200


class AgreementReport(Struct, frozen=True, kw_only=True):
    """How far a judge agrees with people.

    Args:
        suite: whose criteria were labelled; "" for a table of ratings.
        judge: one judge's name; "" for the whole jury.
        since: labels given from this moment on; None for all.
        sample_only: whether only answers that were queued at random count.
        labelled: answers with labels, whether the judge scored them or not.
        at_random: how many of them were queued at random.
        weighed: how many overall scores were weighed up from a rater's scores of all criteria, as he gave none himself.
        names: what people call the criteria.
        questions: the beginning of the question of each answer in `agreement.worst`, by its id.
        judges: all judges that judged labelled answers.
        rejected: rows of a table that could not be used: row number and reason.
    """

    suite: str = ""
    judge: str = ""
    since: datetime | None = None
    sample_only: bool = False
    labelled: int
    at_random: int | None = None
    weighed: int = 0
    names: dict[str, str]
    agreement: HumanAgreement
    questions: dict[str, str] = {}
    judges: tuple[str, ...] = ()
    rejected: tuple[tuple[int, str], ...] = ()


def ledger_agreement(
    ledger: Ledger, rubric: Rubric, language: str, *, since: datetime | None = None, judge: str = "", sample_only: bool = False
) -> AgreementReport:
    """Measure the jury, or one judge, against people.

    Args:
        language: of the criteria's names.
        since: only labels given at or after this moment.
        judge: a judge's name; "" for the jury.
        sample_only: only answers that were queued at random: those speak for all answers.

    Raises:
        UserError: no judge of that name judged a labelled answer.
    """
    store = Labels(ledger)
    labels = store.current(since)
    queued = ReviewQueue(ledger).items(list(dict.fromkeys(label.submission_id for label in labels)))
    drawn = {id for id, item in queued.items() if item.why == SAMPLE}
    kept = [label for label in labels if label.submission_id in drawn] if sample_only else labels
    ids = list(dict.fromkeys(label.submission_id for label in kept))
    judges = store.judges_of(ids)
    if judge and judge not in judges and ids:
        raise UserError(f"no judge {judge!r} judged a labelled answer: there are {name_list(judges) or 'none'}")
    ratings, weighed = ratings_of(kept, rubric)
    by_answer = one_judge(store, ids, judge, rubric) if judge else store.judge_scores(ids)
    found = human_agreement(by_criterion(by_answer), ratings, (OVERALL, *rubric.paths))
    scores = QualityScores(ledger)
    read = {one.item: scores.get(one.item) for one in found.worst}
    return AgreementReport(
        suite=rubric.suite.name,
        judge=judge,
        since=since,
        sample_only=sample_only,
        labelled=len(ids),
        at_random=len(drawn),
        weighed=weighed,
        names=rubric.labels(language),
        agreement=found,
        questions={id: score.question[:EXCERPT] for id, score in read.items() if score is not None},
        judges=tuple(judges),
    )


def ratings_of(labels: Sequence[Label], rubric: Rubric) -> tuple[list[Rating], int]:
    """Labels as ratings, and how many overall scores had to be weighed up from the criteria."""
    ratings = [
        Rating(item=label.submission_id, rater=label.rater, criterion=label.criterion, score=label.score) for label in labels
    ]
    given: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        given.setdefault((rating.item, rating.rater), {})[rating.criterion] = rating.score
    weighed: list[Rating] = []
    for (item, rater), scores in given.items():
        overall = None if OVERALL in scores else rubric.overall(scores)
        if overall is not None:
            weighed.append(Rating(item=item, rater=rater, criterion=OVERALL, score=overall))
    return [*ratings, *weighed], len(weighed)


def one_judge(store: Labels, ids: Sequence[str], judge: str, rubric: Rubric) -> dict[str, dict[str, float]]:
    """One judge's scores on the suite's scale, the overall one where it scored every criterion that weighs."""
    guides = rubric.guides(rubric.suite.own_language)
    scales = {entry.id: guides[entry.path].scale for entry in rubric.entries}
    paths = {entry.id: entry.path for entry in rubric.entries}
    found: dict[str, dict[str, float]] = {}
    for id, scores in store.one_judge_scores(ids, judge).items():
        mapped = {paths[key]: scales[key].map_to(score, rubric.scale) for key, score in scores.items() if key in paths}
        overall = rubric.overall(mapped)
        found[id] = mapped if overall is None else mapped | {OVERALL: overall}
    return found


def by_criterion(by_answer: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Scores by criterion and answer instead of answer and criterion."""
    found: dict[str, dict[str, float]] = {}
    for id, scores in by_answer.items():
        for criterion, score in scores.items():
            found.setdefault(criterion, {})[id] = score
    return found
