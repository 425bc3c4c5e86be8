"""Configured thresholds on a suite's scale, with the meaning of `auto`."""

from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.monitor.config import AlertsSection, Level, MonitorConfig, MonitorSection, Points
from areopage.scoring.counts import WEAK_UNDER

ANSWER_UNDER = WEAK_UNDER
MEAN_UNDER, MEAN_CLEAR = 0.65, 0.7
"""Shares of the scale, from its bad end."""

DROP, SPREAD, GOLDEN_DROP = 0.05, 0.3, 0.05
"""Shares of the scale's width."""

DECIMALS = 9  # 60 % of a scale of 1 to 5 is 3.4, in spite of binary fractions


class Thresholds(Struct, frozen=True, kw_only=True):
    """Numbers on a suite's scale, or distances on it.

    Args:
        answer: a worse answer raises its own alert and is weak for the review queue; None: no such alert.
        mean, mean_clear: a mean that is worse opens an alert, one that is not worse than `mean_clear` closes it.
        drop: by how many points a mean has to get worse.
        golden_drop: the same of a round of golden questions.
        spread: from how many points on judges differ so much that people should look.
    """

    answer: float | None
    mean: float
    mean_clear: float
    drop: float
    golden_drop: float
    spread: float


def thresholds_of(config: MonitorConfig, scale: Scale) -> Thresholds:
    """Compute and check the thresholds of a monitor.

    Raises:
        ConfigError: one is not on the scale, so that its rule would always alert, or never.
    """
    check_thresholds(config, scale)
    return on_scale(config.section, scale)


def on_scale(section: MonitorSection, scale: Scale) -> Thresholds:
    """Compute a section's thresholds on a scale, `auto` included."""
    alerts = section.alerts
    mean = _level_of(alerts.mean.threshold, MEAN_UNDER, scale)
    return Thresholds(
        answer=None if alerts.threshold is None else _level_of(alerts.threshold, ANSWER_UNDER, scale),
        mean=mean,
        mean_clear=_clear_of(alerts, mean, scale),
        drop=_points_of(alerts.drop.points, DROP, scale),
        golden_drop=_points_of("auto" if section.golden is None else section.golden.drop, GOLDEN_DROP, scale),
        spread=_points_of(section.review.spread, SPREAD, scale),
    )


def _clear_of(alerts: AlertsSection, mean: float, scale: Scale) -> float:
    """Where the alert of a mean closes; `auto` is never worse than where it opens."""
    clear = _level_of(alerts.mean.clear, MEAN_CLEAR, scale)
    if alerts.mean.clear != "auto":
        return clear
    return max(mean, clear) if scale.higher_is_better else min(mean, clear)


def _level_of(level: Level, share: float, scale: Scale) -> float:
    """A score; `auto` is a share of the scale from its bad end, which is the upper one where lower is better."""
    if level != "auto":
        return level
    way = share * (scale.max - scale.min)
    return round(scale.min + way if scale.higher_is_better else scale.max - way, DECIMALS)


def _points_of(points: Points, share: float, scale: Scale) -> float:
    """A distance; `auto` is a share of the scale's width."""
    return round(share * (scale.max - scale.min), DECIMALS) if points == "auto" else points


def check_thresholds(config: MonitorConfig, scale: Scale) -> None:
    """Check that some score can pass every threshold in use.

    Raises:
        ConfigError: the first that cannot, at its line.
    """
    alerts, golden, width = config.section.alerts, config.section.golden, scale.max - scale.min
    span = f"the suite's scale of {scale.min:g} to {scale.max:g}"
    levels: list[tuple[Level | None, tuple[str, ...]]] = [(alerts.threshold, ("alerts", "threshold"))]
    if alerts.mean.enabled:
        levels += [(alerts.mean.threshold, ("alerts", "mean", "threshold")), (alerts.mean.clear, ("alerts", "mean", "clear"))]
    for level, keys in levels:
        if isinstance(level, int | float) and not scale.contains(level):
            raise config.fault(f"{level:g} is not on {span}: give a score on it, or auto", *keys)
    distances: list[tuple[Points, tuple[str, ...]]] = [(config.section.review.spread, ("review", "spread"))]
    if alerts.drop.enabled:
        distances.append((alerts.drop.points, ("alerts", "drop", "points")))
    if golden is not None:
        distances.append((golden.drop, ("golden", "drop")))
    for points, keys in distances:
        if isinstance(points, int | float) and points > width:
            raise config.fault(f"{points:g} points are more than {span} has: give at most {width:g}, or auto", *keys)
