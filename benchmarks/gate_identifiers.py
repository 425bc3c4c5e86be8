"""Wrong contacts, codes, names, measures and numbers in words: what the gate holds, and what it holds wrongly. One JSON line.

    python benchmarks/gate_identifiers.py

- wrong: of each kind, answers held and tried. `written` are sentences with another identifier than the document; `drawn` the same
  sentences with digits drawn anew, ten times each, so that no number of the document is left in them.
- right: of each set, answers held and tried: sentences in another writing; answers to encyclopedia questions in a sentence, and
  sentences of official pages, over their own text.
- numbers: of each language, right pairs delivered and tried, wrong pairs held and tried: an answer and a document, each with
  a number in words or digits.
- stalling_ms: texts that are built to stall, as long as an answer may be and as long as one of 1,500 numbers: time of a check.

The sets lie in ../shared/data beside the repository and are not part of it; without them `right` has the written sentences alone.
"""

import json
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from gate_labels import DATA, PAGES, PIAF, read

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.text.sentence_ends import sentences
from servers.identified import (
    ENGLISH,
    ENGLISH_NUMBERS,
    FRENCH,
    FRENCH_NUMBERS,
    RIGHT_ENGLISH,
    RIGHT_FRENCH,
    STALLING,
    WRONG_ENGLISH,
    WRONG_FRENCH,
    pairs_of_numbers,
)

DRAWS = 10
EVERY = 7  # of the encyclopedia's questions one is asked
PER_PAGE = 2
SHORT, LONG = 9_000, 99_000  # characters; a text of 1,500 numbers is not read
ROUNDS = 3

Counts = list[int]


def held(gate: Gate, prompt: str, response: str, document: str) -> bool:
    return gate.decide(prompt, response, [Document(id="doc1", text=document, score=0.9)]).verdict != "deliver"


def counted(flags: Iterable[bool]) -> Counts:
    """How many are true, and of how many."""
    found = list(flags)
    return [sum(found), len(found)]


def drawn(sentence: str, document: str, draw: random.Random) -> Iterator[str]:
    """The sentence with other digits, none of whose numbers the document has."""
    known = set(re.findall(r"\d+", document))
    fresh = lambda match: "".join(str(draw.randint(1, 9)) for _ in match.group())  # noqa: E731
    for _ in range(DRAWS if re.search(r"\d", sentence) else 0):
        changed = re.sub(r"\d+", fresh, sentence)
        if not known & set(re.findall(r"\d+", changed)):
            yield changed


def wrong(gate: Gate) -> dict[str, dict[str, Counts]]:
    draw = random.Random(0)
    found: dict[str, dict[str, Counts]] = {}
    sets: tuple[tuple[Mapping[str, tuple[str, ...]], str], ...] = ((WRONG_FRENCH, FRENCH), (WRONG_ENGLISH, ENGLISH))
    for kind in {**WRONG_FRENCH, **WRONG_ENGLISH}:
        own = [(one, document) for ones, document in sets for one in ones.get(kind, ())]
        others = [(changed, document) for one, document in own for changed in drawn(one, document, draw)]
        found[kind] = {
            "written": counted(held(gate, "?", *pair) for pair in own),
            "drawn": counted(held(gate, "?", *pair) for pair in others),
        }
    found["all"] = {
        way: [sum(counts[way][place] for counts in found.values()) for place in (0, 1)] for way in ("written", "drawn")
    }
    return found


def right(gate: Gate) -> dict[str, Counts]:
    written = [(one, FRENCH) for one in RIGHT_FRENCH] + [(one, ENGLISH) for one in RIGHT_ENGLISH]
    found = {"in another writing": counted(held(gate, "?", *pair) for pair in written)}
    if not (DATA / PIAF).exists():
        return found
    rows = read(PIAF)[::EVERY]
    answers = [f"La réponse est : {row['answers'][0]['text'].rstrip(' .')}." for row in rows]
    found["encyclopedia"] = counted(
        held(gate, row["question"], answer, row["context"]) for row, answer in zip(rows, answers, strict=True)
    )
    pages = [(" ".join(one.split()), page["text"]) for page in read(PAGES) for one in usable(page["text"])]
    found["official pages"] = counted(held(gate, "", *pair) for pair in pages)
    return found


def usable(text: str) -> list[str]:
    return [span.text for span in sentences(text, "fr") if 60 <= len(span.text) <= 400][:PER_PAGE]


def numbers(gate: Gate) -> dict[str, dict[str, Counts]]:
    found: dict[str, dict[str, Counts]] = {}
    for language, each in (("fr", FRENCH_NUMBERS), ("en", ENGLISH_NUMBERS)):
        pairs = [pair for sentence in each for pair in pairs_of_numbers(sentence)]
        decided = [(held(gate, "?", answer, document), same) for answer, document, same in pairs]
        found[language] = {
            "right, delivered": counted(not flag for flag, same in decided if same),
            "wrong, held": counted(flag for flag, same in decided if not same),
        }
    return found


def stalling(gate: Gate) -> dict[str, dict[str, float]]:
    document = "Le prix est de 100 €."
    found: dict[str, dict[str, float]] = {}
    for unit in STALLING:
        found[unit.strip()] = {
            str(size): round(min(seconds(gate, unit * (size // len(unit)), document) for _ in range(ROUNDS)) * 1e3, 1)
            for size in (SHORT, LONG)
        }
    return found


def seconds(gate: Gate, response: str, document: str) -> float:
    """The processor's time for one decision: other programs on the machine do not lengthen it."""
    begun = time.thread_time()
    held(gate, "Combien ?", response, document)
    return time.thread_time() - begun


def main() -> None:
    gate = load_gate()
    found: dict[str, Any] = {
        "wrong, held": wrong(gate),
        "right, held": right(gate),
        "numbers": numbers(gate),
        "stalling_ms": stalling(gate),
    }
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
