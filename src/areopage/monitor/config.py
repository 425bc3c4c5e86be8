"""The section `monitor` of `areopage.yml`: what is judged, by which judges, where alerts go, and the thresholds on a scale."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import Discriminator, Field, Tag

from areopage.criteria import Scale
from areopage.scoring import WEAK_UNDER, critical_floor
from areopage.suites import ConfigPart, ConfigSection, Count, Seconds, Share, Suite, load_suite

Delivery = Literal["pending", "none"]
"""Whether an alert is sent."""

# the tags end in a bracket, as those parts of a key do that stand in no file
Auto = Annotated[Literal["auto"], Tag("[auto]")]

ANSWER_UNDER = WEAK_UNDER
FLOOR = 0.1
MEAN_UNDER, MEAN_CLEAR = 0.65, 0.7
"""Shares of the scale, from its bad end."""

DROP, SPREAD, GOLDEN_DROP = 0.02, 0.3, 0.05
"""Shares of the scale's width."""

DECIMALS = 9  # 60 % of a scale of 1 to 5 is 3.4, in spite of binary fractions


def _form_of(value: object) -> str | None:
    """Which of both forms of a threshold a value has; None: neither."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "[number]"
    return "[auto]" if value == "auto" else None


_Form = Discriminator(_form_of, custom_error_type="threshold", custom_error_message="must be a number or auto")
ScoreThreshold = Annotated[Annotated[float, Tag("[number]")] | Auto, _Form]
"""A score on the suite's scale; `auto` is worked out from the scale (see `on_scale`)."""

ScoreDistance = Annotated[Annotated[float, Field(gt=0), Tag("[number]")] | Auto, _Form]
"""A distance on the suite's scale, or `auto`."""


class ContextSection(ConfigSection):
    """How much of the documents a judge sees: whole chunks in their order, as long as they fit.

    `max_tokens` is the budget; `max_chunks` and `max_chars` (per chunk, the rest is cut) reproduce the specification's 3 and 200.
    """

    max_tokens: Count = 12_000
    max_chunks: Count | None = None
    max_chars: Count | None = None


class RateLimitSection(ConfigSection):
    """At most `answers` are begun in `seconds`, over all workers."""

    answers: Count
    seconds: Seconds


class WorkerSection(ConfigSection):
    """The pace of workers. `concurrency` is per process; an answer is given up after `attempts`.

    The pause before attempt n + 1 is `pause` · 2^(n − 1) seconds, at most `longest_pause`. A worker silent for `dead_after`
    seconds is taken over.
    """

    concurrency: Annotated[int, Field(ge=1, le=1024)] = 16
    rate_limit: RateLimitSection | None = None
    attempts: Count = 20
    pause: Seconds = 30.0
    longest_pause: Seconds = 7200.0
    dead_after: Annotated[float, Field(ge=5)] = 30.0


class WindowRule(ConfigSection):
    """A rule over the answers of the last `hours`: the alert opens at `threshold` and closes past `clear`. It needs
    `minimum` answers."""

    enabled: bool = True
    hours: Seconds = 24.0
    minimum: Count = 20


class MeanRule(WindowRule):
    """The mean of the last hours, on the suite's scale."""

    threshold: ScoreThreshold = "auto"
    clear: ScoreThreshold = "auto"


class WeakShareRule(WindowRule):
    """The share of weak answers in the last hours."""

    threshold: Share = 0.25
    clear: Share = 0.15


class DropRule(ConfigSection):
    """A fall of quality against the 7 to 28 days before, by source and criterion, of at least `points`.

    A day on which a source has fewer than `minimum` answers is not compared.
    """

    enabled: bool = True
    points: ScoreDistance = "auto"
    minimum: Annotated[int, Field(ge=5)] = 10


class JudgeRule(ConfigSection):
    """The share of a judge's failed judgments over the last `hours`."""

    enabled: bool = True
    hours: Seconds = 1.0
    failed_share: Share = 0.2
    clear: Share = 0.1
    minimum: Count = 20


class QueueRule(ConfigSection):
    """The wait of the oldest answer in the queue: over `minutes` is too long; under half of that clears the alert."""

    enabled: bool = True
    minutes: Seconds = 15.0


class SilenceRule(ConfigSection):
    """A source that sends no answers: for longer than `hours` and its longest pause, in whole days, of the last `days`.

    Sources with answers on fewer than `minimum_days` of these days are not expected to go on.
    """

    enabled: bool = True
    hours: Seconds = 24.0
    days: Annotated[int, Field(ge=2, le=366)] = 28
    minimum_days: Annotated[int, Field(ge=2, le=366)] = 5


