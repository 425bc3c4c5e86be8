"""The rules of alerts: what each finds, and the alert of a finding; those over windows of hours are in `windows`.

Single weak answers have an hourly limit. An answer without a score belongs to the rule about judges. The rule about the queue is
how long the oldest answer has been waiting.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import msgspec
from msgspec import Struct

from areopage.criteria import Scale
from areopage.ledger import (
    Alert,
    Backlog,
    CanaryRound,
    CriterionResult,
    Evaluation,
    JudgeDays,
    Ledger,
    Period,
    is_golden,
    standing_parts,
)
from areopage.monitor.alerts.texts import QUESTION_LENGTH, REMARK_LENGTH, REMARKS, AlertLocale, lines, listed, plain
from areopage.monitor.config import AlertsSection, Delivery, JudgeRule, QueueRule, SilenceRule
from areopage.scoring import DECIMALS

ANSWER, MEAN, WEAK_SHARE, DROP = "answer", "mean", "weak_share", "drop"
JUDGE, DRIFT, QUEUE, GOLDEN, DELIVERY, RECOVERED = "judge", "drift", "queue", "golden", "delivery", "recovered"
SILENCE = "silence"

RULES = (MEAN, DROP, WEAK_SHARE, JUDGE, DRIFT, QUEUE, SILENCE, GOLDEN, DELIVERY, RECOVERED, ANSWER)
"""All rules, in the order in which lists show their alerts: single answers, of which there may be many, come last."""

EVERYTHING = "all"
GATHERED_SHOWN = 10

MOSTLY = 0.5
"""A judge is out of service when more than this share of its latest calls failed."""

CAUGHT_UP = 0.5
"""The queue has caught up when its oldest answer waits less than this share of the limit."""

UNSCORED = 0.1
"""A change of a judge's share of calls without a score that is told."""

SOURCE_LENGTH, SUBJECT_LENGTH = 128, 256


class AnswerPlace(Struct, frozen=True):
    """The answers of a source and variant; None: of all."""

    source: str | None = None
    variant: str | None = None
    criteria: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject of the alerts about a source or a variant."""
        return f"source:{self.source}" if self.source is not None else f"variant:{self.variant}"

    def covers(self, other: "AnswerPlace") -> bool:
        """Whether all answers of another place are in this one."""
        return self.source in (None, other.source) and self.variant in (None, other.variant)

    def meets(self, other: "AnswerPlace") -> bool:
        """Whether an answer may be in both."""
        return all(
            mine is None or theirs is None or mine == theirs
            for mine, theirs in ((self.source, other.source), (self.variant, other.variant))
        )


class Finding(Struct, frozen=True, kw_only=True):
    """A rule's finding.

    Between `bad` and `clear` an alert is kept unchanged: neither holds there, nor with too little data.

    Args:
        bad: the alert opens, or is seen once more.
        clear: an open alert closes.
        title, body: what is said when it opens.
        recovered: title and body of the notice when it closes.
        details: the JSON of what the rule must know to close it.
        enough: whether there were enough answers to say anything.
        place: where it is; None for a rule whose alerts form no incidents.
        is_fine_outside: whether the answers outside some places are not bad.
    """

    rule: str
    subject: str = EVERYTHING
    bad: bool
    clear: bool
    title: str
    body: str
    recovered: tuple[str, str]
    details: str = ""
    enough: bool = True
    place: AnswerPlace | None = None
    is_fine_outside: Callable[[Sequence[AnswerPlace]], bool] | None = None


def notice_of(finding: Finding, now: datetime, delivery: Delivery) -> Alert:
    """Build the notice of a closed alert; it is closed itself."""
    title, body = finding.recovered
    notice = new_alert(RECOVERED, f"{finding.rule}:{finding.subject}", title, body, now, delivery)
    return msgspec.structs.replace(notice, state="closed", closed_at=now)


def new_alert(
    rule: str, subject: str, title: str, body: str, now: datetime, delivery: Delivery, *, answer_id: str = "", details: str = ""
) -> Alert:
    """Build an alert to send at once."""
    return Alert(
        rule=rule,
        subject=subject,
        state="open",
        opened_at=now,
        last_seen_at=now,
        title=title,
        body=body,
        answer_id=answer_id,
        delivery=delivery,
        next_attempt_at=now,
        details=details,
    )


def hour_of(moment: datetime) -> datetime:
    """The start of a moment's hour."""
    return moment.replace(minute=0, second=0, microsecond=0)


def hour_after(moment: datetime) -> datetime:
    """The end of a moment's hour."""
    return hour_of(moment) + timedelta(hours=1)


