"""How far the judges of a run agree: beyond chance, exactly, and on failures."""

from collections.abc import Collection, Mapping, Sequence
from math import isnan
from typing import Literal

import numpy as np
from msgspec import Struct

from areopage.criteria import Scale
from areopage.scoring import Ac2, Alpha, Flags, Matrix, ScoreColumns, gwet_ac2, krippendorff_alpha

GOOD, FAIR = 0.8, 0.667
"""Krippendorff's bounds for firm and for tentative conclusions."""

AgreementStanding = Literal["none", "good", "fair", "alike", "poor", "chance"]


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
    def standing(self) -> AgreementStanding:
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

    @classmethod
    def of(cls, columns: ScoreColumns, suite: Scale, limits: Mapping[str, float], first: Sequence[str]) -> "RunAgreement":
        """The agreement of a run's judges, with failures over all on the `first` criteria."""
        rated, (judge_scores, fails) = rating_table(columns, suite), _judges_failing(columns, suite, limits)
        counts, failing = (~np.isnan(judge_scores)).sum(axis=1), fails.sum(axis=1)
        failed, twice = columns.failing(limits, suite, limits), columns.cells.applies & (counts > 1)

        def failures(rows: Flags) -> FailureAgreement:
            chosen = rows & twice
            judges, against = counts[chosen], failing[chosen]
            beside = int((against * (judges - 1)).sum())
            return FailureAgreement(
                failed=int(failed[chosen].sum()),
                unanimous=int((failed[chosen] & (against == judges)).sum()),
                disputed=int(((against > 0) & (against < judges)).sum()),
                positive=int((against * (against - 1)).sum()) / beside if beside else None,
            )

        counts_first = np.array([criterion in first for criterion in columns.criteria], dtype=bool)[columns.criterion]
        return cls(
            overall=_agreement(rated, suite, failures(counts_first)),
            by_criterion={
                columns.criteria[number]: _agreement(rated[rows], suite, failures(rows))
                for number in columns.criteria_found
                if (rows := columns.criterion == number).any()
            },
        )


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

    @staticmethod
    def of_scores(
        columns: ScoreColumns, suite: Scale, limits: Mapping[str, float], first: Collection[str]
    ) -> "tuple[Dispute, ...]":
        """The disputed scores: those of criteria that count first before the others, then the widest apart."""
        judge_scores, failing = _judges_failing(columns, suite, limits)
        counts, count = (~np.isnan(judge_scores)).sum(axis=1), failing.sum(axis=1)
        disputes: list[Dispute] = []
        for row in np.flatnonzero((count > 0) & (count < counts)).tolist():
            pairs = zip(columns.judges, judge_scores[row].tolist(), strict=True)
            scored = sorted(
                ((judge, score) for judge, score in pairs if not isnan(score)),
                key=lambda pair: pair[1],
                reverse=not suite.higher_is_better,
            )
            criterion = columns.criteria[columns.criterion[row]]
            disputes.append(
                Dispute(
                    case_id=columns.cases[columns.case[row]],
                    criterion=criterion,
                    scores=dict(scored),
                    failing=tuple(judge for judge, fails in zip(columns.judges, failing[row].tolist(), strict=True) if fails),
                    spread=abs(scored[-1][1] - scored[0][1]) / (suite.max - suite.min),
                    counts_first=criterion in first,
                )
            )
        return tuple(sorted(disputes, key=lambda dispute: (not dispute.counts_first, -dispute.spread)))


def _judges_failing(columns: ScoreColumns, suite: Scale, limits: Mapping[str, float]) -> tuple[Matrix, Flags]:
    """Each judge's score where the criterion applies, NaN elsewhere, and whether it is a failure."""
    limit = np.array([limits.get(criterion, np.nan) for criterion in columns.criteria], dtype=np.float64)[columns.criterion]
    judge_scores = np.where(columns.cells.applies[:, None], columns.cells.judge_score, np.nan)
    return judge_scores, judge_scores <= limit[:, None] if suite.higher_is_better else judge_scores >= limit[:, None]


def _agreement(rated: Matrix, suite: Scale, failures: FailureAgreement) -> JuryAgreement:
    step = _step(suite)
    levels = [suite.min + number * step for number in range(round((suite.max - suite.min) / step) + 1)]
    twice = rated[(~np.isnan(rated)).sum(axis=1) > 1]
    alike = np.nanmax(twice, axis=1) == np.nanmin(twice, axis=1) if len(twice) else np.zeros(0, dtype=bool)
    return JuryAgreement(
        alpha=krippendorff_alpha(rated),
        ac2=gwet_ac2(rated, levels),
        exact=int(alike.sum()) / len(twice) if len(twice) else None,
        failures=failures,
    )


def rating_table(columns: ScoreColumns, suite: Scale) -> Matrix:
    """The judges' scores, a row per case and criterion, a column per judge by name; NaN where there is none.

    Scores are rounded to the nearest half point (on a scale of one point or less, to a tenth of it): a mean of passes is finer
    than the ordinal scale it stands for. A score off the scale, as a failed pass may count, is moved to the scale's end.
    """
    step = _step(suite)
    last = round((suite.max - suite.min) / step)
    order = sorted(range(len(columns.judges)), key=lambda judge: columns.judges[judge])
    judge_scores = np.where(columns.cells.applies[:, None], columns.cells.judge_score, np.nan)[:, order]
    rounded: Matrix = suite.min + np.clip(np.rint((judge_scores - suite.min) / step), 0, last) * step
    return rounded


def _step(suite: Scale) -> float:
    width = suite.max - suite.min
    return 0.5 if width > 1 else width / 10
