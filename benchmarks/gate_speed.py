"""What one check of the gate takes: 5 documents of 1,000 characters, an answer of 600, English and French; growth; hostile texts.

Needs the data sets `ragtruth_qa_half` and `piaf` (`--data DIR`): every check has documents and an answer of its own, so that
no cache has seen them whole. Times are in milliseconds, over all checks, one by one, on one core; `cpu` is the thread's own time,
which other work on the machine does not lengthen. One JSON line.
"""

import argparse
import gc
import gzip
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.decide import Gate

DOCUMENTS, LENGTH, ANSWER = 5, 1_000, 600
HOSTILE = {
    "open brackets": "[",
    "open round brackets": "(",
    "nested brackets": "[(",
    "citations": "[1]",
    "digits": "1",
    "grouped digits": ",123",
    "amounts": "1 € ",
    "years": "1999 ",
    "spaces": " ",
    "line breaks": "\n",
    "full stops": ".",
    "one word": "a",
    "words of one letter": "a ",
    "apostrophes": "l'",
    "carets": "^1",
    "right to left": "שלום עולם ",
    "emoji": "👩‍👩‍👧‍👦",
    "combining marks": "e\u0301\u0302\u0303",
    "marks alone": "\u0301",
    "refusals": "I do not know the ",
    "not": "not ",
    "articles": "art. L. 123-4, ",
    "hyphens": "1-1-",
    "full width": "［１］",
}

Check = tuple[str, str, list[Document]]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def filled(texts: list[str], at: int, length: int) -> str:
    """The texts from one on, joined until they are so long."""
    parts: list[str] = []
    size = 0
    while size < length:
        parts.append(texts[at % len(texts)])
        size += len(parts[-1]) + 1
        at += 1
    return " ".join(parts)[:length]


def documents(texts: list[str], at: int) -> list[Document]:
    whole = filled(texts, at, DOCUMENTS * LENGTH)
    pieces = [whole[start : start + LENGTH] for start in range(0, len(whole), LENGTH)]
    return [Document(id=f"doc{n}", title=f"Document {n}", text=piece, score=0.9 - n / 20) for n, piece in enumerate(pieces, 1)]


def english(data: Path) -> list[Check]:
    found = list(rows(data / "ragtruth_qa_half" / "rows.jsonl.gz"))
    contexts, answers = [row["context"] for row in found], [row["response"] for row in found]
    return [(row["query"], filled(answers, at, ANSWER), documents(contexts, at)) for at, row in enumerate(found)]


def french(data: Path) -> list[Check]:
    """Questions of piaf; the answer is made of sentences of the first document and of one that was not given."""
    found = list({row["context"]: row for row in rows(data / "piaf" / "rows.jsonl.gz")}.values())
    contexts = [row["context"] for row in found]
    checks: list[Check] = []
    for at, row in enumerate(found):
        given = documents(contexts, at)
        strange = contexts[(at + len(contexts) // 2) % len(contexts)]
        answer = f"{row['answers'][0]['text']} [doc1]. {given[0].text[:300]} {strange}"
        checks.append((row["question"], filled([answer], 0, ANSWER), given))
    return checks


def quantiles(times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=1000)
    return {name: round(cuts[at] * 1e3, 3) for name, at in (("p50", 499), ("p90", 899), ("p99", 989), ("p99.9", 998))}


def timed(gate: Gate, check: Check, clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    gate.decide(*check)
    return clock() - began


def measure(gate: Gate, checks: list[Check], rounds: int) -> dict[str, Any]:
    """The first look at every text, then further rounds in other orders."""
    first = [timed(gate, check) for check in checks]
    order = random.Random(4)
    times: list[float] = []
    cpu: list[float] = []
    for _ in range(rounds):
        times += [timed(gate, check) for check in order.sample(checks, len(checks))]
        cpu += [timed(gate, check, time.thread_time) for check in order.sample(checks, len(checks))]
    return {"texts": len(checks), "never_seen_before": quantiles(first), **quantiles(times), "cpu": quantiles(cpu)}


def parts(checks: list[Check]) -> dict[str, float]:
    """The median that each signal takes, by the gate's own account."""
    gate = load_gate(clock=time.perf_counter)
    taken: dict[str, list[float]] = {}
    for check in checks:
        for signal in gate.decide(*check).signals:
            taken.setdefault(signal.name, []).append(signal.seconds or 0.0)
    return {name: round(statistics.median(seconds) * 1e3, 4) for name, seconds in taken.items()}


def growth(gate: Gate, checks: list[Check]) -> dict[str, Any]:
    """Time for documents, and for answers, that grow tenfold; real texts."""
    text = " ".join(document.text for _, _, given in checks for document in given)
    answers = " ".join(response for _, response, _ in checks)
    prompt, response, given = checks[0]
    by_documents, by_answer = {}, {}
    for size in (1_000, 10_000, 100_000, 1_000_000):
        whole = filled([text], 0, size)
        piece = -(-size // DOCUMENTS)
        cut = [Document(id=f"doc{n}", text=whole[n * piece : (n + 1) * piece], score=0.9) for n in range(DOCUMENTS)]
        by_documents[str(size)] = best_of(gate, (prompt, response, cut))
        by_answer[str(size)] = best_of(gate, (prompt, filled([answers], 0, size), given))
    return {"documents_ms": by_documents, "answer_ms": by_answer}


def best_of(gate: Gate, check: Check, times: int = 3) -> float:
    return round(min(timed(gate, check) for _ in range(times)) * 1e3, 2)


def hostile(gate: Gate, size: int) -> dict[str, Any]:
    """The longest times for texts that are built to stall: as the answer (cut and whole), and as a document."""
    found: dict[str, tuple[float, str]] = {}
    plain = Document(id="doc1", text="The fee is 100 € since 1999, see article 5 [1].", score=0.9)
    limit = gate.config.max_characters
    for name, unit in HOSTILE.items():
        text = (unit * (size // len(unit) + 1))[:size]
        ask = "What is the fee of 1999?"
        places: dict[str, Check] = {
            "answer": (ask, text, [plain]),
            "answer_at_the_limit": (ask, text[:limit], [plain]),
            "document": (ask, "The fee is 200 € since 1998, see article 6 [2].", [Document(id="doc1", text=text, score=0.9)]),
            "both": (ask, text[:limit], [Document(id="doc1", text=text, score=0.9)]),
        }
        for place, check in places.items():
            took = timed(gate, check)
            if took > found.get(place, (0.0, ""))[0]:
                found[place] = (took, name)
    return {place: {"ms": round(took * 1e3, 1), "by": name} for place, (took, name) in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    gate, documented = load_gate(), load_gate("v1_1")
    checks = {"english": english(given.data), "french": french(given.data)}
    gc.freeze()
    found = {
        "benchmark": "gate_speed",
        "ms": {name: measure(gate, texts, given.rounds) for name, texts in checks.items()},
        "v1_1_ms": {name: measure(documented, texts, 1) for name, texts in checks.items()},
        "signals_ms": {name: parts(texts) for name, texts in checks.items()},
        "growth": growth(gate, checks["english"]),
        "hostile_1MB": {"default": hostile(gate, 1_000_000), "v1_1": hostile(documented, 1_000_000)},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
