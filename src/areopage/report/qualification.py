"""What is known of the judges' fitness, in the reader's language. The ledger stores it in English."""

from areopage.jury.judges import NEVER_EXAMINED, UNFIT, is_unfit
from areopage.locales import Locale
from areopage.report.model import Badge


def judge_reason(locale: Locale, reason: str) -> str:
    """Why a judge is unfit, translated where the reason is a known one."""
    return str(locale.messages["qualifications"].get(reason, reason))


def unfit_judges(locale: Locale, qualification: str) -> str:
    """The unfit judges of a qualification, each with its reason."""
    text = qualification.removeprefix(UNFIT)
    for reason, said in locale.messages["qualifications"].items():
        text = text.replace(reason, said)
    return text


def qualification_text(locale: Locale, qualification: str) -> str:
    """What is known of all judges: never examined; unfit: tiny (why)."""
    if is_unfit(qualification):
        return locale.say("qualification_known_unfit", judges=unfit_judges(locale, qualification))
    return locale.say("qualification_unexamined") if qualification in ("", NEVER_EXAMINED) else qualification


def qualification_badge(locale: Locale, qualification: str) -> Badge:
    """The same in the fewest words, to stay beside means."""
    if is_unfit(qualification):
        return Badge(text=locale.say("judges_unfit"), alarm=True)
    return Badge(text=locale.say("judges_unknown") if qualification in ("", NEVER_EXAMINED) else qualification)
