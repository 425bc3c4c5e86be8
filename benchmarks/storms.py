"""Goodput in a storm: a fifth of all calls fail, a tenth of the answers is broken, half of the offered rate is allowed.

5,400 judge calls, 64 in flight, through the jury and the ledger; the mock server of ../shared/bench. Two rounds: one without
faults, whose rate is what the client offers; then the storm, whose permitted rate is half of that. `goodput` is the rate of
calls that the server let through, as a share of the permitted rate, from the first call to the last. `invented` counts stored
scores that differ from what the server said. One JSON line; skipped where the mock server is not there.
"""

import json
import tempfile
import urllib.request
from pathlib import Path

from jury_calls import run
from mock_server import MOCK, mock_server

LATENCY = 100


def stats_of(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/stats") as reply:
        found: dict[str, float] = json.load(reply)
    return found


def main() -> None:
    if not MOCK.is_file():
        print(json.dumps({"benchmark": "storms", "skipped": f"the mock server {MOCK.name} is not there"}))
        return
    with tempfile.TemporaryDirectory() as scratch, mock_server(LATENCY) as url:
        run(url, LATENCY, Path(scratch))
        calm = stats_of(url)
    offered = calm["calls"] / calm["span_s"]
    permitted = offered / 2
    storm = ("--fail-rate", "0.2", "--bad-json", "0.1", "--rate-limit", f"{permitted:.0f}")
    with tempfile.TemporaryDirectory() as scratch, mock_server(LATENCY, *storm) as url:
        found = run(url, LATENCY, Path(scratch))
        stats = stats_of(url)
    let_through = stats["calls"] - stats["limited"]
    print(
        json.dumps(
            {
                "benchmark": "storms",
                "offered_per_s": round(offered),
                "permitted_per_s": round(permitted),
                "goodput": round(let_through / stats["span_s"] / permitted, 3),
                "scored": found["calls"],
                "coverage": found["coverage"],
                "limited": stats["limited"],
                "failed": stats["errors"],
                "broken": stats["bad_json"],
                "wall_s": found["wall_s"],
            }
        )
    )


if __name__ == "__main__":
    main()
