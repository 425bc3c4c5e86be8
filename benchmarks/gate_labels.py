"""The labelled sets that the grounding model is fitted on and measured with: they lie in ../shared/data beside the repository."""

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

from gate_french import made_of_questions

from areopage.cases.records import Document
from areopage.gate.grounding.fitting import FittingRow

DATA = Path(__file__).parents[2] / "shared" / "data"
RAGTRUTH = "ragtruth_qa_half/rows.jsonl.gz"
PIAF = "piaf/rows.jsonl.gz"
PAGES = "notarial_fr/official_texts_pages.jsonl.gz"
PASSAGE = re.compile(r"^passage (\d+):", re.IGNORECASE | re.MULTILINE)
MADE_QUESTIONS = 300  # of which made-up French rows are made for fitting
SHUFFLED = 1


def read(name: str) -> list[dict[str, Any]]:
    """The rows of a set.

    Raises:
        FileNotFoundError: the data are not there.
    """
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def passages(context: str) -> tuple[Document, ...]:
    """The numbered passages of a context."""
    parts = PASSAGE.split(context)
    return tuple(Document(id=parts[place], text=parts[place + 1].strip()) for place in range(1, len(parts) - 1, 2))


def ragtruth_rows(raw: list[dict[str, Any]]) -> list[FittingRow]:
    """Answers with the places that people marked as unsupported."""
    return [
        FittingRow(
            prompt=row["query"],
            response=row["response"],
            documents=passages(row["context"]),
            language="en",
            ungrounded=row["hallucinated"],
            unsupported=tuple((span["start"], span["end"]) for span in row["spans"]),
            group=row["source_id"],
        )
        for row in raw
    ]


def questions(*, fitting: bool) -> list[dict[str, Any]]:
    """French questions: those for fitting, or all on other articles than those."""
    rows = read(PIAF)
    random.Random(SHUFFLED).shuffle(rows)
    chosen = rows[:MADE_QUESTIONS]
    titles = {row["title"] for row in chosen}
    return chosen if fitting else [row for row in rows if row["title"] not in titles]


def made_rows(seed: int = 0) -> list[FittingRow]:
    """Made-up French rows for the weight of `foreign`: right answers, and the same beside other documents."""
    return [
        FittingRow(
            prompt=made.prompt,
            response=made.response,
            documents=made.documents,
            language="fr",
            ungrounded=made.wrong,
            unsupported=((0, len(made.response)),) if made.wrong else (),
            group=f"made: {made.group}",
            made=True,
        )
        for made in made_of_questions(questions(fitting=True), seed)
        if not made.kind.startswith(("altered", "swapped"))
    ]
