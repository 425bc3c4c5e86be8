"""Alerts of single weak answers, and their hourly limit."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from areopage.criteria.records import Scale
from areopage.jury.judges import NEVER_EXAMINED, UNFIT, is_unfit
from areopage.ledger.operations import Alert
from areopage.ledger.records import Evaluation, is_golden
from areopage.monitor.alerts.rules import ANSWER, hour_after, hour_of, new_alert
from areopage.monitor.alerts.texts import QUESTION_LENGTH, REMARK_LENGTH, REMARKS, AlertLocale, alert_locale, lines, listed, plain
from areopage.monitor.config import AlertsSection
from areopage.scoring.counts import DECIMALS

GATHERED_SHOWN = 10
# as `areopage.jury.judges.qualification_of` puts it
DEFAULT_SCALE = Scale(min=0.0, max=10.0)


def answer_alert(
    score: Evaluation, threshold: float | None, section: AlertsSection, now: datetime, locale: AlertLocale | None = None
) -> Alert | None:
    """Build the alert of an answer with a global score below the threshold.

    An answer without a score is not a weak one, and golden questions have an alert of their own: None for both.

    Args:
        threshold: on the suite's scale; None raises none.
        locale: by default in the answer's language, a scale of 0 to 10 and full texts.
    """
    if threshold is None or score.score_global is None or is_golden(score.source):
        return None
    locale = locale or alert_locale(score.language, scale=DEFAULT_SCALE, link=section.link)
    if not is_worse(score.score_global, threshold, locale.scale):
        return None
    return new_alert(
        ANSWER,
        score.id,
        locale.say("answer_title", score=locale.score(score.score_global)),
        _answer_body(score, threshold, locale),
        now,
        "pending" if section.urls else "none",
        answer_id=score.id,
    )


def is_worse(value: float, than: float, scale: Scale) -> bool:
    """Whether a displayed score is strictly worse than another on a scale."""
    shown = round(value, DECIMALS)
    return shown < than if scale.higher_is_better else shown > than


def _answer_body(score: Evaluation, threshold: float, locale: AlertLocale) -> str:
    """Question, score, criteria, feedback, weaknesses, suggestions, judges' qualification, and where to see it."""
    grade = locale.messages[f"grade_{score.grade}"]
    criteria = " · ".join(
        locale.say("pair", name=locale.label(one.criterion), value=locale.mark(one.score)) for one in score.criteria
    )
    feedback = locale.kept(score.feedback, QUESTION_LENGTH)
    shown = locale.say("scored", score=locale.score(score.score_global), grade=grade, threshold=locale.short(threshold))
    return lines(
        locale.line("question", locale.kept(score.prompt, QUESTION_LENGTH) or locale.messages["not_kept"]),
        locale.line("score", shown),
        criteria,
        locale.line("feedback", feedback) if feedback else "",
        listed(locale.messages["weaknesses"], remarks(score.weaknesses, locale)),
        listed(locale.messages["suggestions"], remarks(score.suggestions, locale)),
        locale.line("qualification", _qualification_text(score.qualification, locale)) if score.qualification else "",
        locale.line("source", plain(score.source, 128)) if score.source else "",
        locale.line("variant", plain(score.variant, 64)) if score.variant else "",
        locale.answer_page(score.id),
    )


def _qualification_text(qualification: str, locale: AlertLocale) -> str:
    """What is known of the judges' fitness, in the locale's language; its names and reasons are kept."""
    if qualification == NEVER_EXAMINED:
        return locale.say("qualification_unknown")
    if is_unfit(qualification):
        return locale.say("qualification_unfit", who=plain(qualification.removeprefix(UNFIT), REMARK_LENGTH))
    return plain(qualification, REMARK_LENGTH)


def remarks(texts: Sequence[str], locale: AlertLocale) -> list[str]:
    """The first of a judge's remarks."""
    return [locale.kept(text, REMARK_LENGTH) for text in texts[:REMARKS]]


def paced(alert: Alert, opened_this_hour: int, per_hour: int) -> Alert:
    """Delay an alert to the hour's end if the hour's limit is reached.

    Delayed alerts share one message.
    """
    if opened_this_hour < per_hour:
        return alert
    return msgspec.structs.replace(alert, next_attempt_at=hour_after(alert.opened_at))


def is_late(alert: Alert) -> bool:
    """Whether a single answer's alert is sent after its own hour."""
    return alert.rule == ANSWER and alert.next_attempt_at >= hour_after(alert.opened_at)


def gathered(alerts: Sequence[Alert], per_hour: int, locale: AlertLocale) -> tuple[str, str]:
    """Title and body of one message for several alerts."""
    start, end = hour_of(min(alert.opened_at for alert in alerts)), hour_after(max(alert.opened_at for alert in alerts))
    shown = [f"{alert.title} — {locale.answer_page(alert.answer_id)}" for alert in alerts[:GATHERED_SHOWN]]
    rest = len(alerts) - len(shown)
    return locale.say("more_title", n=locale.whole(len(alerts))), lines(
        locale.say("more_text", start=f"{start:%Y-%m-%d %H:%M}", end=f"{end:%H:%M}", limit=locale.whole(per_hour)),
        *(f"- {line}" for line in shown),
        locale.say("more_rest", n=locale.whole(rest)) if rest else "",
        locale.page(),
    )
