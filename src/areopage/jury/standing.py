"""What is known of judges' fitness, in one line that is kept beside every score they gave."""

from collections.abc import Sequence

from areopage.jury.judges import Judge

NEVER_EXAMINED = "never examined"
NOT_FIT = "not fit: "


def standing_of(judges: Sequence[Judge]) -> str:
    """Those known to be unfit, with the reason; else that none was examined."""
    unfit = [f"{judge.name} ({judge.standing})" for judge in judges if judge.standing]
    return f"{NOT_FIT}{'; '.join(unfit)}" if unfit else NEVER_EXAMINED


def is_unfit(standing: str) -> bool:
    """Whether a judge is known to be unfit, so that no score counts."""
    return standing.startswith(NOT_FIT)
