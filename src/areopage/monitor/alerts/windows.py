"""Rules over the answers of the last hours: their mean, their share of weak ones, and a drop of the mean.

Only answers with a score count; those without one belong to the rule about judges.
"""

from areopage.criteria.records import Scale
from areopage.monitor.alerts.rules import DROP, MEAN, WEAK_SHARE, Finding
from areopage.monitor.alerts.single import is_worse
from areopage.monitor.alerts.texts import Voice, lines
from areopage.monitor.config import DropRule, MeanRule, WeakShareRule
from areopage.monitor.thresholds import Thresholds
from areopage.scoring.counts import Tally, compare

STILL_DROPPING = 0.5
"""A drop that was alerted on is over when less than this share of the rule's points is left of it."""


def mean_finding(tally: Tally, rule: MeanRule, limits: Thresholds, voice: Voice) -> Finding:
    """The mean is bad where it is strictly worse than the threshold, and clear where it is not worse than `mean_clear`."""
    enough = tally.answers >= rule.minimum and tally.mean is not None
    mean = tally.mean or 0.0
    values = {
        "mean": voice.score(tally.mean),
        "answers": voice.whole(tally.answers),
        "hours": voice.hours(rule.hours),
        "threshold": voice.short(limits.mean),
        "clear": voice.short(limits.mean_clear),
    }
    return Finding(
        rule=MEAN,
        bad=enough and is_worse(mean, limits.mean, voice.scale),
        clear=enough and not is_worse(mean, limits.mean_clear, voice.scale),
        title=voice.say("mean_title", **values),
        body=lines(voice.say("mean_text", **values), voice.page()),
        recovered=(voice.say("mean_recovered_title", **values), lines(voice.say("mean_recovered", **values), voice.page())),
    )


def weak_share_finding(tally: Tally, rule: WeakShareRule, voice: Voice) -> Finding:
    """The share of weak answers is bad strictly over the threshold, and clear at `clear` or less."""
    weak = tally.bands(voice.scale)[2]
    enough = tally.answers >= rule.minimum
    share = weak / tally.answers if tally.answers else 0.0
    values = {
        "share": voice.percent(share),
        "weak": voice.whole(weak),
        "answers": voice.whole(tally.answers),
        "hours": voice.hours(rule.hours),
        "threshold": voice.percent(rule.threshold),
        "clear": voice.percent(rule.clear),
    }
    return Finding(
        rule=WEAK_SHARE,
        bad=enough and share > rule.threshold,
        clear=enough and share <= rule.clear,
        title=voice.say("weak_share_title", **values),
        body=lines(voice.say("weak_share_text", **values), voice.page()),
        recovered=(
            voice.say("weak_share_recovered_title", **values),
            lines(voice.say("weak_share_recovered", **values), voice.page()),
        ),
    )


def drop_finding(later: Tally, earlier: Tally, rule: DropRule, points: float, voice: Voice) -> Finding:
    """A drop of at least `points`, with p under `p_value` by Welch's test; it is over when half of the points are regained."""
    change = compare(later, earlier) if min(later.answers, earlier.answers) >= rule.minimum else None
    drop = drop_of(change.difference, voice.scale) if change is not None else 0.0
    values = {
        "mean": voice.score(later.mean),
        "answers": voice.whole(later.answers),
        "earlier": voice.score(earlier.mean),
        "before": voice.whole(earlier.answers),
        "hours": voice.hours(rule.hours),
        "difference": voice.signed(change.difference) if change else voice.number(None),
        "low": voice.signed(change.low) if change else voice.number(None),
        "high": voice.signed(change.high) if change else voice.number(None),
        "p": p_text(change.p_value, voice) if change else voice.number(None),
    }
    return Finding(
        rule=DROP,
        bad=change is not None and drop >= points and change.p_value < rule.p_value,
        clear=change is not None and drop < points * STILL_DROPPING,
        title=voice.say("drop_title", **values),
        body=lines(voice.say("drop_text", **values), voice.page()),
        recovered=(voice.say("drop_recovered_title", **values), lines(voice.say("drop_recovered", **values), voice.page())),
    )


def drop_of(difference: float, scale: Scale) -> float:
    """By how many points a mean got worse, from the difference later minus earlier; negative where it got better."""
    return -difference if scale.higher_is_better else difference


def p_text(p_value: float, voice: Voice) -> str:
    """A p-value as it is shown: three decimals, never 0."""
    smallest = 0.001
    return f"p = {voice.number(p_value, 3)}" if p_value >= smallest else f"p < {voice.number(smallest, 3)}"
