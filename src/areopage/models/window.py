"""Whether a prompt fits into a model's context window, and whether a server has cut it.

Servers cut without a word: they keep the end of the prompt, and the judge's instructions are what is lost. The only trace is the
number of tokens that they count.

No tokenizer makes one token of two words, but for a few that join short ones. The words of a prompt are therefore the fewest
tokens that it can have; earlier replies of the same model tell how many more there are.

`Gauge` says before a run what will not fit, and before each call whether it is sent, by the bytes for each token that were
measured with the model. `PromptMeter` looks at the replies of one connection.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from msgspec import Struct

from areopage.models.port import CHARACTERS_PER_TOKEN, Message, Options

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


MOST_BYTES_PER_TOKEN = 6.0
"""Of running text: no model known makes so few tokens of it."""
FEWEST_BYTES_PER_TOKEN = 3.0
"""Of languages that take many tokens, so that a warning comes too early rather than too late."""
WINDOW_OPTIONS = ("num_ctx", "n_ctx")
"""The options that set the window of a call."""


class Gauge(Struct, frozen=True, kw_only=True):
    """How many tokens texts are for one model, and how many its window holds.

    Args:
        stated: the largest window by the server, in tokens; None where it does not tell.
        default: the window of a call whose options name none; None where it is the largest, or not known.
        bytes_per_token: measured over earlier calls; None where there are none.
        calls: of which it was measured.
    """

    stated: int | None = None
    default: int | None = None
    bytes_per_token: float | None = None
    calls: int = 0

    def window(self, options: Options) -> int | None:
        """The window of a call, in tokens: the smaller one of its option and the server's; None where neither is known."""
        named = [window_of(options.get(name)) for name in WINDOW_OPTIONS]
        asked = named if any(named) else [self.default]
        return min((window for window in (*asked, self.stated) if window), default=None)

    def tokens(self, size: int) -> int:
        """About how many tokens a text of so many bytes has; at the usual four bytes each where nothing was measured."""
        return round(size / (self.bytes_per_token or CHARACTERS_PER_TOKEN))

    def most_tokens(self, size: int) -> int:
        """The most tokens that a text of so many bytes may have, as far as that is known."""
        return round(size / (self.bytes_per_token or FEWEST_BYTES_PER_TOKEN))

    def holds(self, options: Options, room: int) -> float | None:
        """The bytes of a prompt that fit into the window of a call; None where it is not known."""
        window = self.window(options)
        return None if window is None else max(0, window - room) * (self.bytes_per_token or CHARACTERS_PER_TOKEN)

    def refusal(self, size: int, options: Options) -> str:
        """Why a prompt of so many bytes is not sent, or "".

        Where nothing was measured, only what is too long for every model is refused here: the server refuses the rest.
        """
        window = self.window(options)
        fewest = size / (self.bytes_per_token or MOST_BYTES_PER_TOKEN)
        if window is None or fewest + ANSWER_ROOM <= window:
            return ""
        named = next((name for name in WINDOW_OPTIONS if window_of(options.get(name)) == window), "")
        size_text = f"the prompt has {'about' if self.bytes_per_token else 'more than'} {fewest:.0f} tokens"
        if named:
            return f"{size_text}, {too_small(window, named)}"
        return f"{size_text}, and the model's window holds {window}: shorten the case, or choose a model with a larger window"

    def may_not_fit(self, size: int, options: Options, room: int) -> bool:
        """Whether a prompt that is sent may still be too long, with an answer of `room` tokens."""
        window = self.window(options)
        return window is not None and self.most_tokens(size) + room > window and not self.refusal(size, options)


@dataclass(slots=True)
class PromptMeter:
    """The size of prompts for one model, learnt from its replies.

    `per_word` is the smallest number of tokens for each word that was seen; 0 before the first reply. `words` and `tokens` are
    sums over the replies that showed no cut.
    """

    per_word: float = 0.0
    words: int = 0
    tokens: int = 0

    def fewest_tokens(self, words: int) -> int:
        """A number of tokens that messages of so many words hardly stay under."""
        return int(words * max(_FEWEST_PER_WORD, self.per_word * _TOLERANCE))

    def refusal(self, messages: Sequence[Message], window: int | None, option: str) -> str:
        """Why a prompt cannot be sent, or ""; `option` is the name of what sets the window."""
        if window is None or (fewest := self.fewest_tokens(_words(messages))) <= window:
            return ""
        return f"the prompt has more than {fewest} tokens, {too_small(window, option)}"

    def was_cut(self, messages: Sequence[Message], counted: int | None, window: int | None) -> bool:
        """Whether the server's count shows that it dropped part of the prompt; learns from a count that does not."""
        if counted is None:
            return False
        words = _words(messages)
        if counted < self.fewest_tokens(words) or (window is not None and fills(counted, window)):
            return True
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


def cut_text(provider: str, options: Options) -> str:
    """What is said of a prompt that a server cut; only Ollama takes the window with a call."""
    if provider != "ollama":
        return "the server cut the prompt: raise the server's context length or shorten the case"
    window = window_of(options.get("num_ctx"))
    return f"the server cut the prompt{f' at num_ctx {window}' if window else ''}: raise num_ctx or shorten the case"


def window_of(value: object) -> int | None:
    """An option that sets the window; None where it is no number of tokens."""
    return value if type(value) is int and value > 0 else None


def _words(messages: Sequence[Message]) -> int:
    """How many words and figures there are; of a long one, each part that one token may hold."""
    return sum(_words_in(message.content) for message in messages)


@lru_cache(maxsize=128)  # the rubric, and the case of a block of calls, stand in many prompts
def _words_in(text: str) -> int:
    raw = (text if text.isascii() else _WIDE.sub(_only_words, text)).encode()
    return _parts_in(raw.translate(_LETTERS)) + _parts_in(raw.translate(_DIGITS))


def _only_words(match: re.Match[str]) -> str:
    """A letter as it is, of a digit as many as it takes bytes, and a space for what is in no word."""
    char = match.group()
    if char.isdecimal():
        return "0" * len(char.encode())
    return char if char.isalnum() else " "


def _parts_in(words: bytes) -> int:
    parts = words.split()
    if max(map(len, parts), default=0) <= _LONGEST_TOKEN:
        return len(parts)
    return sum(-(-len(word) // _LONGEST_TOKEN) for word in parts)