class AlertsSection(ConfigSection):
    """Which alerts are raised, and where they go. Each of `urls` is an Apprise URL, or `env:NAME` for an environment variable.

    `threshold` is that of a single answer (worse than it), on the suite's scale; None switches the rule off. `floor` is that of
    a criterion (at it, or worse), for any global score; `floors` replaces it by criterion. `link` is the address of the
    live page, for the links in alerts.
    """

    urls: list[str] = []
    link: str = ""
    threshold: ScoreThreshold | None = "auto"
    floor: ScoreThreshold | None = "auto"
    floors: dict[str, ScoreThreshold | None] = {}
    per_hour: Count = 20
    mean: MeanRule = MeanRule()
    weak_share: WeakShareRule = WeakShareRule()
    drop: DropRule = DropRule()
    judge: JudgeRule = JudgeRule()
    queue: QueueRule = QueueRule()
    silence: SilenceRule = SilenceRule()

    @property
    def delivery(self) -> Delivery:
        """Whether alerts are sent: addresses are configured."""
        return "pending" if self.urls else "none"


class GoldenSection(ConfigSection):
    """Golden questions: the live bot answers a dataset on a schedule (cron, UTC); rounds are compared."""

    dataset: str
    target: str = "http:bot"
    schedule: str = "0 5 * * *"
    drop: ScoreDistance = "auto"


class ReportSection(ConfigSection):
    """The scheduled report (cron, UTC)."""

    schedule: str = "0 6 * * *"
    days: Annotated[int, Field(ge=1, le=366)] = 7
    folder: str = "reports"
    formats: list[Literal["html", "md", "json"]] = ["html"]
    enabled: bool = True


class ReviewSection(ConfigSection):
    """What a daily job puts into the review queue: answers that are worse than the threshold of alerts, those on which judges
    differ by at least `spread` points, and a random `sample`. `raters` is how many people should label each."""

    low_scores: bool = True
    spread: ScoreDistance = "auto"
    sample: Annotated[int, Field(ge=0)] = 5
    raters: Count = 1


class MonitorThresholds(Struct, frozen=True, kw_only=True):
    """Numbers on a suite's scale, or distances on it.

    Args:
        answer: a worse answer raises its own alert and is weak for the review queue; None: no such alert.
        mean, mean_clear: a mean that is worse opens an alert, one that is not worse than `mean_clear` closes it.
        drop: the least fall of a mean that counts, in points.
        golden_drop: the same of a round of golden questions.
        spread: from how many points on judges differ so much that people should look.
    """

    answer: float | None
    mean: float
    mean_clear: float
    drop: float
    golden_drop: float
    spread: float


class MonitorSection(ConfigSection):
    """The section `monitor`. `judges` are names of judges of the file or the suite, or references; empty: all of the suite.

    `only_qualified` refuses judges that have not passed `areopage qualify` on their criteria: the worker does not start.
    `oldest_days`: how many days before today an answer may be dated that a key with the role `ingest` submits; None: any.
    """

    suite: str = "answer_quality"
    language: str = ""
    judges: list[str] = []
    only_qualified: bool = False
    joint: bool = True
    context: ContextSection = ContextSection()
    sampling: Share = 1.0
    oldest_days: Count | None = 31
    spool: str = ""
    worker: WorkerSection = WorkerSection()
    alerts: AlertsSection = AlertsSection()
    golden: GoldenSection | None = None
    report: ReportSection = ReportSection()
    review: ReviewSection = ReviewSection()

    def thresholds(self, scale: Scale) -> MonitorThresholds:
        """Compute a section's thresholds on a scale, `auto` included."""
        alerts = self.alerts
        mean, clear = _level_of(alerts.mean.threshold, MEAN_UNDER, scale), _level_of(alerts.mean.clear, MEAN_CLEAR, scale)
        if alerts.mean.clear == "auto":  # never worse than where the alert opens
            clear = max(mean, clear) if scale.higher_is_better else min(mean, clear)
        return MonitorThresholds(
            answer=None if alerts.threshold is None else _level_of(alerts.threshold, ANSWER_UNDER, scale),
            mean=mean,
            mean_clear=clear,
            drop=_points_of(alerts.drop.points, DROP, scale),
            golden_drop=_points_of("auto" if self.golden is None else self.golden.drop, GOLDEN_DROP, scale),
            spread=_points_of(self.review.spread, SPREAD, scale),
        )


