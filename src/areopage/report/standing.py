"""What is known of the judges' fitness. The ledger has it in English, as the monitor wrote it."""

from areopage.report.languages import Language

UNFIT = "not fit: "
NEVER_EXAMINED = ("", "never examined")


def is_unfit(standing: str) -> bool:
    """Whether a judge is known to be unfit, so that no score counts."""
    return standing.startswith(UNFIT)


def unfit_judges(language: Language, standing: str) -> str:
    """The unfit judges of a standing, each with the reason in the page's language."""
    text = standing.removeprefix(UNFIT)
    for reason, said in language.words["standings"].items():
        text = text.replace(reason, said)
    return text
