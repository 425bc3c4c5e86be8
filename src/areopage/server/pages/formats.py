"""Addresses and qualifications in pages; numbers and dates are formatted by the locale."""

from datetime import UTC, datetime
from urllib.parse import quote

from areopage.jury.judges import NEVER_EXAMINED, UNFIT, is_unfit
from areopage.locales import Locale
from areopage.report.qualification import unfit_judges


def iso(moment: datetime) -> str:
    """A moment as machines read it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def answer_url(id: str) -> str:
    """The page of an answer. Browsers take an id of dots alone for a folder, so it goes into the query."""
    if id in (".", ".."):
        return f"/monitor/answers/?id={quote(id)}"
    return f"/monitor/answers/{quote(id, safe='')}"


def review_url(id: str) -> str:
    """The page where people label an answer; ids of dots alone go into the query, as in `answer_url`."""
    if id in (".", ".."):
        return f"/review/?id={quote(id)}"
    return f"/review/{quote(id, safe='')}"


def gate_url(id: str) -> str:
    """The page of one decision of the gate."""
    return f"/gate/{quote(id, safe='')}"


def qualification_text(locale: Locale, known: str, *, single: bool = False) -> str:
    """A stored qualification in the reader's language; the names in it stay.

    Args:
        single: whether it is that of one judge, else of a jury.
    """
    if not is_unfit(known):
        return locale.say("judge_unknown" if single else "qualification_unknown")
    return locale.say("judge_unfit" if single else "qualification_unfit_judges", who=unfit_judges(locale, known))


def qualification_of_judge(known: str, judge: str) -> str:
    """One judge's part of a jury's qualification: "unfit: reason" of "unfit: name (reason); other (reason)"."""
    parts = known.removeprefix(UNFIT).split("; ") if is_unfit(known) else []
    own = [part for part in parts if part.startswith(f"{judge} (")]
    return f"{UNFIT}{own[0].removeprefix(judge).strip()[1:-1]}" if own else NEVER_EXAMINED
