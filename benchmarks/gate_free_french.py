"""The shipped gate on French answers in free writing, right and wrong. One JSON line; a few seconds.

    python benchmarks/gate_free_french.py

`french_answers/*.jsonl` holds answers that a language model wrote for this project, blind to the gate: to questions of an
encyclopedia and on official pages, each once as the passages have it and once with an error of a given kind. A second reader,
who saw neither labels nor the gate, marked what the passages do not support; answers on which the two differ are left out, and
counted. The passages themselves lie in ../shared/data beside the repository and are not part of it.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from gate_labels import DATA, PAGES, PIAF, read
from gate_measures import Flags, Floats, Whole, auroc, balanced_accuracy, intervals

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.records import Decision

ANSWERS = Path(__file__).parent / "french_answers"


class Passage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a passage stands: a context of the encyclopedia, or characters of a page."""

    context: str = ""
    doc: str = ""
    page: int = 0
    start: int = 0
    end: int = 0


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer as its writer labelled it (`unsupported`, `error`), and as a second reader did (`second`)."""

    id: str
    which: str
    question: str
    passages: tuple[Passage, ...]
    answer: str
    unsupported: tuple[str, ...]
    error: str
    second: tuple[str, ...]
    group: str

    @property
    def wrong(self) -> bool:
        """Whether its writer made it wrong."""
        return bool(self.unsupported)

    @property
    def agreed(self) -> bool:
        """Whether both readers call it the same."""
        return bool(self.unsupported) == bool(self.second)


def written(name: str) -> list[Written]:
    """The answers of a file."""
    return [msgspec.json.decode(line, type=Written) for line in (ANSWERS / name).read_bytes().splitlines()]


class Texts:
    """The passages' texts, from the sets beside the repository."""

    def __init__(self) -> None:
        rows = read(PIAF)
        self._contexts = {row["context_id"]: row["context"] for row in rows}
        self._questions = {row["id"]: row["question"] for row in rows}
        self._pages = {(row["doc"], row["page"]): row["text"] for row in read(PAGES)}

    def question(self, one: Written) -> str:
        """What was asked; the encyclopedia's questions are not kept here."""
        return one.question or str(self._questions[one.id])

    def documents(self, one: Written) -> tuple[Document, ...]:
        """The passages, numbered from 1."""
        return tuple(
            Document(id=str(rank), text=self._text(passage), title=passage.doc) for rank, passage in enumerate(one.passages, 1)
        )

    def _text(self, passage: Passage) -> str:
        if passage.context:
            return str(self._contexts[passage.context])
        return str(self._pages[passage.doc, passage.page])[passage.start : passage.end]


def measured(config: GateConfig, rows: Sequence[Written], decisions: Sequence[Decision]) -> dict[str, Any]:
    """Shares held back and AUROC, with intervals by drawing sources anew; the reasons for which right answers were held back."""
    wrong: Flags = np.array([row.wrong for row in rows], dtype=np.bool_)
    caught: Flags = np.array([decision.verdict != "deliver" for decision in decisions], dtype=np.bool_)
    scores: Floats = np.array([decision.p_unsupported or 0.0 for decision in decisions])
    groups: Whole = np.unique([row.group for row in rows], return_inverse=True)[1]
    kinds: dict[str, list[bool]] = defaultdict(list)
    blamed: dict[str, int] = defaultdict(int)
    for row, decision, flag in zip(rows, decisions, caught.tolist(), strict=True):
        kinds[row.error or "right"].append(flag)
        if flag and not row.wrong:
            for code in sorted({reason.code for reason in decision.reasons}):
                blamed[code] += 1
    return {
        "right": int((~wrong).sum()),
        "wrong": int(wrong.sum()),
        "right, held back": round(float(caught[~wrong].mean()), 3),
        "wrong, held back": round(float(caught[wrong].mean()), 3),
        "balanced accuracy": round(balanced_accuracy(wrong, caught), 3),
        "auroc": round(auroc(wrong, scores), 3),
        "intervals": intervals(
            groups,
            {
                "right, held back": lambda part: float(caught[part][~wrong[part]].mean()),
                "wrong, held back": lambda part: float(caught[part][wrong[part]].mean()),
                "auroc": lambda part: auroc(wrong[part], scores[part]),
            },
        ),
        "held back by kind": {kind: [len(flags), round(sum(flags) / len(flags), 3)] for kind, flags in sorted(kinds.items())},
        "reasons for right answers held back": dict(sorted(blamed.items(), key=lambda item: -item[1])),
        "threshold": config.thresholds.hold,
    }


def main() -> None:
    if not (DATA / PIAF).exists():
        sys.exit(f"{DATA} is not there: the passages lie beside the repository")
    texts, config = Texts(), load_rules()
    gate = Gate(config)
    found: dict[str, Any] = {}
    everything: list[Written] = []
    for path in sorted(ANSWERS.glob("*.jsonl")):
        rows = written(path.name)
        everything += rows
        agreed = [row for row in rows if row.agreed]
        decisions = [gate.decide(texts.question(row), row.answer, texts.documents(row)) for row in agreed]
        found[path.stem] = {"written": len(rows), "left out": len(rows) - len(agreed), **measured(config, agreed, decisions)}
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
