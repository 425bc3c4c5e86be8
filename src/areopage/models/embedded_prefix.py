"""The beginning of a prompt that llama.cpp keeps between calls, in a way that no answer depends on the calls before it.

llama.cpp computes a prompt in batches, and the place where a batch begins changes the last digits of the numbers in its memory.
Left to itself it begins behind the longest part that two prompts in a row share: at temperature 0 an answer then depends on the
call before. Here the places are a matter of the prompt alone: behind the system message, behind the constant part of the next
message, behind that message, and before the last token of the prompt. What lies before such a place is computed once and kept: a
request to write an answer again costs the tokens of that answer and of the request.

llama.cpp is told no place. It gets two short prompts that share the beginning and go different ways: the second is computed from
the place where they part. Before each call the second goes out again; it takes the rest of the last call out of the memory. If
more than the rest is gone, llama.cpp says so by its counts, and the beginning is computed anew from its first token.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from areopage.models.port import Message

Prompt = tuple[Message, ...]

# Ways to go on that share no token: texts begin with neither more than by chance.
_ONE_WAY, _OTHER_WAY = "0", "Z"


class Evaluated(Struct, frozen=True):
    """The tokens of one prompt: how many were computed, and how many before them were kept from the last prompt."""

    computed: int
    kept: int


Evaluate = Callable[[Prompt, bool], Evaluated | None]
"""Computes a prompt without an answer, and keeps what is in the memory if the flag is set; None where it cannot be computed."""


class _Beginning(Struct, frozen=True):
    """A beginning of prompts that is in the memory, and the number of its tokens."""

    messages: Prompt
    tokens: int


class KeptPrefix:
    """The beginnings that one loaded model has in its memory, the longest last."""

    def __init__(self) -> None:
        """Start with an empty memory."""
        self._kept: list[_Beginning] = []
        self._last: Prompt | None = None

    def prepare(self, prompt: Prompt, evaluate: Evaluate) -> tuple[bool, int]:
        """Compute a prompt up to its last token.

        Returns:
            whether the call that follows may keep what is in the memory, and how many tokens were computed.
        """
        if prompt == self._last:
            return True, 0
        self._last = None
        memory = _Memory(evaluate)
        beginnings = beginnings_of(prompt)
        kept = bool(beginnings) and self._lay(beginnings, memory) and memory.compute(prompt, reuse=True) is not None
        if not kept:
            self.forget()
        return kept, memory.computed

    def answered(self, prompt: Prompt) -> None:
        """Note that a prepared prompt was answered: if the same prompt comes next, it needs no preparation."""
        self._last = prompt

    def forget(self) -> None:
        """Take nothing in the memory for granted: a call broke off, or did without it."""
        self._kept, self._last = [], None

    def _lay(self, beginnings: Sequence[Prompt], memory: "_Memory") -> bool:
        """Leave exactly these beginnings in the memory; false where the model cannot keep one."""
        known = 0
        while known < min(len(beginnings), len(self._kept)) and beginnings[known] == self._kept[known].messages:
            known += 1
        if known and memory.place_of(beginnings[known - 1]) != self._kept[known - 1].tokens:
            known = 0
        del self._kept[known:]
        for beginning in beginnings[known:]:
            memory.compute(_going_on(beginning, _ONE_WAY), reuse=bool(self._kept))
            tokens = memory.place_of(beginning)
            if not tokens:
                return False
            self._kept.append(_Beginning(beginning, tokens))
        return True


class _Memory:
    """What one call does to the memory; `computed` counts its tokens."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self.computed = 0

    def compute(self, prompt: Prompt, *, reuse: bool) -> Evaluated | None:
        found = self._evaluate(prompt, reuse)
        self.computed += found.computed if found else 0
        return found

    def place_of(self, beginning: Prompt) -> int:
        """The number of tokens of a beginning that were in the memory; behind them, the memory is as after its first use."""
        found = self.compute(_going_on(beginning, _OTHER_WAY), reuse=True)
        return found.kept if found else 0


def beginnings_of(prompt: Prompt) -> list[Prompt]:
    """The beginnings of a prompt that are kept, the shortest first: the last message of each is cut.

    The first ends behind the system message, the others behind the constant part of the message after it, and behind all of it.
    """
    system = 0
    while system < len(prompt) and prompt[system].role == "system":
        system += 1
    if system == len(prompt):
        return []
    first = prompt[system]
    texts = dict.fromkeys((first.content[: first.constant].rstrip(), first.content.rstrip()))
    texts.pop("", None)
    return [(*prompt[:system], replace(first, content=text, constant=0)) for text in ([""] if system else []) + list(texts)]


def _going_on(beginning: Prompt, way: str) -> Prompt:
    """A beginning as a whole prompt."""
    last = beginning[-1]
    return (*beginning[:-1], replace(last, content=f"{last.content} {way}" if last.content else way))
