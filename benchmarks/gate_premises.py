"""How the gate treats what only the question says: false premises that an answer affirms, beside right answers. One JSON line.

    python benchmarks/gate_premises.py [FILE...]

Each file is JSON Lines of pairs: `id`, `lang`, `kind`, `question`, `documents` (texts), `answer_false`, `answer_right`.
`answer_false` affirms something that stands in the question alone. `answer_right` denies it, attributes it to the user, repeats
the user's circumstances, or says what the documents say; an optional `right` names which. Without a file the committed pairs
are read.

Counts are [held, all]. `for the question` counts the answers that the reason `asserted_by_question` holds.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.gate.records import Decision

PREMISES = Path(__file__).parents[1] / "tests" / "gate" / "premises"

Counts = dict[str, list[int]]


def pairs(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def decided(gate: Gate, pair: dict[str, Any], answer: str) -> Decision:
    documents = [Document(id=f"doc{n}", text=text, score=0.9) for n, text in enumerate(pair["documents"], 1)]
    return gate.decide(pair["question"], pair[answer], documents)


def added(counts: Counts, keys: Iterable[str], flag: bool) -> None:
    for key in keys:
        counts[key][0] += flag
        counts[key][1] += 1


def measure(gate: Gate, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    counts: dict[str, Counts] = {name: defaultdict(lambda: [0, 0]) for name in ("false", "right", "for the question")}
    errors: dict[str, list[str]] = {"ids of false, delivered": [], "ids of right, held": []}
    for pair in rows:
        keys = ("all", pair["lang"], pair["kind"])
        false, right = decided(gate, pair, "answer_false"), decided(gate, pair, "answer_right")
        asserted = any(reason.code == "asserted_by_question" and reason.decisive for reason in false.reasons)
        added(counts["false"], keys, false.verdict != "deliver")
        added(counts["for the question"], keys, asserted)
        added(counts["right"], (*keys, *filter(None, [pair.get("right", "")])), right.verdict != "deliver")
        if false.verdict == "deliver":
            errors["ids of false, delivered"].append(pair["id"])
        if right.verdict != "deliver":
            codes = sorted({reason.code for reason in right.reasons if reason.decisive})
            errors["ids of right, held"].append(f"{pair['id']}: {', '.join(codes)}")
    return {**{f"{name}, held" if name != "for the question" else name: value for name, value in counts.items()}, **errors}


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]] or sorted(PREMISES.glob("*.jsonl"))
    print(json.dumps({"benchmark": "gate_premises", **measure(load_gate(), pairs(paths))}, ensure_ascii=False))


if __name__ == "__main__":
    main()
