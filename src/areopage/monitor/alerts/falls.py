"""The rule about falls of quality: an incident opens against the weeks before, and closes when the level before is back.

Each source, and all of them together, is tested on each criterion, on the global score and on the share of weak answers, over
complete days (UTC) of one panel. What is found is a pure function of the counts by day and of the incidents so far, so that a
worker that dies loses nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

import msgspec
import numpy as np
from msgspec import Struct

from areopage.criteria import Scale
from areopage.errors import UserError
from areopage.ledger import Alert, DayLevel, Ledger, Period
from areopage.monitor.alerts.day_levels import (
    MOST_AFTER,
    MOST_REFERENCE,
    MOST_RETURN,
    DayLevels,
    Falls,
    days_back,
    find_falls,
    limit_of,
    shortfall,
    with_all,
)
from areopage.monitor.alerts.rules import DROP, EVERYTHING, Finding, finding_of
from areopage.monitor.alerts.texts import AlertLocale, lines, listed, plain
from areopage.monitor.config import DropRule, MonitorThresholds
from areopage.scoring import grade_limits

GLOBAL, WEAK = "", "weak"
ALL = EVERYTHING
"""The subject of an incident of all answers."""
PAST_INCIDENTS = 1000
NAMED = 8
SOURCE = "source:"


class Condition(Struct, frozen=True):
    """One measure of one part that fell.

    Args:
        source: None for all answers.
        measure: "" for the global score, "weak", or the path of a criterion.
        before, after: the level in the reference and since, in units of the scale; shares for "weak".
    """

    source: str | None
    measure: str
    before: float
    after: float


class Incident(Struct, frozen=True, kw_only=True):
    """What must be known to close an incident.

    Args:
        start, began: the days of its reference, `began` excluded: the first day of the fall, as most likely.
        reported: the day it was reported.
        panel: that judged the answers.
    """

    start: date
    began: date
    reported: date
    panel: str
    conditions: tuple[Condition, ...]


class PeriodLevels(Struct, frozen=True):
    """The levels of a period, one row for each day; the means are shares of the scale, where more is better."""

    days: Sequence[date]
    sources: Sequence[str]
    measures: Sequence[str]
    scores: DayLevels

    def out(self, days: Sequence[date], source: str | None = None) -> "PeriodLevels":
        """The same without some days, of a source or of all."""
        mask = np.zeros(self.scores.answers.shape, bool)
        at = np.isin(np.array(self.days, dtype="datetime64[D]"), np.array(days, dtype="datetime64[D]"))
        chosen = [place for place, name in enumerate(self.sources) if source is None or name == source]
        mask[chosen] = at
        return PeriodLevels(self.days, self.sources, self.measures, self.scores.masked(mask))


def levels_of(rows: Sequence[DayLevel], named: Sequence[DayLevel], period: Period, scale: Scale, minimum: int) -> PeriodLevels:
    """The levels of a period, of the sources and measures of `named`, without days of a source under `minimum`."""
    days = [period.start + timedelta(days=number) for number in range(period.days)]
    sources = sorted({row.source for row in named})
    measures = [GLOBAL, WEAK, *sorted({row.criterion for row in named} - {GLOBAL})]
    shape = (max(len(sources), 1), len(measures), len(days))
    answers, means, variances = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    width, side = scale.max - scale.min, 1.0 if scale.higher_is_better else -1.0
    for row in rows:
        if row.answers < minimum:
            continue
        place = (sources.index(row.source), measures.index(row.criterion), (row.day - period.start).days)
        mean = row.total / row.answers
        answers[place] = row.answers
        means[place] = side * mean / width
        variances[place] = max(row.squares / row.answers - mean**2, 0.0) / width**2
        if row.criterion == GLOBAL:
            place, share = (place[0], 1, place[2]), row.weak / row.answers
            answers[place], means[place], variances[place] = row.answers, -share, share * (1.0 - share)
    return PeriodLevels(days, sources or [""], measures, DayLevels(answers, means, variances))


def new_incidents(levels: PeriodLevels, least: float, panel: str) -> list[tuple[str, Incident]]:
    """The incidents that the last day of some levels shows, with their subjects; `least` is a share of the scale."""
    falls, bad = _fallen(with_all(levels.scores), least)
    parts = [place for place in range(len(bad)) if bad[place].any()]
    if not parts:
        return []
    single = len(levels.sources) == 1
    if len(parts) == 1 and parts[0] < len(levels.sources) and not single:
        return [(f"{SOURCE}{levels.sources[parts[0]]}", _incident(levels, falls, bad, parts, panel))]
    fallen_sources = [place for place in parts if place < len(levels.sources)]
    if len(fallen_sources) == 1 and not single:
        name = levels.sources[fallen_sources[0]]
        rest = levels.out(levels.days[-MOST_AFTER:], name)
        if not _fallen(with_all(rest.scores), least)[1][-1].any():
            return [(f"{SOURCE}{name}", _incident(levels, falls, bad, fallen_sources, panel))]
    return [(ALL, _incident(levels, falls, bad, parts, panel))]


def _fallen(scores: DayLevels, least: float) -> tuple[Falls, np.ndarray]:
    falls = find_falls(scores)
    return falls, (falls.evidence >= limit_of(falls.evidence.size)) & (falls.points >= least)


def _incident(levels: PeriodLevels, falls: Falls, bad: np.ndarray, parts: Sequence[int], panel: str) -> Incident:
    places = [(part, measure) for part in parts for measure in map(int, np.flatnonzero(bad[part]))]
    first = max(places, key=lambda place: falls.evidence[place])
    began = len(levels.days) - int(falls.after[first])
    conditions = tuple(
        Condition(
            source=levels.sources[part] if part < len(levels.sources) and len(levels.sources) > 1 else None,
            measure=levels.measures[measure],
            before=float(falls.level[part, measure]),
            after=float(falls.level[part, measure] - falls.points[part, measure]),
        )
        for part, measure in sorted(places, key=lambda place: -falls.evidence[place])
    )
    return Incident(
        start=levels.days[max(0, began - MOST_REFERENCE)],
        began=levels.days[began],
        reported=levels.days[-1] + timedelta(days=1),
        panel=panel,
        conditions=conditions,
    )


def has_recovered(reference: PeriodLevels, since: PeriodLevels, incident: Incident, age: int, least: float) -> bool:
    """Whether the level before a fall is back on every measure that fell, and no other measure of the same parts is lower."""
    joined = with_all(
        DayLevels(*(np.concatenate(pair, axis=-1) for pair in zip(reference.scores.arrays, since.scores.arrays, strict=True)))
    )
    whole, lengths = len(reference.days), []
    for condition in incident.conditions:
        if condition.measure not in reference.measures:
            return False
        if condition.source is not None and condition.source not in reference.sources:
            return False
        place = (_part(reference, condition), reference.measures.index(condition.measure))
        length = int(days_back(DayLevels(*(array[place] for array in joined.arrays)), whole, age, least))
        if not length:
            return False
        lengths.append(length)
    concerned = sorted({_part(reference, condition) for condition in incident.conditions})
    if (shortfall(joined, whole, min(lengths))[concerned] >= least).any():
        return False
    last = min(age, MOST_AFTER)
    recent = DayLevels(*(np.concatenate([array[..., :whole], array[..., -last:]], axis=-1) for array in joined.arrays))
    return not _fallen(recent, least)[1][concerned].any()


def _part(levels: PeriodLevels, condition: Condition) -> int:
    return -1 if condition.source is None else levels.sources.index(condition.source)


# --- over a ledger


def accept_level(ledger: Ledger, number: int, by: str, reason: str, now: datetime, *, key_id: str = "") -> Alert:
    """Close an incident because a person accepts the new level, which is the reference from then on; noted in the audit log.

    Raises:
        UserError: there is no such open incident, or no name or note.
    """
    alerts = ledger.alerts
    alert = alerts.get(number)
    if not by.strip() or not reason.strip():
        raise UserError("to accept a level, give your name and a note")
    if alert is None or alert.rule != DROP or not alerts.accept(number, by.strip(), reason.strip(), now):
        raise UserError(f"there is no open incident {number}: areopage monitor alerts list --rule {DROP} shows them")
    ledger.audit.note(by.strip()[:128], "settings", f"alert {number}", f"new level accepted: {reason.strip()}", key_id=key_id)
    return alert


class FallWatch:
    """The rule over a ledger at a moment: what opens, what closes, and how open incidents stand."""

    def __init__(self, ledger: Ledger, rule: DropRule, limits: MonitorThresholds, locale: AlertLocale, now: datetime) -> None:
        self._ledger, self._rule, self._locale, self._today = ledger, rule, locale, now.date()
        self._scale = locale.scale
        self._least = limits.drop / (self._scale.max - self._scale.min)
        self._alerts = ledger.alerts
        past = self._alerts.list(rule=DROP, limit=PAST_INCIDENTS)
        self._incidents = [(alert, msgspec.json.decode(alert.details, type=Incident)) for alert in past if alert.details]

    def findings(self) -> list[Finding]:
        """The findings of new incidents and of those that are over; the situation of the others is stored."""
        opened = [(alert, incident) for alert, incident in self._incidents if alert.state == "open"]
        findings = [finding for alert, incident in opened if (finding := self._checked(alert, incident)) is not None]
        if any(alert.subject == ALL for alert, _ in opened):
            return findings
        period = Period(start=self._today - timedelta(days=MOST_REFERENCE + MOST_AFTER), end=self._today)
        panels, rows = self._ledger.days.panels(period), self._rows(period)
        panel = self._panel_now(panels)
        levels = self._masked(levels_of(rows, rows, period, self._scale, self._rule.minimum), panels, panel)
        for subject, incident in new_incidents(levels, self._least, panel):
            if all(alert.subject != subject for alert, _ in opened):
                finding = self._finding(subject, incident, bad=True)
                findings.append(msgspec.structs.replace(finding, details=msgspec.json.encode(incident).decode()))
        return findings

    def _rows(self, period: Period) -> Sequence[DayLevel]:
        weak_limit, _ = grade_limits(self._scale)
        higher = self._scale.higher_is_better
        return self._ledger.days.levels(period, lambda score: score < weak_limit if higher else score > weak_limit)

    def _panel_now(self, panels: Mapping[date, set[str]]) -> str:
        alone = [next(iter(names)) for _, names in sorted(panels.items()) if len(names) == 1]
        return alone[-1] if alone else ""

    def _masked(
        self, levels: PeriodLevels, panels: Mapping[date, set[str]], panel: str, but: Alert | None = None
    ) -> PeriodLevels:
        """The levels without days of other panels, of incidents but one, and before an accepted level."""
        levels = levels.out([day for day in levels.days if panels.get(day, {panel}) - {panel}])
        for alert, incident in self._incidents:
            if but is not None and alert.number == but.number:
                continue
            source = None if alert.subject == ALL else alert.subject.removeprefix(SOURCE)
            end = alert.closed_at.date() if alert.closed_at else self._today
            if alert.accepted_by:
                out = [day for day in levels.days if day < incident.began]
            else:
                out = [day for day in levels.days if incident.began <= day < end]
            levels = levels.out(out, source)
        return levels

    def _checked(self, alert: Alert, incident: Incident) -> Finding | None:
        """The finding of an incident that is over; else None, and its situation is stored."""
        oldest = self._today - timedelta(days=MOST_REFERENCE + MOST_RETURN)
        since = Period(start=max(oldest, incident.began), end=self._today)
        age = (self._today - incident.reported).days
        situation, back = self._locale.messages["fall_too_early"], False
        if age > 0:
            panels = self._ledger.days.panels(since)
            current = self._panel_now(panels)
            before = Period(start=incident.start, end=incident.began)
            rows, later_rows = self._rows(before), self._rows(since)
            named = [*rows, *later_rows]
            reference = levels_of(rows, named, before, self._scale, self._rule.minimum)
            reference = self._masked(reference, self._ledger.days.panels(before), incident.panel, but=alert)
            later = levels_of(later_rows, named, since, self._scale, self._rule.minimum)
            later = later.out([day for day in later.days if panels.get(day, {current}) - {incident.panel}])
            if current and current != incident.panel:
                situation = self._locale.messages["fall_other_judges"]
            elif not self._answered(later, incident):
                situation = self._locale.messages["fall_silent"]
            else:
                back = has_recovered(reference, later, incident, age, self._least)
                situation = self._locale.messages["fall_not_back"]
        if back:
            return self._finding(alert.subject, incident, bad=False)
        if alert.situation != situation:
            self._alerts.describe(alert.number, situation)
        return None

    def _answered(self, later: PeriodLevels, incident: Incident) -> bool:
        """Whether all parts of an incident have answers on the last day."""
        answers = later.scores.answers[:, 0, -1]
        return all(
            answers.any()
            if condition.source is None
            else condition.source in later.sources and answers[later.sources.index(condition.source)] > 0
            for condition in incident.conditions
        )

    def _finding(self, subject: str, incident: Incident, *, bad: bool) -> Finding:
        locale = self._locale
        texts = [self._text(condition) for condition in incident.conditions]
        source = plain(subject.removeprefix(SOURCE), 80) if subject != ALL else locale.messages["fall_all"]
        values = {
            "source": source or locale.messages["no_name"],
            "began": f"{incident.began:%Y-%m-%d}",
            "start": f"{incident.start:%Y-%m-%d}",
            "end": f"{incident.began - timedelta(days=1):%Y-%m-%d}",
            "first": texts[0],
        }
        more = f"… {len(texts) - NAMED}" if len(texts) > NAMED else ""
        finding = finding_of(DROP, values, locale, bad=bad, clear=not bad, subject=subject)
        where = listed(locale.messages["fall_where"], [*texts[:NAMED], more])
        title, text = finding.recovered
        return msgspec.structs.replace(finding, body=lines(finding.body, where), recovered=(title, lines(text, where)))

    def _text(self, condition: Condition) -> str:
        locale, side = self._locale, 1.0 if self._scale.higher_is_better else -1.0
        width = self._scale.max - self._scale.min
        if condition.measure == WEAK:
            name = locale.messages["fall_weak"]
            before, after = locale.percent(-condition.before, trim=True), locale.percent(-condition.after, trim=True)
        else:
            name = locale.messages["fall_global"] if condition.measure == GLOBAL else locale.label(condition.measure)
            before, after = locale.score(side * condition.before * width), locale.score(side * condition.after * width)
        where = (
            "" if condition.source is None else locale.line("source", plain(condition.source, 80) or locale.messages["no_name"])
        )
        text = locale.say("fall_change", name=name, before=before, after=after)
        return f"{where}, {text}" if where else text
