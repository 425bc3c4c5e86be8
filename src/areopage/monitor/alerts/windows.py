"""Rules over the last hours: mean, share of weak answers, drop of the mean.

Only answers with a score count; those without one belong to the rule about judges.
"""

from areopage.criteria.records import Scale
from areopage.monitor.alerts.rules import DROP, MEAN, WEAK_SHARE, Finding
from areopage.monitor.alerts.single import is_worse
from areopage.monitor.alerts.texts import AlertLocale, lines
from areopage.monitor.config import DropRule, MeanRule, WeakShareRule
from areopage.monitor.thresholds import Thresholds
from areopage.scoring.counts import Tally, compare

STILL_DROPPING = 0.5
"""A drop that was alerted on is over when less than this share of the rule's points is left of it."""


def mean_finding(tally: Tally, rule: MeanRule, limits: Thresholds, locale: AlertLocale) -> Finding:
    """Bad if the mean is worse than the threshold; clear at `mean_clear`."""
    enough = tally.answers >= rule.minimum and tally.mean is not None
    mean = tally.mean or 0.0
    values = {
        "mean": locale.score(tally.mean),
        "answers": locale.whole(tally.answers),
        "hours": locale.hours(rule.hours),
        "threshold": locale.short(limits.mean),
        "clear": locale.short(limits.mean_clear),
    }
    return Finding(
        rule=MEAN,
        bad=enough and is_worse(mean, limits.mean, locale.scale),
        clear=enough and not is_worse(mean, limits.mean_clear, locale.scale),
        title=locale.say("mean_title", **values),
        body=lines(locale.say("mean_text", **values), locale.page()),
        recovered=(locale.say("mean_recovered_title", **values), lines(locale.say("mean_recovered", **values), locale.page())),
    )


def weak_share_finding(tally: Tally, rule: WeakShareRule, locale: AlertLocale) -> Finding:
    """Bad strictly over the threshold, clear at `clear` or less."""
    weak = tally.grades(locale.scale)[2]
    enough = tally.answers >= rule.minimum
    share = weak / tally.answers if tally.answers else 0.0
    values = {
        "share": locale.percent(share, trim=True),
        "weak": locale.whole(weak),
        "answers": locale.whole(tally.answers),
        "hours": locale.hours(rule.hours),
        "threshold": locale.percent(rule.threshold, trim=True),
        "clear": locale.percent(rule.clear, trim=True),
    }
    return Finding(
        rule=WEAK_SHARE,
        bad=enough and share > rule.threshold,
        clear=enough and share <= rule.clear,
        title=locale.say("weak_share_title", **values),
        body=lines(locale.say("weak_share_text", **values), locale.page()),
        recovered=(
            locale.say("weak_share_recovered_title", **values),
            lines(locale.say("weak_share_recovered", **values), locale.page()),
        ),
    )


def drop_finding(later: Tally, earlier: Tally, rule: DropRule, points: float, locale: AlertLocale) -> Finding:
    """Bad for a significant drop of at least `points`; clear at half of it.

    Significant means p under `p_value` by Welch's test.
    """
    change = compare(later, earlier) if min(later.answers, earlier.answers) >= rule.minimum else None
    drop = _drop_of(change.difference, locale.scale) if change is not None else 0.0
    values = {
        "mean": locale.score(later.mean),
        "answers": locale.whole(later.answers),
        "earlier": locale.score(earlier.mean),
        "before": locale.whole(earlier.answers),
        "hours": locale.hours(rule.hours),
        "difference": locale.signed(change.difference) if change else locale.number(None),
        "low": locale.signed(change.low) if change else locale.number(None),
        "high": locale.signed(change.high) if change else locale.number(None),
        "p": _p_text(change.p_value, locale) if change else locale.number(None),
    }
    return Finding(
        rule=DROP,
        bad=change is not None and drop >= points and change.p_value < rule.p_value,
        clear=change is not None and drop < points * STILL_DROPPING,
        title=locale.say("drop_title", **values),
        body=lines(locale.say("drop_text", **values), locale.page()),
        recovered=(locale.say("drop_recovered_title", **values), lines(locale.say("drop_recovered", **values), locale.page())),
    )


def _drop_of(difference: float, scale: Scale) -> float:
    """By how many points a mean got worse, from the difference later minus earlier; negative where it got better."""
    return -difference if scale.higher_is_better else difference


def _p_text(p_value: float, locale: AlertLocale) -> str:
    """A p-value as it is shown: three decimals, never 0."""
    smallest = 0.001
    return f"p = {locale.number(p_value, 3)}" if p_value >= smallest else f"p < {locale.number(smallest, 3)}"
