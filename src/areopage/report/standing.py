"""What is known of the judges' fitness, in the reader's language. The ledger has it in English, as the monitor wrote it."""

from areopage.jury.judges import NOT_FIT
from areopage.report.languages import Language


def unfit_judges(language: Language, standing: str) -> str:
    """The unfit judges of a standing, each with the reason in the page's language."""
    text = standing.removeprefix(NOT_FIT)
    for reason, said in language.words["standings"].items():
        text = text.replace(reason, said)
    return text
