"""Log-probabilities of an answer's tokens."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct


class TokenLogprob(Struct, frozen=True):
    """A generated token with its natural-log probability, and the likeliest others at its place.

    `raw` are its bytes, where the server states others than those of its text: a token may be a part of a character.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()
    raw: bytes = b""

    @property
    def written(self) -> bytes:
        """What the token adds to the answer in UTF-8."""
        return self.raw or self.token.encode("utf-8", "replace")


class _AlternativeToken(Struct):
    token: str
    logprob: float


class _Token(_AlternativeToken):
    top_logprobs: tuple[_AlternativeToken, ...] | None = None
    bytes: tuple[int, ...] | None = None


def read_logprobs(tokens: object) -> tuple[TokenLogprob, ...] | None:
    """Read the list of tokens that both protocols give; None where there is none, or where it has another shape.

    An answer that was paid for is not thrown away because its log-probabilities cannot be read.
    """
    if not tokens:
        return None
    try:
        stated = msgspec.convert(tokens, list[_Token])
    except msgspec.ValidationError:
        return None
    return tuple(
        TokenLogprob(
            item.token,
            item.logprob,
            tuple((other.token, other.logprob) for other in item.top_logprobs or ()),
            _bytes_of(item.token, item.bytes),
        )
        for item in stated
    )


def _bytes_of(token: str, stated: Sequence[int] | None) -> bytes:
    """The bytes of a token as servers list them; nothing where they state none but those of its text, or what cannot be bytes."""
    raw = bytes(stated) if stated and all(0 <= code < 256 for code in stated) else b""
    return b"" if raw == token.encode("utf-8", "replace") else raw