def finding_of(
    rule: str,
    values: Mapping[str, str],
    locale: AlertLocale,
    *more: str,
    bad: bool,
    clear: bool,
    subject: str = EVERYTHING,
    enough: bool = True,
) -> Finding:
    """Build a finding with the messages of its rule; `more` are further lines of the alert's text."""
    page = locale.page()
    return Finding(
        rule=rule,
        subject=subject,
        bad=bad,
        clear=clear,
        enough=enough,
        title=locale.say(f"{rule}_title", **values),
        body=lines(locale.say(f"{rule}_text", **values), *more, page),
        recovered=(locale.say(f"{rule}_recovered_title", **values), lines(locale.say(f"{rule}_recovered", **values), page)),
    )


def answer_alert(
    score: Evaluation,
    threshold: float | None,
    section: AlertsSection,
    now: datetime,
    locale: AlertLocale,
    floors: Mapping[str, float] = {},
) -> Alert | None:
    """Build the alert of a weak answer: its global score is worse than the threshold, or a criterion is at its floor or worse.

    An answer without a score is not a weak one, and golden questions have an alert of their own: None for both.
    """
    if is_golden(score.source):
        return None
    whole = score.score_global
    is_weak = threshold is not None and whole is not None and is_worse(whole, threshold, locale.scale)
    if not is_weak and not at_floor(score, floors, locale.scale):
        return None
    title, body = answer_texts(score, threshold, floors, locale)
    return new_alert(ANSWER, score.id, title, body, now, section.delivery, answer_id=score.id)


def addressed_alert(score: Evaluation, section: AlertsSection, now: datetime, locale: AlertLocale) -> Alert | None:
    """Build the alert of an answer that addresses the judge and ends without a score; None of golden questions."""
    if is_golden(score.source) or score.score_global is not None:
        return None
    body = lines(
        locale.line("question", locale.kept(score.prompt, QUESTION_LENGTH) or locale.messages["not_kept"]),
        locale.say("addressed_text"),
        _origin(score, locale),
    )
    return new_alert(ANSWER, score.id, locale.say("addressed_title"), body, now, section.delivery, answer_id=score.id)


def answer_texts(score: Evaluation, threshold: float | None, floors: Mapping[str, float], locale: AlertLocale) -> tuple[str, str]:
    """The title and the body of a weak answer's alert, in the locale's language."""
    low = at_floor(score, floors, locale.scale)
    floors_missed = [
        locale.say("floor_score", criterion=locale.label(criterion.criterion), score=locale.score(criterion.score))
        for criterion in low
    ]
    shown = locale.say(
        "scored",
        score=locale.score(score.score_global),
        grade=locale.messages[f"grade_{score.grade}"],
        threshold="—" if threshold is None else locale.short(threshold),
    )
    criteria = (
        locale.say("pair", name=locale.label(criterion.criterion), value=locale.mark(criterion.score))
        for criterion in score.criteria
    )
    feedback = locale.kept(score.feedback, QUESTION_LENGTH)
    standing, judges = standing_parts(score.qualification) if score.qualification else ("", "")
    fitness = f"judges_{standing}_named" if judges else f"judges_{standing}"
    body = lines(
        locale.line("question", locale.kept(score.prompt, QUESTION_LENGTH) or locale.messages["not_kept"]),
        locale.line("score", shown),
        *(
            locale.say("floor_line", criterion=locale.label(criterion.criterion), floor=locale.short(floors[criterion.criterion]))
            for criterion in low
        ),
        " · ".join(criteria),
        locale.line("feedback", feedback) if feedback else "",
        listed(locale.messages["weaknesses"], remarks(score.weaknesses, locale)),
        listed(locale.messages["suggestions"], remarks(score.suggestions, locale)),
        locale.line("qualification", locale.say(fitness, who=plain(judges, REMARK_LENGTH))) if standing else "",
        _origin(score, locale),
    )
    if floors_missed:
        return locale.say("floor_title", criteria=locale.messages["between"].join(floors_missed)), body
    return locale.say("answer_title", score=locale.score(score.score_global)), body


def _origin(score: Evaluation, locale: AlertLocale) -> str:
    """Where an answer comes from, when it was given, and its page."""
    return lines(
        locale.line("source", plain(score.source, 128)) if score.source else "",
        locale.line("variant", plain(score.variant, 64)) if score.variant else "",
        locale.line("answered_at", f"{score.timestamp:%Y-%m-%d %H:%M} UTC"),
        locale.answer_page(score.id),
    )


def at_floor(score: Evaluation, floors: Mapping[str, float], scale: Scale) -> list[CriterionResult]:
    """The criteria of an answer that are at their floor or worse."""
    return [
        criterion
        for criterion in score.criteria
        if criterion.score is not None
        and (floor := floors.get(criterion.criterion)) is not None
        and not is_worse(floor, round(criterion.score, DECIMALS), scale)
    ]


