"""Data of the quality report, with exportable texts only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from areopage.bench import Trust
from areopage.criteria import Scale
from areopage.errors import UserError, name_list
from areopage.ledger import Evaluation, Ledger, Period, Scope, is_unfit
from areopage.monitor import CriterionFigures, MonitorConfig, PeriodFigures, criterion_labels
from areopage.report.monitor.calibrated import applied_to_period
from areopage.report.monitor.period_trust import period_trust
from areopage.review import Rubric, ledger_worth
from areopage.scoring import AppliedCalibration, JuryWorth
from areopage.text import Policy, stored_text
from areopage.version import __version__

SCHEMA = "areopage/quality-report/1"


class QualityFigures(Struct, frozen=True, kw_only=True):
    """The data of a quality report.

    Args:
        figures: those of the period; the texts of the worst answers are already what `text` leaves of them.
        threshold: a single answer that is worse raises an alert; None where that rule is off.
        text: the policy by which texts left the ledger.
        silent: the names of the criteria without a score, in the period and before.
        worth: what the jury is worth, over all labels of answers of any period; None without labels.
        calibration: the corrected means beside the scores, by criterion's path; None unless a calibration was named.
        trust: how far the scores can be trusted.
    """

    figures: PeriodFigures
    suite: str
    suite_version: str
    scale: Scale
    language: str
    threshold: float | None
    text: Policy
    silent: tuple[str, ...]
    made_at: datetime
    heads: tuple[str, ...] = ()
    worth: JuryWorth | None = None
    calibration: AppliedCalibration | None = None
    trust: Trust

    @property
    def empty(self) -> bool:
        """Whether no criterion has a score."""
        return not any(criterion.mean.answers for criterion in (self.figures.overall, *self.figures.criteria))

    @property
    def criteria(self) -> Sequence[CriterionFigures]:
        """The criteria with scores in this or the previous period."""
        return [criterion for criterion in self.figures.criteria if criterion.mean.answers or criterion.previous.answers]

    @property
    def quotes(self) -> bool:
        """Whether it has texts of answers."""
        return self.text != "none" and bool(self.figures.worst)

    @property
    def unfit(self) -> bool:
        """Whether scores exist and a judge is unfit."""
        return is_unfit(self.figures.qualification) and not self.empty


def period_figures(
    ledger: Ledger,
    config: MonitorConfig,
    period: Period,
    *,
    now: datetime,
    language: str = "",
    source: str | None = None,
    variant: str | None = None,
    baseline: str | None = None,
    calibration: str = "",
) -> QualityFigures:
    """Read a report's data.

    Args:
        language: of the report; "" takes the configuration's, else the suite's own.
        source, variant: only these answers.
        baseline: the variant that the others are compared with; None: the most frequent one.
        calibration: the id of the calibration whose corrected means are shown beside the scores; "" for none.

    Raises:
        UserError: the baseline has no answers, or the calibration is not known or not for this period's panel.
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
        StorageError: the ledger cannot be read.
    """
    suite = config.load_suite()
    section = config.section
    spoken = language or section.language or suite.own_language
    scope = Scope(suite=suite.name, source=source, variant=variant)
    figures = PeriodFigures.of(ledger, period, scope, suite.scale, criterion_labels(suite, spoken), baseline=baseline)
    if baseline is not None and figures.baseline != baseline:
        names = name_list([variant.variant or '""' for variant in figures.variants]) or "none"
        raise UserError(f"--baseline: no answer of the variant {baseline!r} in this period: use one of {names}")
    storage = config.storage
    sources = () if source is None else (source,)
    worth = ledger_worth(ledger, Rubric.of_suite(suite), sources)
    applied = applied_to_period(ledger, period, scope, calibration)
    worst = tuple(outward(score, storage.export_text, storage.max_chars) for score in figures.worst)
    return QualityFigures(
        figures=msgspec.structs.replace(figures, worst=worst),
        suite=suite.name,
        suite_version=suite.config.project.version,
        scale=suite.scale,
        language=spoken,
        threshold=config.thresholds(suite.scale).answer,
        text=storage.export_text,
        silent=tuple(
            criterion.label for criterion in figures.criteria if not criterion.mean.answers and not criterion.previous.answers
        ),
        made_at=now,
        heads=tuple(map(str, ledger.heads())),
        calibration=applied,
        worth=worth,
        trust=period_trust(ledger, suite, figures, spoken, worth, sources, applied),
    )


def outward(score: Evaluation, policy: Policy, max_chars: int) -> Evaluation:
    """Reduce an answer's score to its exportable texts."""

    def kept(text: str) -> str:
        return stored_text(text, policy, max_chars)

    def all_kept(texts: Sequence[str]) -> tuple[str, ...]:
        return () if policy == "none" else tuple(kept(text) for text in texts)

    return msgspec.structs.replace(
        score,
        prompt=kept(score.prompt),
        response=kept(score.response),
        feedback=kept(score.feedback),
        reason=kept(score.reason),
        strengths=all_kept(score.strengths),
        weaknesses=all_kept(score.weaknesses),
        suggestions=all_kept(score.suggestions),
    )


def json_figures(quality: QualityFigures) -> dict[str, Any]:
    """The JSON form: the figures of the period as the API gives them, and what they are about."""
    figures = quality.figures
    return {
        "schema": SCHEMA,
        "areopage": __version__,
        "made_at": quality.made_at,
        "suite": {"name": quality.suite, "version": quality.suite_version, "scale": quality.scale},
        "text": quality.text,
        "ledger_heads": quality.heads,
        "jury_worth": quality.worth,
        "calibration": quality.calibration,
        "trust": quality.trust,
        **msgspec.structs.asdict(figures),
    }
