"""What is known of the judges' fitness, in the reader's language. The ledger stores it in English."""

from areopage.jury.judges import NEVER_EXAMINED, NOT_FIT, is_unfit
from areopage.locales import Locale
from areopage.report.model import Badge


def judge_reason(locale: Locale, reason: str) -> str:
    """Why a judge is unfit, translated where the reason is a known one."""
    return str(locale.messages["standings"].get(reason, reason))


def unfit_judges(locale: Locale, standing: str) -> str:
    """The unfit judges of a standing, each with its reason."""
    text = standing.removeprefix(NOT_FIT)
    for reason, said in locale.messages["standings"].items():
        text = text.replace(reason, said)
    return text


def standing_text(locale: Locale, standing: str) -> str:
    """What is known of all judges: never examined; not fit to judge: tiny (why)."""
    if is_unfit(standing):
        return locale.say("standing_known_unfit", judges=unfit_judges(locale, standing))
    return locale.say("standing_unexamined") if standing in ("", NEVER_EXAMINED) else standing


def standing_badge(locale: Locale, standing: str) -> Badge:
    """The same in the fewest words, to stay beside means."""
    if is_unfit(standing):
        return Badge(text=locale.say("judges_unfit"), alarm=True)
    return Badge(text=locale.say("judges_unknown") if standing in ("", NEVER_EXAMINED) else standing)
