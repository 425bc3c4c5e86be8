"""What the quality report shows, gathered from the ledger; numbers stay numbers, texts are what may leave the ledger."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import msgspec
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.ledger.queries import Period, Scope
from areopage.ledger.records import Evaluation
from areopage.ledger.storage import Policy, stored_text
from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.monitor.figures import Change, CriterionFigures, Mean, PeriodFigures
from areopage.monitor.measure import criterion_labels, measure
from areopage.monitor.thresholds import thresholds_of
from areopage.suites.loader import Suite

CERTAIN_UNDER = 0.05
TREND_LINES = 5  # beside the global one: a sixth colour would tell nobody anything


class QualityReport(Struct, frozen=True, kw_only=True):
    """Args:
    figures: those of the period; the texts of the worst answers are already what `text` leaves of them.
    language: of the report.
    threshold: a single answer that is worse raises an alert; None where that rule is off.
    text: the policy by which texts left the ledger.
    silent: what people call the criteria that got no score, neither in the period nor before.
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

    @property
    def empty(self) -> bool:
        """Whether there is no score to show, not even one of a single criterion."""
        return not any(one.mean.answers for one in (self.figures.overall, *self.figures.criteria))

    @property
    def last_day(self) -> date:
        """The last day of the period."""
        return self.figures.period.end - timedelta(days=1)

    @property
    def criteria(self) -> Sequence[CriterionFigures]:
        """The criteria that have scores, in the period or before."""
        return [one for one in self.figures.criteria if one.mean.answers or one.previous.answers]

    @property
    def cost(self) -> dict[str, float]:
        """What the judges cost, by currency, where a price is known."""
        return {currency: cost for currency, cost in self.figures.cost.items() if currency}


def last_days(days: int, last: date) -> Period:
    """A period by its length and its last day."""
    return Period(start=last - timedelta(days=days - 1), end=last + timedelta(days=1))


def gather(
    ledger: Ledger,
    config: MonitorConfig,
    period: Period,
    *,
    now: datetime,
    language: str = "",
    source: str | None = None,
    variant: str | None = None,
) -> QualityReport:
    """Read everything that a report shows.

    Args:
        language: of the report; "" takes the configuration's, else the suite's own.
        source, variant: only these answers.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
        StorageError: the ledger cannot be read.
    """
    suite = config.load_suite()
    section = config.section
    spoken = language or section.language or suite.own_language
    scope = Scope(suite=suite.name, source=source, variant=variant)
    figures = measure(ledger, period, scope, suite.scale, criterion_labels(suite, spoken))
    return report_of(figures, suite, config, spoken, now)


def report_of(figures: PeriodFigures, suite: Suite, config: MonitorConfig, language: str, now: datetime) -> QualityReport:
    """Figures with what else a report says."""
    storage = config.storage
    worst = tuple(outward(score, storage.export_text, storage.max_chars) for score in figures.worst)
    return QualityReport(
        figures=msgspec.structs.replace(figures, worst=worst),
        suite=suite.name,
        suite_version=suite.config.project.version,
        scale=suite.scale,
        language=language,
        threshold=thresholds_of(config, suite.scale).answer,
        text=storage.export_text,
        silent=tuple(one.label for one in figures.criteria if not one.mean.answers and not one.previous.answers),
        made_at=now,
    )


def outward(score: Evaluation, policy: Policy, max_chars: int) -> Evaluation:
    """An answer's score with what may leave the ledger of its texts."""

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


def certain(change: Change) -> bool | None:
    """Whether a change is more than chance would make; None where there is nothing to compare."""
    return None if change.p_value is None else change.p_value < CERTAIN_UNDER


def cut_interval(mean: Mean, scale: Scale) -> tuple[float, float] | None:
    """A mean's interval as it is shown: cut at the ends of the scale."""
    if mean.low is None or mean.high is None:
        return None
    return max(mean.low, scale.min), min(mean.high, scale.max)


def band_limits(scale: Scale) -> tuple[float, float]:
    """Where the band "good" begins and ends, on the scale; the first is the greater one where lower is better."""
    start, width = (scale.min, scale.max - scale.min) if scale.higher_is_better else (scale.max, scale.min - scale.max)
    return start + 0.6 * width, start + 0.8 * width
