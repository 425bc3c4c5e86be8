"""Judge against people, over the labels that a ledger holds, or over those of one benchmark run."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, structs

from areopage.errors import UserError, name_list
from areopage.ledger import GROUNDED, GROUNDING, SAMPLE, Label, Labels, Ledger, counted_labels
from areopage.review.rubric import OVERALL, Rubric
from areopage.scoring import (
    WORST,
    CorrelationClaim,
    Disagreement,
    HumanAgreement,
    HumanFailures,
    JuryWorth,
    Rating,
    reduce_passes,
)
from areopage.text import Policy, stored_text

_SUPPORTED = len(GROUNDED) - 1
"""The grounding score of an answer that the documents support."""

EVERY = "all"
EXCERPT = 200
GROUNDING_NAMES = {"en": "Grounding", "fr": "Ancrage"}


class AgreementReport(Struct, frozen=True, kw_only=True):
    """How far a judge agrees with people.

    Args:
        suite: whose criteria were labelled; "" for a table of ratings.
        judge: one judge's name; "" for the whole jury.
        since: labels given from this moment on; None for all.
        sample_only: whether only answers that were queued at random count.
        labelled: answers with labels, whether the judge scored them or not.
        at_random: how many of them were queued at random.
        selected: how many labelled answers were queued for another reason, or not at all.
        unblind: how many labels do not count, as their raters had seen the judges' scores; 0 for a limited reader.
        weighed: how many overall scores were weighed up from a rater's scores of all criteria, as he gave none himself.
        names: what people call the criteria.
        scales: lowest and highest score of each criterion; empty for a table of ratings.
        questions: the beginning of the prompt of each answer in `agreement.worst`, by its id.
        judges: all judges that judged labelled answers.
        worth: what the jury, or the judge alone, is worth; None of a table without a range of scores.
        rejected: rows of a table that could not be used: row number and reason.
    """

    suite: str = ""
    judge: str = ""
    since: datetime | None = None
    sample_only: bool = False
    labelled: int
    at_random: int | None = None
    selected: int = 0
    unblind: int = 0
    weighed: int = 0
    names: dict[str, str]
    scales: dict[str, tuple[float, float]] = {}
    agreement: HumanAgreement
    questions: dict[str, str] = {}
    judges: tuple[str, ...] = ()
    worth: JuryWorth | None = None
    rejected: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of_ledger(
        cls,
        ledger: Ledger,
        rubric: Rubric,
        language: str,
        *,
        since: datetime | None = None,
        judge: str = "",
        sample_only: bool = False,
        sources: Sequence[str] = (),
        policy: Policy = "full",
        max_chars: int = EXCERPT,
    ) -> "AgreementReport":
        """Measure the jury, or one judge, against people.

        Only labels count that raters gave before they saw the judges' scores. Only the random sample settles whether the
        correlation is over the bound: it is not settled where other answers count too. Labels of grounding are measured against
        the gate. An answer that was judged by other suites only is left out: its labels are on another scale.

        Args:
            language: of the criteria's names.
            since: only labels given at or after this moment.
            judge: a judge's name; "" for the jury.
            sample_only: only answers that were queued at random: those speak for all answers.
            sources: only answers of these sources and collections; () for all.
            policy, max_chars: what leaves the ledger of the questions; see `stored_text`.

        Raises:
            UserError: no judge of that name judged a labelled answer.
        """
        store, suite = ledger.labels, rubric.suite
        blind = store.current(since=since, blind=True)
        labels, by_suite = _in_scope(ledger, blind, suite, sources)
        queued = ledger.review_queue.items(list(dict.fromkeys(label.answer_id for label in labels)))
        drawn = {id for id, item in queued.items() if item.why == SAMPLE}
        others = {label.answer_id for label in labels} - drawn
        kept = [label for label in labels if label.answer_id in drawn] if sample_only else labels
        ids = list(dict.fromkeys(label.answer_id for label in kept))
        judges = store.judges_of(list(drawn | others))
        if judge and judge not in judges and labels:
            raise UserError(f"no judge {judge!r} judged a labelled answer: use one of {name_list(judges) or 'none'}")
        by_answer = (
            _one_judge(store, ids, judge, rubric)
            if judge
            else {id: scores_of_answer.get(suite, {}) for id, scores_of_answer in by_suite.items()}
        )
        scores = _by_criterion(by_answer)
        ratings, weighed = ratings_of(kept, rubric)
        originals, _ = ratings_of(kept, rubric, decided=False)
        scales = dict.fromkeys((OVERALL, *rubric.paths), (rubric.scale.min, rubric.scale.max))
        agreement = HumanAgreement.of(scores, ratings, scales, originals)
        grounding = list(dict.fromkeys(label.answer_id for label in kept if label.criterion == GROUNDING))
        if grounding and not judge:
            scales[GROUNDING] = (0.0, float(_SUPPORTED))
            agreement = _together(agreement, _gate_agreement(store, grounding, ratings, originals, scales), scales, ratings)
        if len(drawn) < len(ids):
            agreement = _unsettled(agreement)
        worst = [disagreement.item for disagreement in agreement.worst]
        answers = ledger.answers.by_id(worst)
        return cls(
            suite=suite,
            judge=judge,
            since=since,
            sample_only=sample_only,
            labelled=len(ids),
            at_random=len(drawn),
            selected=len(others),
            unblind=0 if sources else _of_raters(store.current(since=since)) - _of_raters(blind),
            weighed=weighed,
            scales=scales,
            names=rubric.labels(language) | {GROUNDING: GROUNDING_NAMES.get(language, GROUNDING_NAMES["en"])},
            agreement=agreement,
            questions={
                id: stored_text(answers[id].case.prompt_text, policy, max_chars)[:EXCERPT] for id in worst if id in answers
            },
            judges=tuple(judges),
            worth=_ledger_worth(store, [judge] if judge else judges, ids, originals, drawn, rubric),
        )


def ledger_worth(ledger: Ledger, rubric: Rubric, sources: Sequence[str] = ()) -> JuryWorth | None:
    """What the judges of labelled answers (of some sources; () for all) are worth; None without a label that counts."""
    store = ledger.labels
    labels, _ = _in_scope(ledger, store.current(blind=True), rubric.suite, sources)
    ids = list(dict.fromkeys(label.answer_id for label in labels if label.criterion != GROUNDING))
    if not ids:
        return None
    drawn = {id for id, item in ledger.review_queue.items(ids).items() if item.why == SAMPLE}
    return _ledger_worth(store, store.judges_of(ids), ids, ratings_of(labels, rubric, decided=False)[0], drawn, rubric)


def _ledger_worth(
    store: Labels, judges: Sequence[str], ids: Sequence[str], ratings: Sequence[Rating], drawn: Collection[str], rubric: Rubric
) -> JuryWorth:
    """What the judges of labelled answers are worth; those without a score on the rubric's criteria are left out."""
    scores = {judge: _by_criterion(_one_judge(store, ids, judge, rubric)) for judge in judges}
    sample = [rating for rating in ratings if rating.item in drawn]
    width = rubric.scale.max - rubric.scale.min
    return JuryWorth.of({judge: judge_scores for judge, judge_scores in scores.items() if judge_scores}, sample, ratings, width)


