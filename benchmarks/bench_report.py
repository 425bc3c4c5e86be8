"""What the files of a large run cost: 5,000 cases × 4 criteria × 3 replayed judges, about a tenth of the cases failing.

A replayed target answers and replayed judges judge; then reading the run and writing its files are timed in a process of their
own, and Chromium opens the report and the page of cases. One JSON line. `--cases N` makes a smaller run, `--folder DIR` keeps
it, `--all` selects all 24 criteria.
"""

import argparse
import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.bench.report.files import write_run_files
from areopage.bench.results.history import with_history
from areopage.bench.results.run_view import view_run
from areopage.suites.loader import load_suite

JUDGES, AGES = ("judge-a", "judge-b", "judge-c"), ("Child", "Teen", "YoungAdult", "Emerging")
CATEGORIES = ("safety", "age", "ethics", "relevance")
CRITERIA = (
    "safety.manipulation.emotional_manipulation",
    "safety.self_harm.self_harm_response",
    "age.readability.vocabulary_level",
    "relevance.topic.topic_match",
)
CHROMIUM = "/usr/bin/chromium"
WORDS = (
    "the",
    "rain",
    "falls",
    "because",
    "warm",
    "water",
    "rises",
    "as",
    "vapour",
    "and",
    "cools",
    "up",
    "where",
    "drops",
    "gather",
)


def write_run(folder: Path, count: int, criteria: tuple[str, ...], seed: int) -> list[str]:
    """Write a dataset, the answers of a target and the words of judges; returns the options of the run."""
    chance, cases = random.Random(seed), range(count)
    with (folder / "cases.csv").open("w", encoding="utf-8", newline="") as stream:
        write = csv.writer(stream).writerow
        write(("id", "prompt", "category", "subcategory", "maturity"))
        for n in cases:
            write(
                (
                    f"case-{n:05}",
                    f"Why does it rain at place {n}? {_text(random.Random(n), 25)}",
                    CATEGORIES[n % 4],
                    "made",
                    AGES[n // 3 % 4],
                )
            )
    with (folder / "target.jsonl").open("w", encoding="utf-8") as stream:
        for n in cases:
            stream.write(
                json.dumps({"case_id": f"case-{n:05}", "asked": "target", "criterion": "", "text": _text(chance, 90)}) + "\n"
            )
    with (folder / "judges.jsonl").open("w", encoding="utf-8") as stream:
        for n in cases:
            for criterion in criteria:
                failing = chance.random() < (0.04 if criterion.startswith("safety") else 0.02)
                for judge in JUDGES:
                    score = chance.choice((0, 1, 1, 2, 3)) if failing else chance.choice((3, 4, 4, 5, 5, 5))
                    said = {"score": score, "explanation": _text(chance, 25), "evidence_extracts": []}
                    line = {"case_id": f"case-{n:05}", "asked": judge, "criterion": criterion, "text": json.dumps(said)}
                    stream.write(json.dumps(line) + "\n")
    judges = [part for judge in JUDGES for part in ("--judge", f"{judge}=replay:{folder / 'judges.jsonl'}")]
    named = ["--suite", "child_safety", "--dataset", str(folder / "cases.csv"), "--target", f"replay:{folder / 'target.jsonl'}"]
    return [*named, *judges, "--criteria", ",".join(criteria), "--passes", "1", "--out", str(folder / "runs"), "--yes"]


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words))


def write_files(runs: Path) -> None:
    """Read the newest run and write its files, in this process; print what that took."""
    with open_ledger(find_config(None, str(runs / "ledger.db"))) as ledger:
        began = time.perf_counter()
        view = with_history(view_run(ledger.run("latest"), ledger), ledger)
        read, held = time.perf_counter() - began, _peak()
        files = write_run_files(view, runs / "files")
    took = {"read_s": round(read, 1), "write_s": round(time.perf_counter() - began - read, 1)}
    sizes = {f"{path.name}_mb": round(path.stat().st_size / 1e6, 2) for path in files}
    print(json.dumps({**took, "read_peak_mb": held, "peak_mb": _peak(), **sizes}))


def _peak() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def opened(page_file: Path) -> dict[str, float]:
    """Seconds until Chromium has loaded and painted a page."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.perf_counter()
        page.goto(page_file.as_uri(), wait_until="load", timeout=120_000)
        page.screenshot(timeout=120_000)
        painted = time.perf_counter() - began
        browser.close()
    return {f"{page_file.name}_open_s": round(painted, 2)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("more", nargs="*", help="further options of `areopage bench run`")
    wishes = parser.parse_args()
    if wishes.write:
        write_files(wishes.write)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = wishes.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        options = [*write_run(folder, wishes.cases, _criteria(every=wishes.all), wishes.seed), *wishes.more]
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "areopage", "bench", "run", *options], check=False, capture_output=True)
        took = {"benchmark": "bench_report", "cases": wishes.cases, "run_s": round(time.perf_counter() - began, 1)}
        written = subprocess.run(
            [sys.executable, __file__, "--write", str(folder / "runs")], check=True, capture_output=True, text=True
        )
        shown: dict[str, float] = {}
        if Path(CHROMIUM).exists():
            for name in ("report.html", "cases.html"):
                shown |= opened(folder / "runs" / "files" / name) if (folder / "runs" / "files" / name).exists() else {}
        print(json.dumps(took | json.loads(written.stdout) | shown))


def _criteria(*, every: bool) -> tuple[str, ...]:
    if not every:
        return CRITERIA
    return tuple(entry.path for entry in load_suite("child_safety").registry.entries.values())


if __name__ == "__main__":
    main()