def question_line(alert: Alert) -> str:
    """The line of a single answer's alert with the question; "" for other alerts."""
    return alert.body.partition("\n")[0] if alert.rule == ANSWER else ""


def is_worse(value: float, than: float, scale: Scale) -> bool:
    """Whether a displayed score is strictly worse than another on a scale."""
    shown = round(value, DECIMALS)
    return shown < than if scale.higher_is_better else shown > than


def remarks(texts: Sequence[str], locale: AlertLocale) -> list[str]:
    """The first of a judge's remarks."""
    return [locale.kept(text, REMARK_LENGTH) for text in texts[:REMARKS]]


def paced(alert: Alert, opened_this_hour: int, per_hour: int) -> Alert:
    """Delay an alert to the hour's end if the hour's limit is reached. Delayed alerts share one message."""
    if opened_this_hour < per_hour:
        return alert
    return msgspec.structs.replace(alert, next_attempt_at=hour_after(alert.opened_at))


def is_late(alert: Alert) -> bool:
    """Whether the alert of a single answer, or a further one of an incident, is sent after its own hour."""
    return (alert.rule == ANSWER or bool(alert.incident)) and alert.next_attempt_at >= hour_after(alert.opened_at)


def gathered(alerts: Sequence[Alert], per_hour: int, locale: AlertLocale) -> tuple[str, str]:
    """Title and body of one message for several alerts."""
    start, end = hour_of(min(alert.opened_at for alert in alerts)), hour_after(max(alert.opened_at for alert in alerts))
    return locale.say("more_title", n=locale.whole(len(alerts))), lines(
        locale.say("more_text", start=f"{start:%Y-%m-%d %H:%M}", end=f"{end:%H:%M}", limit=locale.whole(per_hour)),
        answer_list(alerts, locale),
        locale.page(),
    )


def together(alerts: Sequence[Alert], source: str, variant: str, locale: AlertLocale) -> tuple[str, str]:
    """Title and body of one message for single answers of a source and variant that are due at once."""
    names = [locale.line(kind, plain(name, 80)) for kind, name in (("source", source), ("variant", variant)) if name]
    title = locale.say("together_title", n=locale.whole(len(alerts)))
    return f"{title} ({', '.join(names)})" if names else title, lines(
        *names,
        answer_list(alerts, locale),
        locale.page("/alerts"),
    )


def answer_list(alerts: Sequence[Alert], locale: AlertLocale) -> str:
    """A line for each of the first single answers, with its page, and how many there are more."""
    shown = [f"- {alert.title} — {locale.answer_page(alert.answer_id)}" for alert in alerts[:GATHERED_SHOWN]]
    rest = len(alerts) - len(shown)
    return lines(*shown, locale.say("more_rest", n=locale.whole(rest)) if rest else "")


class Failing(Struct, frozen=True, kw_only=True):
    """Rates of failed judging: answers without a global score, verdicts without a score.

    Args:
        retried: those of the answers without a score that are not finished: judges failed on them, and another attempt follows
            or none is left.
        latest: of the latest calls of the judge that fails most the share that failed; it tells an outage from a slow decline.
    """

    answers: int = 0
    unscored: int = 0
    retried: int = 0
    planned: int = 0
    missing: int = 0
    latest: float = 0.0

    @property
    def share(self) -> float:
        """The largest of the shares, in [0, 1]; that of the latest calls counts where most of them failed.

        One judge of several may fail without an answer losing its score.
        """
        by_answer = self.unscored / self.answers if self.answers else 0.0
        by_verdict = self.missing / self.planned if self.planned else 0.0
        return max(by_answer, by_verdict, self.latest if self.latest > MOSTLY else 0.0)


def failing_of(
    rows: Sequence[Evaluation], retried: int = 0, calls: Mapping[str, Sequence[bool]] | None = None, minimum: int = 1
) -> Failing:
    """The figures of some answers, and of those that judges failed on; `calls` are by judge, newest first, True if answered."""
    latest = [list(outcomes)[:minimum] for outcomes in (calls or {}).values() if len(outcomes) >= minimum]
    return Failing(
        latest=max((1 - sum(outcomes) / len(outcomes) for outcomes in latest), default=0.0),
        answers=len(rows) + retried,
        unscored=sum(row.score_global is None for row in rows) + retried,
        retried=retried,
        planned=sum(row.planned for row in rows),
        missing=sum(row.planned - row.scored - row.not_applicable for row in rows),
    )


