"""The expectation of a judge's score from the log-probabilities at the place of its score.

A judge that writes 4 may have been about to write 3. The likeliest tokens at the place of the score say how likely each score
was: their expectation, over the scores that lie on the scale, is finer than the one score that was drawn, from the same call.

    score = Σ s · P(s) / mass,  mass = Σ P(s)  over the whole numbers s of the scale

Source: G-Eval (Liu et al., 2023), section 2.3, with the scores' probabilities as the server states them.

A number may take several tokens: "10" may be "1" and "0". The way that the answer took is followed token by token. Of another
way only the first token is known: one that begins a longer score ("1" of "10") counts only where another token at its
place shows that longer numbers are single tokens. What cannot be told so lowers the mass.
"""

import math
import re
from collections.abc import Sequence

from msgspec import Struct

from areopage.criteria import Scale
from areopage.models import TokenLogprob

NumberPlace = tuple[int, int]
"""Beginning and end of a number in a text."""
MIN_MASS = 0.5
"""Under this mass on valid scores the sampled score stands: the probabilities are of something else."""
MOST_SCORES = 1_001
_TOLERANCE = 1e-3  # of probabilities that add up to more than 1: servers round
_DECIMALS = 6
_NUMBER = re.compile(r"[0-9]*", re.ASCII)
_ENDS = frozenset(",}] \t\r\n")
_SPACES = " \t\r\n"


class Expectation(Struct, frozen=True, kw_only=True):
    """The expected score, on the criterion's scale, and the probability of all valid scores together, in [0, 1]."""

    score: float
    mass: float


def expected_score(tokens: Sequence[TokenLogprob], text: str, place: NumberPlace, scale: Scale) -> Expectation | None:
    """The expectation of a score.

    Returns:
        None where the tokens do not add up to the text as far as the score, where they are no probabilities, where no valid score
        is among them, or where the scale begins below 0 or has over a thousand scores.
    """
    valid, written = _valid_scores(scale), text.encode("utf-8", "replace")
    start, end = (len(text[:at].encode("utf-8", "replace")) for at in place)
    begun = _first_token(tokens, written, start)
    if not valid or begun is None or not _adds_up(tokens[begun[0] :], written, begun[1], end):
        return None
    first, offset = begun
    shares = _Walk(valid).along(tokens[first:], written[offset:start].decode("utf-8", "replace"))
    mass = sum(shares.values()) if shares else 0.0
    if not shares or mass <= 0.0:
        return None
    likely = {score: share for score, share in shares.items() if share > 0.0}
    mean = sum(score * share for score, share in likely.items()) / mass
    mean = float(next(iter(likely))) if len(likely) == 1 else round(mean, _DECIMALS)
    return Expectation(score=min(max(mean, scale.min), scale.max), mass=min(mass, 1.0))


def _valid_scores(scale: Scale) -> frozenset[str]:
    """The whole numbers of a scale as they are written; none of a scale that is not handled."""
    low, high = math.ceil(scale.min), math.floor(scale.max)
    return frozenset(map(str, range(low, high + 1))) if 0 <= low <= high < low + MOST_SCORES else frozenset()


def _first_token(tokens: Sequence[TokenLogprob], text: bytes, start: int) -> tuple[int, int] | None:
    """The token that holds the first digit, and where it begins; None where the tokens do not add up to the text before it."""
    at = 0
    for number, token in enumerate(tokens):
        if not text.startswith(token.written, at):
            return None
        if at + len(token.written) > start:
            return number, at
        at += len(token.written)
    return None


def _adds_up(tokens: Sequence[TokenLogprob], text: bytes, at: int, end: int) -> bool:
    for token in tokens:
        if not text.startswith(token.written, at):
            return False
        if at >= end and token.written:
            return True
        at += len(token.written)
    return at > end


class _Walk:
    """Follows a number from token to token, and adds up the probabilities of the scores that branch off."""

    def __init__(self, valid: frozenset[str]) -> None:
        self._valid = valid
        self._beginnings = {score[:length] for score in valid for length in range(1, len(score))}
        self._shares: dict[int, float] = {}

    def along(self, tokens: Sequence[TokenLogprob], head: str) -> dict[int, float]:
        """The probability of each score; nothing where a token's figures are no probabilities or the number does not end.

        Args:
            tokens: from the one with the first digit.
            head: what that token holds before the digit.
        """
        read, weight = "", 1.0
        for token in tokens:
            if not token.token:
                continue
            likely = _probabilities(token)
            if likely is None:
                return {}
            options = {text: _continued(text, head, first=not read) for text in likely}
            numbers = [option[0] for option in options.values() if option is not None]
            for text, option in options.items():
                if option is not None and (text != token.token or option[1]):
                    is_longer = any(len(other) > len(option[0]) and other.startswith(option[0]) for other in numbers)
                    self._add(read + option[0], weight * likely[text], ended=option[1], whole=not read and is_longer)
            taken = options[token.token]
            if taken is None:
                return {}
            if taken[1]:
                return self._shares
            read, weight = read + taken[0], weight * likely[token.token]
            if read not in self._beginnings:
                self._add(read, weight, ended=True, whole=True)
                return self._shares
        return {}

    def _add(self, number: str, share: float, *, ended: bool, whole: bool) -> None:
        """Count a number where it is a score of the scale and cannot go on.

        Args:
            ended: what follows the digits in its token ends it.
            whole: longer numbers are single tokens here.
        """
        if number in self._valid and (ended or whole or number not in self._beginnings):
            self._shares[int(number)] = self._shares.get(int(number), 0.0) + share


def _continued(text: str, head: str, *, first: bool) -> tuple[str, bool] | None:
    """The digits that a token adds to a number, and whether it ends it; None of a token that does neither.

    Args:
        head: what stands before the first digit in the token that the answer took; other tokens may differ in white space alone.
        first: no digit was read before.
    """
    rest = text
    if first:
        if text.startswith(head):
            rest = text[len(head) :]
        elif head.strip(_SPACES):
            return None
        rest = rest.lstrip(_SPACES)
    digits = _NUMBER.match(rest)
    number = digits.group() if digits else ""
    behind = rest[len(number) :]
    if (first and not number) or (behind and behind[0] not in _ENDS) or not (number or behind):
        return None
    return number, bool(behind)


def _probabilities(token: TokenLogprob) -> dict[str, float] | None:
    """The probabilities of the tokens at a place, the one that was taken among them; None where they cannot be probabilities."""
    logs = [(text, log) for text, log in token.top if text and text != token.token] + [(token.token, token.logprob)]
    if any(math.isnan(log) or log > _TOLERANCE for _, log in logs):
        return None
    likely: dict[str, float] = {}
    for text, log in logs:
        likely[text] = likely.get(text, 0.0) + min(1.0, math.exp(log))
    return likely if sum(likely.values()) <= 1.0 + _TOLERANCE * len(likely) else None
