"""The rules over windows of hours: on all answers, and on each source and variant; an alert names where scores are worst.

While all answers together are bad, a source or variant opens an alert only if the answers without it are fine: then it explains
the others. Else at most `MOST_PARTS` of them open an alert of a rule at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import structs

from areopage.criteria import Scale
from areopage.ledger import Ledger, Scope
from areopage.monitor.alerts.rules import MEAN, WEAK_SHARE, AnswerPlace, Finding, finding_of, hour_of, is_worse
from areopage.monitor.alerts.texts import AlertLocale, lines, listed, plain
from areopage.monitor.config import AlertsSection, MeanRule, MonitorThresholds, WeakShareRule
from areopage.scoring import ScoreTally, grade_of

MOST_PARTS = 3
WORST = 3
FEW = 5
"""A part with fewer answers is not named as the worst."""
EXAMPLES = 200
"""An example is the worst of this number of newest answers."""

GLOBAL = ""
EVERYWHERE = AnswerPlace()

Rule = Callable[[ScoreTally, bool], Finding]
"""The finding on some scores; the second argument: however few they are."""


class AnswerWindow:
    """The scores of the answers with timestamps in [since, until)."""

    def __init__(self, ledger: Ledger, since: datetime, until: datetime) -> None:
        self._ledger, self._since, self._until = ledger, since, until
        self._by_place = ledger.lists.tallies(since, until, Scope())

    def parts(self) -> list[AnswerPlace]:
        """Its sources and variants, those with most answers first."""
        sources = [AnswerPlace(source=name) for name in sorted({source for source, _ in self._by_place})]
        variants = [AnswerPlace(variant=name) for name in sorted({variant for _, variant in self._by_place})]
        return sorted([*sources, *variants], key=lambda part: -self.tally(part).answers)

    def is_alone(self, part: AnswerPlace) -> bool:
        """Whether there is no other source, or no other variant, than that of a part."""
        return all(part.covers(AnswerPlace(source, variant)) for source, variant in self._by_place)

    def is_open(self, rule: str, subject: str) -> bool:
        """Whether a rule and subject have an open alert."""
        return self._ledger.alerts.is_open(rule, subject)

    def places(self, within: AnswerPlace) -> list[AnswerPlace]:
        """The places inside a place, those with fewest answers first: each source with each variant, sources, variants."""
        cells = [AnswerPlace(source, variant) for source, variant in self._by_place]
        places = [
            *cells,
            *dict.fromkeys(AnswerPlace(cell.source) for cell in cells),
            *dict.fromkeys(AnswerPlace(None, cell.variant) for cell in cells),
        ]
        inside = [place for place in places if within.covers(place)]
        return sorted(inside, key=lambda place: self.tally(place).answers)

    def tally(self, place: AnswerPlace = EVERYWHERE, criterion: str = GLOBAL, without: Sequence[AnswerPlace] = ()) -> ScoreTally:
        """The scores of a place on a criterion, "" is the global one; without those of some places."""
        counts: dict[float, int] = {}
        for (source, variant), by_criterion in self._by_place.items():
            cell = AnswerPlace(source, variant)
            if not place.covers(cell) or any(place.covers(cell) for place in without):
                continue
            for score, answers in by_criterion.get(criterion, {}).items():
                counts[score] = counts.get(score, 0) + answers
        return ScoreTally(counts)

    def lost(self, place: AnswerPlace) -> int:
        """The number of answers of a place that hooks lost in its hours."""
        scope = Scope(source=place.source, variant=place.variant)
        return sum(self._ledger.hook_counts.lost_between(hour_of(self._since), self._until, scope).values())

    def example(self, place: AnswerPlace, scale: Scale) -> str:
        """The id of the worst of its newest answers in a place; "" for none."""
        scope = Scope(source=place.source, variant=place.variant)
        newest = self._ledger.lists.recent(self._since, scope, EXAMPLES)
        scored = [
            (evaluation.score_global, evaluation.id)
            for evaluation in newest
            if evaluation.score_global is not None and evaluation.timestamp >= self._since
        ]
        side = 1.0 if scale.higher_is_better else -1.0
        return min(scored, key=lambda pair: side * pair[0], default=(0.0, ""))[1]

    def criteria(self) -> list[str]:
        """The criteria that have scores."""
        return sorted({criterion for by_criterion in self._by_place.values() for criterion in by_criterion} - {GLOBAL})


def mean_finding(
    tally: ScoreTally, rule: MeanRule, limits: MonitorThresholds, locale: AlertLocale, *, few: bool = False
) -> Finding:
    """Bad if the mean is worse than the threshold; clear at `mean_clear`. `few`: however few answers there are."""
    enough = tally.answers >= (1 if few else rule.minimum) and tally.mean is not None
    mean = tally.mean or 0.0
    values = {
        "mean": locale.score(tally.mean),
        "answers": locale.whole(tally.answers),
        "hours": locale.hours(rule.hours),
        "threshold": locale.short(limits.mean),
        "clear": locale.short(limits.mean_clear),
    }
    bad = enough and is_worse(mean, limits.mean, locale.scale)
    clear = enough and not is_worse(mean, limits.mean_clear, locale.scale)
    return finding_of(MEAN, values, locale, bad=bad, clear=clear, enough=enough)


def weak_share_finding(tally: ScoreTally, rule: WeakShareRule, locale: AlertLocale, *, few: bool = False) -> Finding:
    """Bad strictly over the threshold, clear at `clear` or less. `few`: however few answers there are."""
    weak = tally.grades(locale.scale)[2]
    enough = tally.answers >= (1 if few else rule.minimum)
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
    return finding_of(WEAK_SHARE, values, locale, bad=bad, clear=enough and share <= rule.clear, enough=enough)


def window_findings(
    ledger: Ledger, section: AlertsSection, limits: MonitorThresholds, locale: AlertLocale, now: datetime
) -> Iterator[Finding]:
    """The findings of the rules that are switched on."""
    shares, means = section.weak_share, section.mean
    windows: dict[float, AnswerWindow] = {}

    def window(hours: float) -> AnswerWindow:
        if hours not in windows:
            windows[hours] = AnswerWindow(ledger, now - timedelta(hours=hours), now)
        return windows[hours]

    if shares.enabled:
        yield from _by_part(lambda tally, few: weak_share_finding(tally, shares, locale, few=few), window(shares.hours), locale)
    if means.enabled:
        yield from _by_part(lambda tally, few: mean_finding(tally, means, limits, locale, few=few), window(means.hours), locale)


def _by_part(rule: Rule, later: AnswerWindow, locale: AlertLocale) -> Iterator[Finding]:
    whole = rule(later.tally(), False)
    causes = _causes(rule, later) if whole.bad else []
    opened = 0
    for part in sorted(later.parts(), key=lambda part: not _is_uniform(rule, part, later)):
        opened_before = later.is_open(whole.rule, part.subject)
        if (later.is_alone(part) or (whole.bad and part not in causes)) and not opened_before:
            continue
        finding = _of_part(rule, part, later, locale)
        opened += finding.bad
        if opened_before or not finding.bad or opened <= MOST_PARTS:
            yield _with_losses(finding, part, later, locale)
    if whole.bad:
        place = _narrowed(rule, EVERYWHERE, later, locale)
        parts = {_title(part, locale): later.tally(part) for part in later.parts() if not later.is_alone(part)}
        criteria = {locale.line("criterion", locale.label(path)): later.tally(criterion=path) for path in later.criteria()}
        worst = listed(locale.messages["where_worst"], [*_worst_of(parts, locale), *_worst_of(criteria, locale)])
        body = lines(_name(place, locale), whole.body, worst, _example(later, place, locale))
        whole = _placed(structs.replace(whole, body=body), rule, EVERYWHERE, place, later)
    yield _with_losses(whole, EVERYWHERE, later, locale)


def _with_losses(finding: Finding, part: AnswerPlace, later: AnswerWindow, locale: AlertLocale) -> Finding:
    """The finding with the number of answers of its hours that hooks lost: no figure counts them."""
    lost = later.lost(part) if finding.bad or finding.clear else 0
    if not lost:
        return finding
    text, (title, recovered) = locale.say("lost", n=locale.whole(lost)), finding.recovered
    return structs.replace(finding, body=lines(finding.body, text), recovered=(title, lines(recovered, text)))


def _causes(rule: Rule, later: AnswerWindow) -> list[AnswerPlace]:
    """The parts that explain why all answers together are bad: without them the others are fine. [] if nothing does."""
    bad = [part for part in later.parts() if not later.is_alone(part) and rule(later.tally(part), False).bad]
    alone = [part for part in bad if _is_uniform(rule, part, later) and _is_explained(rule, later, [part])]
    if alone:
        return [min(alone, key=lambda part: later.tally(part).answers)]
    for are_sources in (True, False):
        group = [part for part in bad if (part.source is not None) is are_sources]
        if len(group) <= MOST_PARTS and _is_explained(rule, later, group):
            return group
    return []


def _is_uniform(rule: Rule, part: AnswerPlace, later: AnswerWindow) -> bool:
    """Whether a part is bad as a whole, or in one place; a variant that two of many sources spoil is neither."""
    inner = [place for place in later.places(part) if None not in (place.source, place.variant)]
    bad = [place for place in inner if rule(later.tally(place), True).bad]
    fine = [place for place in inner if place not in bad and later.tally(place).answers >= FEW]
    return len(bad) == 1 or not fine


def _is_explained(rule: Rule, later: AnswerWindow, causes: Sequence[AnswerPlace]) -> bool:
    """Whether there are answers outside the causes, and these are fine, however few they are."""
    rest = later.tally(without=causes)
    return rest.answers > 0 and not rule(rest, True).bad


def _narrowed(rule: Rule, place: AnswerPlace, later: AnswerWindow, locale: AlertLocale) -> AnswerPlace:
    """The smallest place inside a bad one that explains it, with the criteria that are weak there."""
    chosen = place
    for inner in later.places(place):
        rest = later.tally(place, without=[inner])
        if rule(later.tally(inner), False).bad and (not rest.answers or not rule(rest, True).bad):
            chosen = inner
            break
    weak = [path for path in later.criteria() if grade_of(later.tally(chosen, path).mean, locale.scale) == "weak"]
    return structs.replace(chosen, criteria=tuple(weak))


def _placed(finding: Finding, rule: Rule, part: AnswerPlace, place: AnswerPlace, later: AnswerWindow) -> Finding:
    def is_fine_outside(places: Sequence[AnswerPlace]) -> bool:
        rest = later.tally(part, without=places)
        return not rest.answers or not rule(rest, True).bad

    details = msgspec.json.encode(place).decode()
    return structs.replace(finding, place=place, details=details, is_fine_outside=is_fine_outside)


def _of_part(rule: Rule, part: AnswerPlace, later: AnswerWindow, locale: AlertLocale) -> Finding:
    whole = later.tally(part)
    finding, name = rule(whole, False), _title(part, locale)
    first_title = finding.title
    title, body = finding.recovered
    finding = structs.replace(
        finding,
        subject=part.subject,
        title=f"{finding.title} ({name})",
        recovered=(f"{title} ({name})", lines(name, body)),
    )
    if not finding.bad:
        return finding
    place = _narrowed(rule, part, later, locale)
    inner = later.tally(place)
    other = AnswerPlace(source=place.source or "") if part.source is None else AnswerPlace(variant=place.variant or "")
    if place.covers(part):
        title_of_place = name
    elif inner.answers == whole.answers:
        title_of_place = _name(place, locale) or name
    else:
        title_of_place = locale.say("above_all", name=name, part=_title(other, locale))
    paths = place.criteria or later.criteria()
    criteria = {locale.line("criterion", locale.label(path)): later.tally(place, path) for path in paths}
    worst = listed(locale.messages["where_worst"], _worst_of(criteria, locale))
    weak_in = ""
    if place.source is not None and place.variant is not None:
        weak, answers = locale.whole(inner.grades(locale.scale)[2]), locale.whole(inner.answers)
        weak_in = locale.say("weak_in", name=_name(place, locale) or locale.messages["no_name"], weak=weak, answers=answers)
    body = lines(title_of_place, finding.body, weak_in, worst, _example(later, place, locale))
    return _placed(structs.replace(finding, title=f"{first_title} ({title_of_place})", body=body), rule, part, place, later)


def _title(part: AnswerPlace, locale: AlertLocale) -> str:
    """What people call a source or a variant."""
    kind, name = ("source", part.source) if part.source is not None else ("variant", part.variant)
    return locale.line(kind, plain(name or "", 80) or locale.messages["no_name"])


def _name(place: AnswerPlace, locale: AlertLocale) -> str:
    """`Source: a, Variant: b`; "" for all answers, and for those without either."""
    pairs = (("source", place.source), ("variant", place.variant))
    return ", ".join(locale.line(kind, plain(name, 80)) for kind, name in pairs if name)


def _example(later: AnswerWindow, place: AnswerPlace, locale: AlertLocale) -> str:
    id = later.example(place, locale.scale)
    return locale.say("example", answer=locale.answer_page(id)) if id else ""


def _worst_of(tallies: Mapping[str, ScoreTally], locale: AlertLocale) -> list[str]:
    side = 1.0 if locale.scale.higher_is_better else -1.0
    ranked: list[tuple[float, str]] = []
    for title, tally in tallies.items():
        if tally.mean is None or tally.answers < FEW:
            continue
        values = {"name": title, "mean": locale.score(tally.mean), "answers": locale.whole(tally.answers)}
        ranked.append((side * tally.mean, locale.say("where_mean", **values)))
    return [text for _, text in sorted(ranked)[:WORST]]
