"""The overview: a period's figures, the current state, and the charts."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta

import msgspec
from markupsafe import Markup
from msgspec import Struct
from starlette.requests import Request

from areopage.criteria import Scale
from areopage.ledger import Backlog, Filters, Period, last_days
from areopage.locales import Locale
from areopage.monitor import DayFigures, PeriodFigures
from areopage.report import ChartLevel, TrendChart, daily_series, draw
from areopage.server.access import Actor
from areopage.server.api.figures import figures_for
from areopage.server.context import context_of
from areopage.server.pages.filters import Chosen

SHORTEST_TREND = 7


class Overview(Struct, frozen=True, kw_only=True):
    """Args:
    figures: of the chosen period.
    trend: the days of the same, or more days up to its end where it has too few for a line.
    qualification: that of the judges of the newest answer in the trend.
    waits: minutes that the oldest answer of the queue has waited; None where none waits.
    open_alerts, undelivered: number of open alerts; number of these whose delivery fails.
    alive, silent: workers with a recent heartbeat, and workers whose heartbeat is late.
    sources, variants: all stored ones in the reader's scope.
    """

    figures: PeriodFigures
    trend: tuple[DayFigures, ...]
    qualification: str
    backlog: Backlog
    waits: int | None
    open_alerts: int
    undelivered: int
    alive: int
    silent: int
    sources: tuple[str, ...]
    variants: tuple[str, ...]

    @property
    def fresh(self) -> bool:
        """Whether the ledger has no submitted answer."""
        return not (self.sources or self.backlog.waiting or self.backlog.failed or self.figures.lost_answers)

    @property
    def digest(self) -> str:
        """A digest of everything shown."""
        return hashlib.sha256(msgspec.msgpack.encode(self)).hexdigest()[:16]


def overview_of(request: Request, asked: Chosen, labels: Mapping[str, str], reader: Actor, *, live: bool = False) -> Overview:
    """Read all data in the reader's scope; each part reads few rows."""
    context = context_of(request)
    now, ledger, suite = context.now(), context.ledger, context.suite
    period = asked.period or last_days(1, now.date())
    scope = asked.scope(suite.name)
    measured = PeriodFigures.of(ledger, period, scope, suite.scale, labels, baseline=asked.baseline)
    figures = figures_for(request, reader, measured, live=live)
    long = period.days >= SHORTEST_TREND
    longer = period if long else Period(start=period.end - timedelta(days=SHORTEST_TREND), end=period.end)
    newest = Filters(period=longer, source=asked.source, variant=asked.variant)
    backlog = ledger.evaluations.backlog(reader.collections)
    waited = backlog.waited(now)
    alerts = ledger.alerts
    workers = ledger.workers.list()
    dead_after = context.config.monitor.section.worker.dead_after
    lists = ledger.lists
    return Overview(
        figures=figures,
        trend=figures.days if long else DayFigures.of_period(ledger, longer, scope, suite.scale),
        qualification=next((evaluation.qualification for evaluation in lists.page(newest, limit=1)), ""),
        backlog=backlog,
        waits=None if waited is None else int(waited // 60),
        open_alerts=sum(alerts.counts(sources=reader.collections).values()),
        undelivered=alerts.count_undelivered(reader.collections),
        alive=sum(worker.state_at(now, dead_after) == "alive" for worker in workers),
        silent=sum(worker.state_at(now, dead_after) == "silent" for worker in workers),
        sources=tuple(filter(reader.may_see, lists.sources())),
        variants=tuple(lists.variants(reader.collections)),
    )


class CriterionTrend(Struct, frozen=True, kw_only=True):
    """One criterion's chart; `criterion` "" is the global score."""

    criterion: str
    label: str
    chart: Markup


def trends_of(
    shown: Sequence[DayFigures], figures: PeriodFigures, scale: Scale, threshold: float | None, locale: Locale
) -> list[CriterionTrend]:
    """A chart for the global score and one for each criterion, on the same axis; none where no day has a score."""
    if not any(day.means for day in shown):
        return []
    named = [
        ("", locale.say("global_score"), "c0"),
        *((criterion.criterion, criterion.label, "c1") for criterion in figures.criteria),
    ]
    trends = []
    for criterion, label, css in named:
        chart = TrendChart(
            title=locale.say("trend_title", name=label),
            days=tuple(locale.short_date(day.day) for day in shown),
            series=(daily_series(shown, criterion, label, css, locale),),
            low=scale.min,
            high=scale.max,
            levels=(ChartLevel(value=threshold, label=""),) if threshold is not None and not criterion else (),
        )
        trends.append(CriterionTrend(criterion=criterion, label=label, chart=draw(chart, locale)))
    return trends
