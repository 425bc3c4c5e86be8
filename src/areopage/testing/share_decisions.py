"""Decisions on shares of passing answers: at least as high as demanded, lower, or not decided.

A share is lower only if so few passes would be seen with a chance of at most 1 − confidence where it is as demanded (the exact
one-sided test of the binomial; several shares are corrected by Holm's method). A system that is as good as demanded therefore
fails with at most this chance, for any number of answers. It is as high as demanded only if its exact lower bound says so. All
else is not decided. Answers without a verdict count as passing where a failure is to be shown, and as failing where a pass is.

Answers to several prompts need not pass equally often: the bounds hold for the mean of their shares (W. Hoeffding, "On the
distribution of the number of successes in independent trials", Annals of Mathematical Statistics 27, 1956).
"""

from collections.abc import Mapping
from math import ceil
from typing import Literal

from msgspec import Struct

from areopage.scoring import at_least, at_most, holm, least_enough, lower_bound, upper_bound

ShareVerdict = Literal["pass", "fail", "undecided"]
CONFIDENCE = 0.95
_MOST = 1_000_000


class AnswerCounts(Struct, frozen=True, kw_only=True):
    """How many answers pass, fail, or have no verdict."""

    passed: int
    failed: int
    missing: int = 0

    @property
    def answers(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.missing


class ShareDecision(Struct, frozen=True, kw_only=True):
    """What is decided about one share.

    Args:
        low, high: its one-sided bounds at the confidence, in [0, 1]; what is missing counts as failed for the first, and as
            passed for the second. None without an answer.
        p_value: the chance of so few passes where the share is as demanded, corrected with the other shares, in [0, 1].
        needed: about how many answers decide if the share stays as seen; None: over a million, or it is decided.
    """

    verdict: ShareVerdict
    counts: AnswerCounts
    low: float | None
    high: float | None
    p_value: float
    needed: int | None = None


def decide_shares(
    counts: Mapping[str, AnswerCounts], demanded: float, confidence: float = CONFIDENCE
) -> dict[str, ShareDecision]:
    """Decide on the shares of several criteria.

    Args:
        demanded: the least share of passing answers, in (0, 1]. With 1 each answer must pass: one failure decides.
        confidence: in [0.5, 1). All shares together are found too low with a chance of at most 1 − confidence where none is.
    """
    if not 0.0 < demanded <= 1.0 or not 0.5 <= confidence < 1.0:
        raise ValueError("the share must lie in (0, 1], the confidence in [0.5, 1)")
    tails = [at_most(share.passed + share.missing, share.answers, demanded) for share in counts.values()]
    corrected = holm(tails)
    return {
        name: _decided(share, p_value, demanded, confidence, len(counts))
        for (name, share), p_value in zip(counts.items(), corrected, strict=True)
    }


def _decided(counts: AnswerCounts, p_value: float, demanded: float, confidence: float, tests: int) -> ShareDecision:
    alpha = 1.0 - confidence
    low = lower_bound(counts.passed, counts.answers, confidence) if counts.answers else None
    high = upper_bound(counts.passed + counts.missing, counts.answers, confidence) if counts.answers else None
    verdict: ShareVerdict = "undecided"
    if counts.answers and p_value < alpha:
        verdict = "fail"
    elif counts.answers and _shows_pass(counts.passed, counts.answers, demanded, alpha):
        verdict = "pass"
    return ShareDecision(
        verdict=verdict,
        counts=counts,
        low=low,
        high=high,
        p_value=p_value,
        needed=_needed(counts, demanded, alpha, tests) if verdict == "undecided" else None,
    )


def _shows_pass(passed: int, answers: int, demanded: float, alpha: float) -> bool:
    return passed == answers if demanded == 1.0 else at_least(passed, answers, demanded) <= alpha


def _needed(counts: AnswerCounts, demanded: float, alpha: float, tests: int) -> int | None:
    """About how many answers decide, if as many of them pass as now."""
    judged = counts.passed + counts.failed
    share = counts.passed / judged if judged else 1.0
    if demanded in (share, 1.0):
        return None

    def is_enough(answers: int) -> bool:
        if share > demanded:
            return _shows_pass(int(share * answers), answers, demanded, alpha)
        return at_most(ceil(share * answers), answers, demanded) < alpha / tests

    return least_enough(is_enough, max(1, counts.answers), 2 * _MOST)