def judge_finding(failing: Failing, today: Sequence[JudgeDays], rule: JudgeRule, locale: AlertLocale) -> Finding:
    """Bad strictly over `failed_share`, clear at `clear` or less."""
    enough = failing.answers >= rule.minimum or failing.latest > MOSTLY
    values = {
        "latest": locale.percent(failing.latest, trim=True),
        "share": locale.percent(failing.share, trim=True),
        "answers": locale.whole(failing.answers),
        "unscored": locale.whole(failing.unscored),
        "retried": locale.whole(failing.retried),
        "missing": locale.whole(failing.missing),
        "planned": locale.whole(failing.planned),
        "hours": locale.hours(rule.hours),
        "threshold": locale.percent(rule.failed_share, trim=True),
        "clear": locale.percent(rule.clear, trim=True),
    }
    retried = locale.say("judge_retried", **values) if failing.retried else ""
    outage = locale.say("judge_outage", **values) if failing.latest > MOSTLY else ""
    by_judge = []
    for use in today:
        outcomes = ", ".join(
            f"{locale.whole(count)} {locale.messages.get(f'outcome_{name}', name)}"
            for name, count in sorted(use.outcomes.items())
            if count
        )
        by_judge.append(locale.say("pair", name=plain(use.judge, 80), value=outcomes))
    bad = enough and failing.share > rule.failed_share
    return finding_of(
        JUDGE,
        values,
        locale,
        outage,
        retried,
        listed(locale.messages["judge_today"], by_judge),
        bad=bad,
        clear=enough and failing.share <= rule.clear,
    )


def queue_finding(backlog: Backlog, rule: QueueRule, now: datetime, locale: AlertLocale) -> Finding:
    """Bad above the limit; clear below half of it or without a queue."""
    waited = (backlog.waited(now) or 0.0) / 60
    values = {
        "minutes": locale.whole(round(waited)),
        "limit": locale.short(rule.minutes),
        "waiting": locale.whole(backlog.waiting),
        "failed": locale.whole(backlog.failed),
    }
    bad = waited > rule.minutes
    return finding_of(QUEUE, values, locale, bad=bad, clear=waited < rule.minutes * CAUGHT_UP)


def silence_findings(ledger: Ledger, rule: SilenceRule, now: datetime, locale: AlertLocale) -> Iterator[Finding]:
    """A finding for each source: clear where an answer came within `hours`, bad where none came for longer than it may pause.

    A source may pause for `hours` and for as many whole days as it ever did in the weeks before. One with few days of answers
    is not expected to go on. An open alert of a source that stays silent stays open.
    """

    def finding(source: str, last: datetime, hours: float, *, bad: bool) -> Finding:
        since = f"{last:%Y-%m-%d %H:%M} UTC"
        values = {"source": plain(source, SOURCE_LENGTH) or "—", "since": since, "hours": locale.hours(hours)}
        return finding_of(SILENCE, values, locale, bad=bad, clear=not bad, subject=source)

    active = ledger.lists.received_since(now - timedelta(hours=rule.hours))
    for source in active:
        yield finding(source, now, rule.hours, bad=False)
    period = Period(start=now.date() - timedelta(days=rule.days), end=now.date() + timedelta(days=1))
    for source, days in ledger.lists.active_days(period).items():
        if source in active or len(days) < rule.minimum_days:
            continue
        last = ledger.lists.last_received(source)
        longest_pause = max(((later - earlier).days - 1 for earlier, later in pairwise(days)), default=0)
        hours = rule.hours + 24 * longest_pause
        if last is not None and last < now - timedelta(hours=hours):
            yield finding(source, last, hours, bad=True)


def canary_finding(canary_round: CanaryRound, locale: AlertLocale) -> Finding:
    """Bad where the judge moved on the criterion; clear on the first round after another exam."""
    shift = canary_round.shift
    values = {
        "judge": plain(canary_round.judge, 80),
        "model": plain(canary_round.model, 80),
        "criterion": locale.label(canary_round.path),
        "change": locale.signed(shift.value or 0.0),
        "low": locale.signed(shift.low or 0.0),
        "high": locale.signed(shift.high or 0.0),
        "apart": locale.number(shift.apart or 0.0, 2),
        "rows": locale.whole(shift.rows),
        "round": locale.whole(canary_round.found or canary_round.sequence),
        "before": locale.percent(shift.unscored_before, trim=True),
        "now": locale.percent(shift.unscored, trim=True),
        "suite": plain(canary_round.suite, 80),
    }
    unscored = abs(shift.unscored - shift.unscored_before) >= UNSCORED
    return finding_of(
        DRIFT,
        values,
        locale,
        locale.say("drift_unscored", **values) if unscored else "",
        locale.say("drift_next", **values),
        bad=canary_round.moved,
        clear=not canary_round.moved,
        subject=f"{canary_round.judge}:{canary_round.path}"[:SUBJECT_LENGTH],
    )
