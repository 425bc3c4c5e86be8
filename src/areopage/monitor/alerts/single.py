"""The alert of a single weak answer, and how many of them are sent one by one."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from areopage.criteria.records import Scale
from areopage.jury.judges import NEVER_EXAMINED, NOT_FIT, is_unfit
from areopage.ledger.operations import Alert
from areopage.ledger.records import Evaluation, is_golden
from areopage.monitor.alerts.rules import ANSWER, hour_after, hour_of, new_alert
from areopage.monitor.alerts.texts import QUESTION_LENGTH, REMARK_LENGTH, REMARKS, Voice, lines, listed, plain, voice_for
from areopage.monitor.config import AlertsSection
from areopage.scoring.counts import DECIMALS

GATHERED_SHOWN = 10
# as `areopage.jury.judges.qualification_of` puts it
DEFAULT_SCALE = Scale(min=0.0, max=10.0)


def answer_alert(
    score: Evaluation, threshold: float | None, section: AlertsSection, now: datetime, voice: Voice | None = None
) -> Alert | None:
    """The alert of an answer whose global score is worse than the threshold.

    An answer without a score is not a weak one, and golden questions have an alert of their own: None for both.

    Args:
        threshold: on the suite's scale; None raises none.
        voice: in whose words; by default the answer's language, a scale of 0 to 10 and full texts.
    """
    if threshold is None or score.score_global is None or is_golden(score.source):
        return None
    voice = voice or voice_for(score.language, scale=DEFAULT_SCALE, link=section.link)
    if not is_worse(score.score_global, threshold, voice.scale):
        return None
    return new_alert(
        ANSWER,
        score.id,
        voice.say("answer_title", score=voice.score(score.score_global)),
        answer_body(score, threshold, voice),
        now,
        "pending" if section.urls else "none",
        answer_id=score.id,
    )


def is_worse(value: float, than: float, scale: Scale) -> bool:
    """Whether a score, as it is shown, is strictly worse than another, on a scale where higher or lower is better."""
    shown = round(value, DECIMALS)
    return shown < than if scale.higher_is_better else shown > than


def answer_body(score: Evaluation, threshold: float, voice: Voice) -> str:
    """Question, score, criteria, feedback, weaknesses, suggestions, judges' standing, and where to see it."""
    band = voice.words[f"band_{score.band}"]
    criteria = " · ".join(
        voice.say("pair", name=voice.label(one.criterion), value=voice.mark(one.score)) for one in score.criteria
    )
    feedback = voice.kept(score.feedback, QUESTION_LENGTH)
    shown = voice.say("scored", score=voice.score(score.score_global), band=band, threshold=voice.short(threshold))
    return lines(
        voice.line("question", voice.kept(score.prompt, QUESTION_LENGTH) or voice.words["not_kept"]),
        voice.line("score", shown),
        criteria,
        voice.line("feedback", feedback) if feedback else "",
        listed(voice.words["weaknesses"], remarks(score.weaknesses, voice)),
        listed(voice.words["suggestions"], remarks(score.suggestions, voice)),
        voice.line("standing", standing_text(score.standing, voice)) if score.standing else "",
        voice.line("source", plain(score.source, 128)) if score.source else "",
        voice.line("variant", plain(score.variant, 64)) if score.variant else "",
        voice.answer_page(score.id),
    )


def standing_text(standing: str, voice: Voice) -> str:
    """What is known of the judges' fitness, in the voice's language; the names and reasons in it stay as they are."""
    if standing == NEVER_EXAMINED:
        return voice.words["standing_unknown"]
    if is_unfit(standing):
        return voice.say("standing_unfit", who=plain(standing.removeprefix(NOT_FIT), REMARK_LENGTH))
    return plain(standing, REMARK_LENGTH)


def remarks(texts: Sequence[str], voice: Voice) -> list[str]:
    """The first of a judge's remarks."""
    return [voice.kept(text, REMARK_LENGTH) for text in texts[:REMARKS]]


def paced(alert: Alert, opened_this_hour: int, per_hour: int) -> Alert:
    """An alert as it comes; past the hour's limit one that waits for the hour's end, when the rest goes out in one message."""
    if opened_this_hour < per_hour:
        return alert
    return msgspec.structs.replace(alert, next_attempt_at=hour_after(alert.opened_at))


def is_late(alert: Alert) -> bool:
    """Whether a single answer's alert does not go out in the hour that it was opened in."""
    return alert.rule == ANSWER and alert.next_attempt_at >= hour_after(alert.opened_at)


def gathered(alerts: Sequence[Alert], per_hour: int, voice: Voice) -> tuple[str, str]:
    """Title and body of one message for several alerts of single answers."""
    start, end = hour_of(min(alert.opened_at for alert in alerts)), hour_after(max(alert.opened_at for alert in alerts))
    shown = [f"{alert.title} — {voice.answer_page(alert.answer_id)}" for alert in alerts[:GATHERED_SHOWN]]
    rest = len(alerts) - len(shown)
    return voice.say("more_title", n=voice.whole(len(alerts))), lines(
        voice.say("more_text", start=f"{start:%Y-%m-%d %H:%M}", end=f"{end:%H:%M}", limit=voice.whole(per_hour)),
        *(f"- {line}" for line in shown),
        voice.say("more_rest", n=voice.whole(rest)) if rest else "",
        voice.page(),
    )
