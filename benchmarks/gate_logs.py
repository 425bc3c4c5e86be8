"""The snapshots of an older system, decided anew by the documented rule: what comes out the same, what does not, and why.

Needs the data set `rag_gate_logs` (`--data DIR`). For each snapshot the figures that stand in it are compared with those that the
profile `v1_1` finds over the same documents, scores and answer; `confidence` is also checked in every line of the metrics. One
JSON line.
"""

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.records import Decision

TOLERANCE = 1e-3  # some lines keep three decimals
OTHER_NAMES = {"similarity_score": "avg_score", "confidence_score": "confidence"}
COMPARED = ("cites_ok", "hallucination", "quality_pass", "escalate", "num_sources")


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def renamed(metrics: dict[str, Any]) -> dict[str, Any]:
    """The figures by their documented names; a part of the lines has others."""
    return {OTHER_NAMES.get(name, name): value for name, value in metrics.items()}


def documents(snapshot: dict[str, Any]) -> list[Document]:
    pairs = zip(snapshot["documents"], snapshot["sources"], strict=True)
    return [Document(id=source["id"], text=text, score=source["score"], source=source["source"]) for text, source in pairs]


def differences(told: dict[str, Any], decision: Decision) -> dict[str, list[Any]]:
    """By figure: what the snapshot says, and what the rule finds."""
    found: dict[str, list[Any]] = {}
    for name in ("avg_score", "confidence"):
        ours = getattr(decision.metrics, name)
        if abs(told[name] - ours) > TOLERANCE:
            found[name] = [told[name], round(ours, 6)]
    for name in COMPARED:
        if told[name] != getattr(decision.metrics, name):
            found[name] = [told[name], getattr(decision.metrics, name)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "rag_gate_logs")
    folder = parser.parse_args().data
    gate, own = load_gate("v1_1"), load_gate()
    verdicts: dict[str, Counter[str]] = {"v1_1": Counter(), "default": Counter()}
    snapshots = []
    for snapshot in rows(folder / "snapshots_for_review.jsonl.gz"):
        asked = (snapshot["question"], snapshot["generation"], documents(snapshot))
        decision, ours = gate.decide(*asked), own.decide(*asked)
        verdicts["v1_1"][decision.verdict] += 1
        verdicts["default"][ours.verdict] += 1
        snapshots.append(
            {
                "id": snapshot["id"][:8],
                "differs": differences(renamed(snapshot["metrics"]), decision),
                "overlap_ratio": decision.metrics.overlap_ratio,
                "verdict": decision.verdict,
                "default": ours.verdict,
                "default_reasons": sorted({reason.code for reason in ours.reasons if reason.decisive}),
            }
        )
    answers = rows(folder / "llm_responses.jsonl.gz")
    metrics = [renamed(row) for row in rows(folder / "metrics.jsonl.gz")]
    found = {
        "benchmark": "gate_logs",
        "snapshots": snapshots,
        "same": sum(not one["differs"] for one in snapshots),
        "verdicts": {name: dict(counted) for name, counted in verdicts.items()},
        "metrics": len(metrics),
        "cites_ok": sum(row["cites_ok"] for row in metrics),
        "answers_with_detected_ids": sum(bool(row["detected_ids"]) for row in answers),
        "confidence_is_0.8_avg_score": sum(abs(row["confidence"] - 0.8 * row["avg_score"]) <= TOLERANCE for row in metrics),
        "pass_follows_from_the_rule": sum(
            row["quality_pass"] == (not row["hallucination"] and row["confidence"] >= 0.35 and row["cites_ok"]) for row in metrics
        ),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
