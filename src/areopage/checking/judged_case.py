"""What the judge of doubtful sentences is shown: the sentences, what came before them, and the passages that concern them.

Decisions and exams build the judge's case here.
"""

from collections.abc import Sequence
from typing import Protocol

from areopage.cases import Case, Document, Turn
from areopage.gate import passages_for

SHOWN_BEFORE = 400  # characters of the answer before the first sentence: what its pronouns stand for
SHOWN_PROMPT = 600  # characters of the question
SHOWN_SENTENCES = 1_200  # characters of the sentences; further ones are not judged
SHOWN_PASSAGES = 3_000  # characters of the documents


class Placed(Protocol):
    """A sentence of an answer, and the character at which it begins."""

    @property
    def start(self) -> int:
        """Where it begins, in characters."""
        ...

    @property
    def text(self) -> str:
        """Its characters."""
        ...


def within_one_call(sentences: Sequence[Placed], indexes: Sequence[int]) -> tuple[int, ...]:
    """The first of some sentences that one call may show together; always one."""
    kept: list[int] = []
    left = SHOWN_SENTENCES
    for index in indexes:
        left -= len(sentences[index].text)
        if kept and left < 0:
            break
        kept.append(index)
    return tuple(kept)


def judged_case(
    prompt: str, response: str, documents: Sequence[Document], sentences: Sequence[Placed], indexes: Sequence[int]
) -> Case:
    """Some sentences as a case: the prompt and the response up to the first of them are its prompt, they are its response."""
    shown = [sentences[index] for index in sorted(indexes)]
    before = response[max(0, shown[0].start - SHOWN_BEFORE) : shown[0].start].strip()
    turns = [Turn(role="user", content=prompt[:SHOWN_PROMPT])]
    if before:
        turns.append(Turn(role="assistant", content=before))
    texts = [" ".join(sentence.text.split())[:SHOWN_SENTENCES] for sentence in shown]
    # a right answer in other words may share none with its document: the question does
    passages = passages_for([*texts, prompt[:SHOWN_PROMPT]], documents, SHOWN_PASSAGES)
    return Case(id="", prompt=tuple(turns), response="\n".join(texts), documents=passages)
