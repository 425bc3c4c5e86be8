"""What exams say of judges, in the reader's language; the ledger stores English."""

from collections.abc import Iterable, Iterator

from areopage.ledger.qualifications import JudgeStanding, standing_parts
from areopage.ledger.records import Standing
from areopage.locales import MISSING, Locale
from areopage.report.model import Badge
from areopage.scoring.exams.records import Mark

ALARMING = ("unfit", "not_qualified")
_SHOWN = 8  # criteria of one judge


def judge_reason(locale: Locale, reason: str) -> str:
    """The reason for a judge's unfitness, translated if known."""
    return str(locale.messages["qualifications"].get(reason, reason))


def _names(locale: Locale, names: str) -> str:
    """The judges that a panel's standing names, with reasons translated."""
    for reason, said in locale.messages["qualifications"].items():
        names = names.replace(reason, said)
    return names


def qualification_text(locale: Locale, known: str) -> str:
    """Describe the standing of a panel as a fact about its judges: never examined; unfit: tiny (why)."""
    state, names = standing_parts(known)
    return locale.say(f"known_{state}_named", who=_names(locale, names)) if names else locale.say(f"known_{state}")


def panel_text(locale: Locale, known: str) -> str:
    """The same where it does not stand beside the word judges: judges never examined."""
    state, names = standing_parts(known)
    return locale.say(f"judges_{state}_named", who=_names(locale, names)) if names else locale.say(f"judges_{state}")


def is_alarming(known: str) -> bool:
    """Whether the standing of a panel is marked: a judge is unfit or not qualified."""
    return standing_parts(known)[0] in ALARMING


def qualification_badge(locale: Locale, known: str) -> Badge:
    """The standing of a panel for display beside means."""
    return Badge(text=panel_text(locale, known), alarm=is_alarming(known))


def judge_text(locale: Locale, standing: Standing | None) -> str:
    """The standing of one judge in a word; of an unfit one with the reason."""
    if standing is None:
        return locale.say("judge_never_examined")
    if standing.state == "unfit":
        return locale.say("judge_unfit_named", who=judge_reason(locale, standing.reason))
    return locale.say(f"judge_{standing.state}")


def exam_text(locale: Locale, standing: Standing) -> str:
    """When a judge was examined and on how many criteria it is qualified; "" where it never was."""
    every = standing.qualified + standing.not_qualified + standing.never_examined
    if standing.examined_at is not None:
        date = locale.date(standing.examined_at)
        return locale.say("examined_on", date=date, n=locale.whole(standing.qualified), all=locale.whole(every))
    return locale.say("examined_older", date=locale.date(standing.older)) if standing.older else ""


def missed_lines(locale: Locale, standings: Iterable[JudgeStanding], names: dict[str, str]) -> Iterator[str]:
    """Why judges are not qualified, a line for each criterion.

    Args:
        names: of criteria, by id.
    """
    for standing in standings:
        failed = [one for one in standing.criteria if one.state == "not_qualified"]
        for one in failed[:_SHOWN]:
            why = locale.say("missed_joint").join(mark_text(locale, mark) for mark in one.missed)
            yield locale.say("missed_line", judge=standing.judge, criterion=names.get(one.criterion, one.criterion), why=why)
        if len(failed) > _SHOWN:
            yield locale.say("missed_more", n=locale.whole(len(failed) - _SHOWN))


def mark_text(locale: Locale, mark: Mark) -> str:
    """Why a mark is not met, and what would settle it."""
    named, figure = locale.say(f"figure_{mark.name}"), mark.figure
    if figure.value is None:
        told = locale.say("missed_unmeasured", figure=named)
    else:
        low, high = (MISSING if end is None else locale.number(end) for end in (figure.low, figure.high))
        ends = {"value": locale.number(figure.value), "low": low, "high": high, "limit": locale.number(mark.limit)}
        told = locale.say(f"missed_{mark.state}", figure=named, **ends)
    needs = ""
    if mark.needed_low or mark.needed_high:
        sides = {"low": locale.whole(mark.needed_low), "high": locale.whole(mark.needed_high)}
        needs = locale.say("missed_needs_sides", **sides)
    elif mark.needed:
        needs = locale.count("missed_needs", mark.needed)
    elif mark.name == "consistency" and figure.value is None:
        needs = locale.say("missed_needs_passes")
    return f"{told} ({needs})" if needs else told