class MonitorConfig(ConfigPart[MonitorSection], frozen=True, kw_only=True):
    """A monitor's configuration."""

    KEYS = ("monitor",)

    @property
    def spool(self) -> Path:
        """The folder of the spool; by default `spool` beside a SQLite ledger, or in the configuration's folder."""
        if self.section.spool:
            return self.path(self.section.spool)
        return (self.folder if "://" in self.ledger else Path(self.ledger).parent) / "spool"

    def load_suite(self) -> Suite:
        """The suite, with the endpoints, bots and judges of the file.

        Raises:
            ConfigError: it cannot be loaded.
        """
        suite = self.section.suite
        folder = self.path(suite)
        return load_suite(str(folder) if folder.is_dir() or "/" in suite else suite).with_shared(self.shared)

    def judges(self, suite: Suite) -> list[str]:
        """The judges of the section, else those of the suite."""
        return self.section.judges or [name for name in suite.config.judge_system.judges if name not in self.shared.judges]

    def thresholds(self, scale: Scale) -> MonitorThresholds:
        """Compute the thresholds of a monitor.

        Raises:
            ConfigError: one is not on the scale, so that its rule would always alert, or never.
        """
        alerts, golden, width = self.section.alerts, self.section.golden, scale.max - scale.min
        span = f"the suite's scale of {scale.min:g} to {scale.max:g}"
        levels: list[tuple[ScoreThreshold | None, tuple[str, ...]]] = [(alerts.threshold, ("alerts", "threshold"))]
        if alerts.mean.enabled:
            levels += [(alerts.mean.threshold, ("alerts", "mean", "threshold")), (alerts.mean.clear, ("alerts", "mean", "clear"))]
        for level, keys in levels:
            if isinstance(level, int | float) and not scale.contains(level):
                raise self.fault(f"{level:g} is not on {span}: give a score on it, or auto", *keys)
        distances: list[tuple[ScoreDistance, tuple[str, ...]]] = [(self.section.review.spread, ("review", "spread"))]
        if alerts.drop.enabled:
            distances.append((alerts.drop.points, ("alerts", "drop", "points")))
        if golden is not None:
            distances.append((golden.drop, ("golden", "drop")))
        for points, keys in distances:
            if isinstance(points, int | float) and points > width:
                raise self.fault(f"{points:g} points are more than {span} has: give at most {width:g}, or auto", *keys)
        return self.section.thresholds(scale)

    def floors(self, suite: Suite) -> dict[str, float]:
        """The floors of a suite's criteria by path, without those that are switched off.

        `auto` follows the severity of a criterion in the suite's registry, else it is a share of the scale.

        Raises:
            ConfigError: a floor is not on the scale, or of no criterion of the suite.
        """
        alerts, scale = self.section.alerts, suite.scale
        paths = {entry.path: entry.path for entry in suite.registry.entries.values()}
        by_name = {path.rpartition(".")[2]: path for path in paths} | paths
        levels: dict[str, ScoreThreshold | None] = dict.fromkeys(paths, alerts.floor)
        if alerts.floor == "auto":
            entries = suite.registry.entries.values()
            floors = {entry.path: critical_floor(entry.severity, entry.critical_limit, scale) for entry in entries}
            levels |= {path: floor for path, floor in floors.items() if floor is not None}
        for name, level in alerts.floors.items():
            if name not in by_name:
                raise self.fault(
                    f"the suite has no criterion {name!r}: use one of {', '.join(by_name)}", "alerts", "floors", name
                )
            levels[by_name[name]] = level
        for level in levels.values():
            if isinstance(level, int | float) and not scale.contains(level):
                raise self.fault(f"{level:g} is not on the suite's scale of {scale.min:g} to {scale.max:g}", "alerts", "floors")
        return {path: _level_of(level, FLOOR, scale) for path, level in levels.items() if level is not None}


def _level_of(level: ScoreThreshold, share: float, scale: Scale) -> float:
    """A score; `auto` is a share of the scale from its bad end, which is the upper one where lower is better."""
    if level != "auto":
        return level
    way = share * (scale.max - scale.min)
    return round(scale.min + way if scale.higher_is_better else scale.max - way, DECIMALS)


def _points_of(points: ScoreDistance, share: float, scale: Scale) -> float:
    return round(share * (scale.max - scale.min), DECIMALS) if points == "auto" else points
