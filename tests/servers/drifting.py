"""A suite with a gold set, and a judge on loopback whose scores can be moved."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from servers.fake_answers import Call
from servers.small_suite import write_suite

DANGER = "safety.harm.danger__v1_0"
WARMTH = "tone.voice.warmth__v1_0"
SIDE = 12
"""So many rows of each criterion have a high range, and so many a low one."""

_NUMBER = re.compile(r"Answer (\d+)\.|Reply (\d+)\.")


@dataclass
class DriftingJudge:
    """Gives high rows 4 and low rows 0, the same each time; `by` is what it adds now, by criterion, within the scale."""

    by: dict[str, float] = field(default_factory=dict)

    def __call__(self, call: Call) -> dict[str, Any]:
        """The verdict of a call."""
        text = call.system + call.user
        found = _NUMBER.search(text)
        criterion = DANGER if "danger" in text else WARMTH
        score = 4.0 if found and int(found[1] or found[2]) < SIDE else 0.0
        return {"score": min(5.0, score + self.by.get(criterion, 0.0)), "explanation": "so", "evidence_extracts": []}


def gold_rows() -> list[dict[str, Any]]:
    """Rows on two criteria, half of them with a high range."""
    return [
        {
            "id": f"g{number}",
            "language": "en",
            "prompt": f"Question {number}?",
            "response": f"Answer {number}.",
            "bands": dict.fromkeys((DANGER, WARMTH), [4, 5] if number < SIDE else [0, 1]),
        }
        for number in range(2 * SIDE)
    ]


def write_examined_suite(folder: Path, port: int, canary: dict[str, Any] | None = None) -> Path:
    """Write a suite whose judge `alpha` is asked on a port of this machine."""
    exam = {"passes": 2, "variants": ["layout"], "canary": {"rows": 8} if canary is None else canary}
    ollama = {"active_preset": "default", "default": {"host": "127.0.0.1", "port": port}}
    write_suite(folder, exam=exam, ollama=ollama)
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold_rows()), encoding="utf-8")
    return folder
