"""What of long documents a judge is shown."""

import random

from areopage.cases import Document
from areopage.checking.judging import passages_for

SPREADS = (2, 3, 5, 6, 7, 9, 11, 13, 3, 7, 6, 5)  # in how many passages a word stands


def test_of_passages_that_share_equally_rare_words_the_first_is_shown_in_whatever_order_words_are_met() -> None:
    syllables = [first + vowel + last for first in "bdfgklmnprst" for vowel in "aeiou" for last in "bdfgklmnprst"]
    for seed in range(80):
        words = random.Random(seed).sample([f"{syllable}ton" for syllable in syllables], 2 * len(SPREADS))
        halves = (words[: len(SPREADS)], words[len(SPREADS) :])
        elsewhere = [word for half in halves for word, spread in zip(half, SPREADS, strict=True) for _ in range(spread - 1)]
        texts = [*(f"{' '.join(half)}." for half in halves), *(f"{word}." for word in elsewhere)]
        documents = [Document(id=str(number), title="", text=text) for number, text in enumerate(texts)]
        shown = passages_for([" ".join(words)], documents, len(texts[0]))
        assert shown[0].id == "0", seed