def _in_scope(
    ledger: Ledger, labels: Sequence[Label], suite: str, sources: Sequence[str]
) -> tuple[list[Label], dict[str, dict[str, dict[str, float]]]]:
    """The labels of sources' answers that a suite judged, or of grounding; with the scores of the answers by id and suite."""
    kept = list(labels)
    if sources:
        source_of = ledger.answers.sources(list(dict.fromkeys(label.answer_id for label in kept)))
        kept = [label for label in kept if source_of.get(label.answer_id) in sources]
    by_suite = ledger.labels.panel_scores(list(dict.fromkeys(label.answer_id for label in kept)))
    kept = [label for label in kept if label.criterion == GROUNDING or suite in by_suite.get(label.answer_id, {suite: {}})]
    return kept, by_suite


def _gate_agreement(
    store: Labels,
    ids: Sequence[str],
    ratings: Sequence[Rating],
    originals: Sequence[Rating],
    scales: Mapping[str, tuple[float, float]],
) -> HumanAgreement:
    """The gate's probability that the documents support an answer, against people's labels of it."""
    supported = {id: _SUPPORTED * (1.0 - risk) for id, risk in store.gate_risks(ids).items()}
    return HumanAgreement.of({GROUNDING: supported}, ratings, {GROUNDING: scales[GROUNDING]}, originals)


def _unsettled(agreement: HumanAgreement) -> HumanAgreement:
    """The figures without a decision on any bound: not all answers were drawn at random."""
    criteria = []
    for criterion in agreement.criteria:
        reason = criterion.claim.reason or "selected"
        claim = CorrelationClaim(bound=criterion.claim.bound, certainty=None, verdict="not_settled", needed=None, reason=reason)
        criteria.append(structs.replace(criterion, claim=claim))
    return structs.replace(agreement, criteria=tuple(criteria))


def _together(
    agreement: HumanAgreement, grounding: HumanAgreement, scales: Mapping[str, tuple[float, float]], ratings: Sequence[Rating]
) -> HumanAgreement:
    """Join figures on two scales; the largest disagreements are those by share of the scale, each answer once."""

    def share(disagreement: Disagreement) -> float:
        low, high = scales[disagreement.criterion]
        return abs(disagreement.difference) / (high - low)

    largest: dict[str, Disagreement] = {}
    for disagreement in sorted(
        (*agreement.worst, *grounding.worst), key=lambda disagreement: (-share(disagreement), disagreement.item)
    ):
        largest.setdefault(disagreement.item, disagreement)
    return HumanAgreement(
        items=len({rating.item for rating in ratings if rating.criterion in scales}),
        labels=agreement.labels + grounding.labels,
        raters=tuple(sorted({*agreement.raters, *grounding.raters})),
        criteria=(*agreement.criteria, *grounding.criteria),
        worst=tuple(largest.values())[:WORST],
    )


