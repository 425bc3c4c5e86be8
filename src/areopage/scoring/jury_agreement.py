"""How far the judges of a run agree: beyond chance, exactly, and on failures."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.scoring.chance_agreement import Ac2, Alpha, gwet_ac2, krippendorff_alpha
from areopage.scoring.reduce import CriterionScore

GOOD, FAIR = 0.8, 0.667
"""Krippendorff's bounds for firm and for tentative conclusions."""

Standing = Literal["none", "good", "fair", "alike", "poor", "chance"]


class FailureAgreement(Struct, frozen=True, kw_only=True):
    """How far judges agree on which cases fail a criterion; counts are pairs of case and criterion that two judges scored.

    Args:
        failed: the score is a failure.
        unanimous: of these, where each judge's own score is a failure.
        disputed: some judges' own scores are failures and others are not.
        positive: positive agreement: if one judge's score is a failure, the chance that another judge's is one too; None
            where no judge's score is a failure. Source: D. V. Cicchetti, A. R. Feinstein, "High agreement but low kappa: II"
            (Journal of Clinical Epidemiology 43, 1990), over all pairs of judges.
    """

    failed: int
    unanimous: int
    disputed: int
    positive: float | None


class JuryAgreement(Struct, frozen=True, kw_only=True):
    """The agreement of judges on a set of scores.

    Args:
        exact: the share of the pairs of case and criterion with two scores or more to which all judges gave the same score;
            None without any.
    """

    alpha: Alpha
    ac2: Ac2
    exact: float | None
    failures: FailureAgreement

    @property
    def standing(self) -> Standing:
        """What the coefficients say together.

        `alike`: α is low or not defined because the scores hardly differ, and by AC2 the judges agree. `chance`: both
        coefficients say that they agree no better than chance. `none`: no two judges scored the same answers.
        """
        alpha, ac2 = self.alpha, self.ac2
        if ac2.ac2 is None:
            return "none"
        if alpha.alpha is not None and alpha.alpha >= FAIR:
            return "good" if alpha.alpha >= GOOD else "fair"
        if ac2.ac2 >= FAIR:
            return "alike"
        by_chance = (alpha.alpha or 0.0) <= 0 or (alpha.low is not None and alpha.low <= 0)
        return "chance" if by_chance and (ac2.ac2 <= 0 or (ac2.low is not None and ac2.low <= 0)) else "poor"


class RunAgreement(Struct, frozen=True, kw_only=True):
    """The agreement over all scores of a run, with failures on the criteria that count first, and by a criterion's id."""

    overall: JuryAgreement
    by_criterion: dict[str, JuryAgreement]


class Dispute(Struct, frozen=True, kw_only=True):
    """A score on which judges disagree whether it is a failure.

    Args:
        scores: each judge's own, on the run's scale, the worst first.
        failing: the judges whose scores are failures.
        spread: the distance of the best and the worst score, as a share of the scale.
        counts_first: the criterion belongs to the categories whose failures count first.
    """

    case_id: str
    criterion: str
    scores: dict[str, float]
    failing: tuple[str, ...]
    spread: float
    counts_first: bool


def disputed_scores(
    scores: Iterable[CriterionScore], suite: Scale, limits: Mapping[str, float], first: Collection[str]
) -> tuple[Dispute, ...]:
    """The disputed scores: those of criteria that count first before the others, then the widest apart.

    Args:
        limits: of failures, by a criterion's id.
        first: the ids of the criteria whose failures count first.
    """
    found: list[Dispute] = []
    for score in scores:
        own = {judge.judge: judge.score for judge in score.judges if judge.score is not None} if score.applies else {}
        failing = tuple(judge for judge, value in own.items() if suite.reaches(value, limits[score.criterion]))
        if not 0 < len(failing) < len(own):
            continue
        worst_first = sorted(own.items(), key=lambda pair: pair[1], reverse=not suite.higher_is_better)
        found.append(
            Dispute(
                case_id=score.case_id,
                criterion=score.criterion,
                scores=dict(worst_first),
                failing=failing,
                spread=(max(own.values()) - min(own.values())) / (suite.max - suite.min),
                counts_first=score.criterion in first,
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.counts_first, -one.spread)))


def run_agreement(
    scores: Sequence[CriterionScore], suite: Scale, limits: Mapping[str, float], first: Sequence[str]
) -> RunAgreement:
    """The agreement of a run's judges.

    Args:
        limits: of failures, by a criterion's id.
        first: the ids of the criteria whose failures are counted over all.
    """
    by_criterion: dict[str, list[CriterionScore]] = {}
    for score in scores:
        by_criterion.setdefault(score.criterion, []).append(score)
    counted = [score for score in scores if score.criterion in first]
    return RunAgreement(
        overall=_agreement(scores, suite, agreement_on_failures(counted, suite, limits)),
        by_criterion={
            id: _agreement(found, suite, agreement_on_failures(found, suite, limits)) for id, found in by_criterion.items()
        },
    )


def _agreement(scores: Sequence[CriterionScore], suite: Scale, failures: FailureAgreement) -> JuryAgreement:
    rated, step = rating_table(scores, suite), _step(suite)
    levels = [suite.min + number * step for number in range(round((suite.max - suite.min) / step) + 1)]
    given = [[value for value in row if value is not None] for row in rated]
    twice = [set(row) for row in given if len(row) > 1]
    return JuryAgreement(
        alpha=krippendorff_alpha(rated),
        ac2=gwet_ac2(rated, levels),
        exact=sum(len(row) == 1 for row in twice) / len(twice) if twice else None,
        failures=failures,
    )


def rating_table(scores: Sequence[CriterionScore], suite: Scale) -> list[list[float | None]]:
    """The judges' scores, a row per case and criterion, a column per judge.

    Scores are rounded to the nearest half point (on a scale of one point or less, to a tenth of it): a mean of passes is finer
    than the ordinal scale it stands for. A score off the scale, as a failed pass may count, is moved to the scale's end.
    """
    step, last = _step(suite), round((suite.max - suite.min) / _step(suite))
    judges = sorted({judge.judge for score in scores for judge in score.judges})

    def level(score: float | None) -> float | None:
        return None if score is None else suite.min + min(last, max(0, round((score - suite.min) / step))) * step

    rows: list[list[float | None]] = []
    for score in scores:
        by_judge = {judge.judge: judge.score for judge in score.judges} if score.applies else {}
        rows.append([level(by_judge.get(judge)) for judge in judges])
    return rows


def agreement_on_failures(scores: Sequence[CriterionScore], suite: Scale, limits: Mapping[str, float]) -> FailureAgreement:
    """How far judges agree on which cases fail."""
    failed = unanimous = disputed = failing_pairs = failing_beside = 0
    for score in scores:
        own = [suite.reaches(judge.score, limits[score.criterion]) for judge in score.judges if judge.score is not None]
        if len(own) < 2 or not score.applies:
            continue
        failing = sum(own)
        failing_pairs += failing * (failing - 1)
        failing_beside += failing * (len(own) - 1)
        disputed += 0 < failing < len(own)
        if score.score is not None and suite.reaches(score.score, limits[score.criterion]):
            failed += 1
            unanimous += failing == len(own)
    positive = failing_pairs / failing_beside if failing_beside else None
    return FailureAgreement(failed=failed, unanimous=unanimous, disputed=disputed, positive=positive)


def _step(suite: Scale) -> float:
    width = suite.max - suite.min
    return 0.5 if width > 1 else width / 10
