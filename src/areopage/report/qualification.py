"""The judges' fitness in the reader's language; the ledger stores English."""

from areopage.jury.judges import NEVER_EXAMINED, UNFIT, is_unfit
from areopage.locales import Locale
from areopage.report.model import Badge


def judge_reason(locale: Locale, reason: str) -> str:
    """The reason for a judge's unfitness, translated if known."""
    return str(locale.messages["qualifications"].get(reason, reason))


def unfit_judges(locale: Locale, qualification: str) -> str:
    """The unfit judges with their reasons."""
    text = qualification.removeprefix(UNFIT)
    for reason, said in locale.messages["qualifications"].items():
        text = text.replace(reason, said)
    return text


def qualification_text(locale: Locale, qualification: str) -> str:
    """Describe all judges' fitness: never examined; unfit: tiny (why)."""
    if is_unfit(qualification):
        return locale.say("qualification_known_unfit", judges=unfit_judges(locale, qualification))
    return locale.say("qualification_unexamined") if qualification in ("", NEVER_EXAMINED) else qualification


def qualification_badge(locale: Locale, qualification: str) -> Badge:
    """The shortest form of the fitness, for display beside means."""
    if is_unfit(qualification):
        return Badge(text=locale.say("judges_unfit"), alarm=True)
    return Badge(text=locale.say("judges_unknown") if qualification in ("", NEVER_EXAMINED) else qualification)
