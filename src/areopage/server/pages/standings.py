"""What is known of judges' fitness, in the reader's language: it stands beside every mean."""

from areopage.jury.judges import NEVER_EXAMINED, NOT_FIT, is_unfit
from areopage.report.languages import Language
from areopage.report.standing import unfit_judges


def standing_text(language: Language, known: str, *, single: bool = False) -> str:
    """A standing as it was stored, in the reader's language; the names in it stay.

    Args:
        single: whether it is that of one judge, else of a jury.
    """
    if not is_unfit(known):
        return language.say("judge_unknown" if single else "standing_unknown")
    return language.say("judge_not_fit" if single else "standing_not_fit", who=unfit_judges(language, known))


def standing_of_judge(known: str, judge: str) -> str:
    """One judge's part of a jury's standing: "not fit: reason" of "not fit: name (reason); other (reason)"."""
    parts = known.removeprefix(NOT_FIT).split("; ") if is_unfit(known) else []
    own = [part for part in parts if part.startswith(f"{judge} (")]
    return f"{NOT_FIT}{own[0].removeprefix(judge).strip()[1:-1]}" if own else NEVER_EXAMINED