class RunReview(Struct, frozen=True, kw_only=True):
    """How far the jury of a run agrees with people: `report` on scores, `failures` on which answers fail."""

    report: AgreementReport
    failures: HumanFailures

    @classmethod
    def of(
        cls,
        rubric: Rubric,
        labels: Sequence[Label],
        drawn: Collection[str],
        by_answer: Mapping[str, Mapping[str, float]],
        limits: Mapping[str, float],
        first: Sequence[str],
        language: str,
        *,
        sample_only: bool,
        unblind: int = 0,
        worth: JuryWorth | None = None,
    ) -> "RunReview":
        """Measure the jury of a run against people; nothing is read.

        Args:
            labels: those that count; labels that are off the run's scale or of other criteria are left out.
            drawn: the ids of the answers of the run's random sample; `sample_only` leaves others out.
            by_answer: the jury's scores: answer -> criterion's path ("" is the overall score) -> score.
            limits: of failures, by a criterion's path; those of `first` count first.
            unblind: how many labels do not count.
        """
        scale, criteria = rubric.scale, (OVERALL, *rubric.paths)
        usable = [label for label in labels if label.criterion in criteria and scale.contains(label.score)]
        labelled = {label.answer_id for label in usable}
        sample = labelled.intersection(drawn)
        kept = [label for label in usable if label.answer_id in sample] if sample_only else usable
        ratings, weighed = ratings_of(kept, rubric)
        originals, _ = ratings_of(kept, rubric, decided=False)
        scores = _by_criterion(by_answer)
        scales = dict.fromkeys(criteria, (scale.min, scale.max))
        agreement = HumanAgreement.of(scores, ratings, scales, originals)
        if not sample_only and len(sample) < len(labelled):
            agreement = _unsettled(agreement)
        report = AgreementReport(
            suite=rubric.suite,
            sample_only=sample_only,
            labelled=len(sample if sample_only else labelled),
            at_random=len(sample),
            selected=len(labelled) - len(sample),
            unblind=unblind,
            weighed=weighed,
            names=rubric.labels(language),
            scales=scales,
            agreement=agreement,
            worth=worth,
        )
        return cls(report=report, failures=HumanFailures.of(scores, ratings, limits, scale, first))


def ratings_of(labels: Sequence[Label], rubric: Rubric, *, decided: bool = True) -> tuple[list[Rating], int]:
    """Labels as ratings, with overall scores for raters who gave all criteria but none; and how many were added.

    Args:
        decided: a label that decides between raters stands for theirs, also in overall scores that are added; else it is left
            out, and raters are compared with each other as they labelled.
    """
    deciding = {(label.answer_id, label.criterion): label.score for label in labels if label.decides} if decided else {}
    raters = [label for label in labels if not label.decides]
    kept = counted_labels(labels) if decided else raters
    ratings = [Rating(item=label.answer_id, rater=label.rater, criterion=label.criterion, score=label.score) for label in kept]
    by_rater: dict[tuple[str, str], dict[str, float]] = {}
    for label in raters:
        score = deciding.get((label.answer_id, label.criterion), label.score)
        by_rater.setdefault((label.answer_id, label.rater), {})[label.criterion] = score
    weighed: list[Rating] = []
    for (item, rater), scores in by_rater.items():
        overall = None if OVERALL in scores or (item, OVERALL) in deciding else rubric.overall(scores)
        if overall is not None:
            weighed.append(Rating(item=item, rater=rater, criterion=OVERALL, score=overall))
    return [*ratings, *weighed], len(weighed)


def _of_raters(labels: Sequence[Label]) -> int:
    return sum(not label.decides for label in labels)


def _one_judge(store: Labels, ids: Sequence[str], judge: str, rubric: Rubric) -> dict[str, dict[str, float]]:
    """One judge's scores on the suite's scale, the overall one where it scored every criterion that weighs."""
    guides, paths = rubric.guides(rubric.language), {entry.id: entry.path for entry in rubric.entries}
    passes = [judge_pass for judge_pass in store.judge_passes(ids, judge) if judge_pass.criterion in paths]
    scales = {judge_pass.criterion: guides[paths[judge_pass.criterion]].scale for judge_pass in passes}
    limits = dict.fromkeys(scales, rubric.scale.min)  # a judge's own score does not depend on them
    by_answer: dict[str, dict[str, float]] = {}
    for score in reduce_passes(passes, scales, rubric.scale, rubric.profile, limits):
        judged = [judge_score for turn in score.turns or (score,) for judge_score in turn.judges]
        scores_counted = [judge_score.score for judge_score in judged if judge_score.score is not None and not judge_score.waives]
        if scores_counted:  # of a conversation's replies the worst counts
            worst = min(scores_counted) if rubric.scale.higher_is_better else max(scores_counted)
            by_answer.setdefault(score.case_id, {})[paths[score.criterion]] = worst
    for scores in by_answer.values():
        overall = rubric.overall(scores)
        if overall is not None:
            scores[OVERALL] = overall
    return by_answer


def _by_criterion(by_answer: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    by_criterion: dict[str, dict[str, float]] = {}
    for id, scores in by_answer.items():
        for criterion, score in scores.items():
            by_criterion.setdefault(criterion, {})[id] = score
    return by_criterion
