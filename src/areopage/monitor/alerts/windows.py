"""The rules over windows of hours: on all answers, and on each source and variant; an alert names where scores are worst.

While the alert about all answers holds, sources and variants open none of their own: its text names the worst of them. Else at
most `MOST_PARTS` of them open an alert of a rule at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct, structs

from areopage.ledger.lists import EvaluationLists
from areopage.ledger.queries import Scope
from areopage.ledger.store import Ledger
from areopage.monitor.alerts.rules import MEAN, WEAK_SHARE, Finding, finding_of, is_worse
from areopage.monitor.alerts.texts import AlertLocale, lines, listed, plain
from areopage.monitor.config import AlertsSection, MeanRule, Thresholds, WeakShareRule
from areopage.scoring.counts import Tally

MOST_PARTS = 3
WORST = 3
FEW = 5
"""A part with fewer answers is not named as the worst."""

GLOBAL = ""
IsOpen = Callable[[str, str], bool]
"""Whether a rule and subject have an open alert."""


class Part(Struct, frozen=True):
    """All answers (kind ""), or those of one source or variant; `alone`: there is no other one."""

    kind: Literal["", "source", "variant"] = ""
    name: str = ""
    alone: bool = False

    @property
    def subject(self) -> str:
        """The subject of its alerts."""
        return f"{self.kind}:{self.name}"

    @property
    def scope(self) -> Scope:
        """Its answers."""
        return Scope(source=self.name if self.kind == "source" else None, variant=self.name if self.kind == "variant" else None)

    def title(self, locale: AlertLocale) -> str:
        """What people call it."""
        return locale.line(self.kind, plain(self.name, 80) or locale.messages["no_name"])


ALL = Part()


Rule = Callable[[Part], Finding]


class Window:
    """The scores of the answers with timestamps in [since, until)."""

    def __init__(self, ledger: Ledger, since: datetime, until: datetime) -> None:
        self._ledger, self._since, self._until = ledger, since, until
        self._by_place = EvaluationLists(ledger).tallies(since, until, Scope())

    def parts(self) -> list[Part]:
        """Its sources and variants, those with most answers first."""
        found: list[Part] = []
        for at, kind in ((0, "source"), (1, "variant")):
            names = sorted({place[at] for place in self._by_place})
            found += [Part(kind, name, len(names) == 1) for name in names]  # type: ignore[arg-type]
        return sorted(found, key=lambda part: -self.tally(part).answers)

    def tally(self, part: Part = ALL, criterion: str = GLOBAL) -> Tally:
        """The scores of a part on a criterion; "" is the global one."""
        counts: dict[float, int] = {}
        for (source, variant), by_criterion in self._by_place.items():
            if part.kind and part.name != (source if part.kind == "source" else variant):
                continue
            for score, answers in by_criterion.get(criterion, {}).items():
                counts[score] = counts.get(score, 0) + answers
        return Tally(counts)

    def criteria(self) -> list[str]:
        """The criteria that have scores."""
        return sorted({criterion for found in self._by_place.values() for criterion in found} - {GLOBAL})


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
    bad = enough and is_worse(mean, limits.mean, locale.scale)
    return finding_of(MEAN, values, locale, bad=bad, clear=enough and not is_worse(mean, limits.mean_clear, locale.scale))


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
    bad = enough and share > rule.threshold
    return finding_of(WEAK_SHARE, values, locale, bad=bad, clear=enough and share <= rule.clear)


def window_findings(
    ledger: Ledger,
    section: AlertsSection,
    limits: Thresholds,
    locale: AlertLocale,
    now: datetime,
    is_open: Callable[[str, str], bool],
) -> Iterator[Finding]:
    """The findings of the rules that are switched on.

    Args:
        is_open: whether a rule and subject have an open alert.
    """
    windows: dict[float, Window] = {}

    def window(hours: float) -> Window:
        if hours not in windows:
            windows[hours] = Window(ledger, now - timedelta(hours=hours), now)
        return windows[hours]

    if section.mean.enabled:
        later = window(section.mean.hours)

        def mean(part: Part) -> Finding:
            return mean_finding(later.tally(part), section.mean, limits, locale)

        yield from _by_part(mean, later, locale, is_open)
    if section.weak_share.enabled:
        of_shares = window(section.weak_share.hours)

        def weak_share(part: Part) -> Finding:
            return weak_share_finding(of_shares.tally(part), section.weak_share, locale)

        yield from _by_part(weak_share, of_shares, locale, is_open)


def _by_part(rule: Rule, later: Window, locale: AlertLocale, is_open: IsOpen) -> Iterator[Finding]:
    whole = rule(ALL)
    yield structs.replace(whole, body=lines(whole.body, _worst(later, locale))) if whole.bad else whole
    if whole.bad:
        return
    opened = 0
    for part in later.parts():
        known = is_open(whole.rule, part.subject)
        if part.alone and not known:
            continue
        found = _of_part(rule(part), part, later, locale)
        opened += found.bad
        if known or not found.bad or opened <= MOST_PARTS:
            yield found


def _of_part(found: Finding, part: Part, later: Window, locale: AlertLocale) -> Finding:
    title, body = found.recovered
    name = part.title(locale)
    criteria = {locale.line("criterion", locale.label(path)): later.tally(part, path) for path in later.criteria()}
    worst = listed(locale.messages["where_worst"], _worst_of(criteria, locale)) if found.bad else ""
    return structs.replace(
        found,
        subject=part.subject,
        title=f"{found.title} ({name})",
        body=lines(name, found.body, worst),
        recovered=(f"{title} ({name})", lines(name, body)),
    )


def _worst(later: Window, locale: AlertLocale) -> str:
    """Where means are worst: sources and variants, and criteria."""
    places = {part.title(locale): later.tally(part) for part in later.parts() if not part.alone}
    criteria = {locale.line("criterion", locale.label(path)): later.tally(ALL, path) for path in later.criteria()}
    return listed(locale.messages["where_worst"], [*_worst_of(places, locale), *_worst_of(criteria, locale)])


def _worst_of(tallies: Mapping[str, Tally], locale: AlertLocale) -> list[str]:
    side = 1.0 if locale.scale.higher_is_better else -1.0
    ranked: list[tuple[float, str]] = []
    for title, tally in tallies.items():
        if tally.mean is None or tally.answers < FEW:
            continue
        values = {"name": title, "mean": locale.score(tally.mean), "answers": locale.whole(tally.answers)}
        ranked.append((side * tally.mean, locale.say("where_mean", **values)))
    return [text for _, text in sorted(ranked)[:WORST]]
