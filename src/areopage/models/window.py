"""Whether a prompt fits into a model's context window, and whether a server has cut it.

Servers cut without a word: they keep the end of the prompt, and the judge's instructions are what is lost. The only trace is the
number of tokens that they count.

No tokenizer makes one token of two words, but for a few that join short ones. The words of a prompt are therefore the fewest
tokens that it can have; earlier replies of the same model tell how many more there are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from areopage.models.port import Message

ANSWER_ROOM = 16
"""No answer fits into fewer tokens, so a count so near to the window is that of a prompt that was cut."""
ROUND_WINDOWS = frozenset(1024 * 2**power for power in range(11))
"""Windows, in tokens, that servers are commonly started with."""

_LONGEST_TOKEN = 16  # bytes of one word that one token may hold
_WIDE = re.compile(r"[^\x00-\x7f]")  # a character that takes more than a byte
_LETTERS = bytes(code if code >= 128 or chr(code).isalpha() else 32 for code in range(256))
_DIGITS = bytes(code if 48 <= code < 58 else 32 for code in range(256))
_FEWEST_PER_WORD = 0.6
_TOLERANCE = 0.7  # one text has more tokens for each word than another
_MIN_WORDS = 50
_MARGIN = 1.1


@dataclass(slots=True)
class PromptMeter:
    """The size of prompts for one model, learnt from its replies.

    `per_word` is the smallest number of tokens for each word that was seen; 0 before the first reply. `words` and `tokens` are
    sums over the replies that showed no cut.
    """

    per_word: float = 0.0
    words: int = 0
    tokens: int = 0

    def fewest_tokens(self, messages: Sequence[Message]) -> int:
        """A number of tokens that these messages hardly stay under."""
        return int(_words(messages) * max(_FEWEST_PER_WORD, self.per_word * _TOLERANCE))

    def refusal(self, messages: Sequence[Message], window: int | None, option: str) -> str:
        """Why a prompt cannot be sent, or "".

        Args:
            window: in tokens; None: not known.
            option: the name of what sets it.
        """
        if window is None or self.fewest_tokens(messages) <= window:
            return ""
        return f"the prompt has more than {self.fewest_tokens(messages)} tokens, {too_small(window, option)}"

    def was_cut(self, messages: Sequence[Message], counted: int | None, window: int | None) -> bool:
        """Whether the server's count shows that it dropped part of the prompt; learns from a count that does not.

        Args:
            counted: how many prompt tokens the server counted; None where it is silent.
            window: in tokens; None: not known.
        """
        if counted is None:
            return False
        if counted < self.fewest_tokens(messages) or (window is not None and fills(counted, window)):
            return True
        words = _words(messages)
        if words >= _MIN_WORDS:
            self.per_word = min(self.per_word or counted / words, counted / words)
            self.words, self.tokens = self.words + words, self.tokens + counted
        return False

    def fills_a_usual_window(self, messages: Sequence[Message], counted: int | None) -> bool:
        """Whether a count is that of a window that servers are commonly started with.

        Some prompts have just so many tokens: it is none if earlier replies of the model let expect about this count. For a
        server whose window is not known.
        """
        if counted is None or counted not in ROUND_WINDOWS:
            return False
        return not self.words or _words(messages) * self.tokens / self.words > counted * _MARGIN


def fills(counted: int, window: int) -> bool:
    """Whether a prompt of so many tokens leaves no room for an answer; a server that counts more has a larger window."""
    return window - ANSWER_ROOM <= counted <= window


def too_small(window: int, option: str) -> str:
    """The end of a message about a prompt that does not fit."""
    return f"and {option} is {window}: raise {option} or shorten the case"


def window_of(value: object) -> int | None:
    """An option that sets the window; None where it is no number of tokens."""
    return value if type(value) is int and value > 0 else None


def _words(messages: Sequence[Message]) -> int:
    """How many words and figures there are; of a long one, each part that one token may hold."""
    return sum(map(_words_in, (message.content for message in messages)))


@lru_cache(maxsize=128)  # a prompt is counted several times, and instructions are those of every call
def _words_in(text: str) -> int:
    raw = (text if text.isascii() else _WIDE.sub(_only_words, text)).encode()
    return _parts_in(raw.translate(_LETTERS)) + _parts_in(raw.translate(_DIGITS))


def _only_words(found: re.Match[str]) -> str:
    """A letter as it is, of a digit as many as it takes bytes, and a space for what is in no word."""
    char = found.group()
    if char.isdecimal():
        return "0" * len(char.encode())
    return char if char.isalnum() else " "


def _parts_in(words: bytes) -> int:
    """How many parts of words, between spaces, there are that one token may hold."""
    found = words.split()
    if max(map(len, found), default=0) <= _LONGEST_TOKEN:
        return len(found)
    return sum(-(-len(word) // _LONGEST_TOKEN) for word in found)
