"""The pytest plugin on a noisy target: how often an unchanged one fails a test, and how often a worse one does.

    python pytest_noise.py [--runs N] [--pipeline N] [--seed N]

The simulated target answers each prompt badly with that prompt's own probability, independently of all other answers. `pipeline`
takes the plugin's whole path: the answers of each run are judged by a recorded jury, stored in a ledger and compared. The other
parts take the same decisions on simulated verdicts, which is quick. Prints one JSON line: shares of runs with Wilson's 95 %
intervals.
"""

import argparse
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from areopage.compare.statistics.levels import CaseOutcomes, LevelDifference, compare_paired
from areopage.compare.statistics.tested import LEVELS, family_of, kept_run_level
from areopage.criteria.records import Scale
from areopage.scoring.shares import wilson
from areopage.suites.scaffold import blank_suite
from areopage.testing.claims import SampleClaim
from areopage.testing.runs import RunsFolder, decide, sample_of
from areopage.testing.share_decisions import CONFIDENCE, AnswerCounts, decide_shares

SCALE = Scale(min=0.0, max=5.0)
CRITERION = "safety.harm.danger"
GOOD, BAD = "All is well.", "DANGER"
SPREAD = 8.0
"""Of the prompts' shares: those of a beta distribution whose parameters add up to it."""

LEVEL = kept_run_level(1.0 - CONFIDENCE)
"""Of a test whose only claim is that nothing is worse than in its baseline."""

Flags = NDArray[np.bool_]


def part_of(hits: int, of: int) -> dict[str, Any]:
    low, high = wilson(hits, of) or (0.0, 1.0)
    return {"runs": hits, "of": of, "share": round(hits / of, 4), "low": round(low, 4), "high": round(high, 4)}


def prompt_shares(random: np.random.Generator, prompts: int, mean: float) -> NDArray[np.float64]:
    """The shares of good answers to prompts; their mean is the stated one."""
    drawn = random.beta(mean * SPREAD, (1.0 - mean) * SPREAD, size=prompts)
    missing = (1.0 - drawn).mean()
    scaled: NDArray[np.float64] = 1.0 - (1.0 - drawn) * ((1.0 - mean) / missing)
    return scaled.clip(0.0, 1.0)


def share_runs(random: np.random.Generator, runs: int, prompts: int, true: float, demanded: float) -> dict[str, Any]:
    """The verdicts of tests that demand a share."""
    shares = prompt_shares(random, prompts, true)
    counts = {"fail": 0, "pass": 0, "undecided": 0}
    for _ in range(runs):
        passed = int((random.random(prompts) < shares).sum())
        found = decide_shares({CRITERION: AnswerCounts(passed=passed, failed=prompts - passed)}, demanded)
        counts[found[CRITERION].verdict] += 1
    return {
        "prompts": prompts,
        "true": true,
        "demanded": demanded,
        "fails": part_of(counts["fail"], runs),
        "undecided": counts["undecided"],
    }


def is_worse(now: Flags, before: Flags, level: float = LEVEL) -> bool:
    """Whether a run is found worse than a kept one, by the comparison of runs."""
    return _is_worse(int((before & ~now).sum()), int((now & ~before).sum()), len(now), level)


@cache
def _is_worse(newly: int, mended: int, prompts: int, level: float) -> bool:
    """As `is_worse`, of how many cases newly fail, and how many fail no more: nothing else decides."""
    now, before = np.ones(prompts, dtype=np.bool_), np.ones(prompts, dtype=np.bool_)
    now[:newly], before[newly : newly + mended] = False, False
    sides = [
        CaseOutcomes(
            scores={str(n): 5.0 * good for n, good in enumerate(side.tolist())},
            fails={str(n): not good for n, good in enumerate(side.tolist())},
        )
        for side in (now, before)
    ]
    own = compare_paired(sides[0], sides[1], SCALE)
    parts = ("safety", "harm", CRITERION)
    tree = [
        LevelDifference(level=one, path=parts[:depth], criteria=(CRITERION,), counted=(CRITERION,), difference=own)
        for depth, one in enumerate(LEVELS)
    ]
    (levels,) = family_of([tree], SCALE, level)
    return any("worse" in one.difference.directions for one in levels)


def baseline_runs(
    random: np.random.Generator, runs: int, prompts: int, before: float, now: float, baselines: int = 200
) -> dict[str, Any]:
    """Tests against a baseline: with a new baseline for each run, and with each of many baselines kept for all runs."""
    shares = prompt_shares(random, prompts, before)
    later = 1.0 - (1.0 - shares) * ((1.0 - now) / (1.0 - before))

    def drawn(of: NDArray[np.float64]) -> Flags:
        return random.random(prompts) < of.clip(0.0, 1.0)

    new = sum(is_worse(drawn(later), drawn(shares)) for _ in range(runs))
    found: dict[str, Any] = {"prompts": prompts, "before": before, "now": now, "fails": part_of(new, runs)}
    if before == now and baselines:
        kept = [sum(is_worse(drawn(later), base) for _ in range(runs)) for base in (drawn(shares) for _ in range(baselines))]
        found["kept_baselines"] = {
            "mean": round(float(np.mean(kept)) / runs, 4),
            "95_of_100": round(float(np.quantile(kept, 0.95)) / runs, 4),
            "worst": round(max(kept) / runs, 4),
            "over_stated": part_of(sum(one / runs > 1.0 - CONFIDENCE for one in kept), baselines),
        }
    return found


def write_project(folder: Path, prompts: int) -> SampleClaim:
    """A suite of one criterion, its prompts, and a recording of what a judge says of both answers to each."""
    blank_suite(folder / "suite", [CRITERION], ["en"])
    for prompt_file in (folder / "suite").glob("assets/criteria/**/*.prompt"):
        prompt_file.write_text(prompt_file.read_text(encoding="utf-8").replace("...", "danger"), encoding="utf-8")
    asked = [f"Question number {n}, please?" for n in range(prompts)]
    rows = [json.dumps({"id": f"c{n}", "prompt": prompt}) for n, prompt in enumerate(asked)]
    (folder / "cases.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    verdicts = [
        json.dumps({"prompt": prompt, "asked": "jury", "response": response, "score": score})
        for prompt in asked
        for response, score in ((GOOD, 5), (BAD, 0))
    ]
    (folder / "verdicts.jsonl").write_text("\n".join(verdicts) + "\n", encoding="utf-8")
    return SampleClaim(
        suite=str(folder / "suite"),
        datasets=(folder / "cases.jsonl",),
        judges=(f"jury=replay:{folder / 'verdicts.jsonl'}",),
        passes=1,
        at_least=0.9,
        baseline=True,
    )


def pipeline_runs(random: np.random.Generator, runs: int, prompts: int, true: float) -> dict[str, Any]:
    """Whole tests of an unchanged target with both claims: a share of 90 %, and a baseline that is kept once."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        claim, place = write_project(folder, prompts), RunsFolder(folder=folder / ".areopage")
        shares = dict(enumerate(prompt_shares(random, prompts, true).tolist()))

        def target(prompt: str) -> str:
            number = int(prompt.split()[2].strip(","))
            return GOOD if random.random() < shares[number] else BAD

        verdicts: dict[str, int] = {"fail": 0, "pass": 0, "undecided": 0}
        for run in range(runs + 1):
            sample = sample_of(claim)
            sample.ask(target)
            found = decide(claim, sample, "test", place, keep=run == 0)
            verdicts[found.verdict] += run > 0
    return {"prompts": prompts, "true": true, "demanded": 0.9, "fails": part_of(verdicts["fail"], runs), "verdicts": verdicts}


def measured(runs: int, pipeline: int, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    sizes = (50, 100, 200, 400)
    return {
        "share_unchanged": [share_runs(random, runs, size, 0.9, 0.9) for size in sizes],
        "share_worse": [share_runs(random, runs, size, 0.8, 0.9) for size in sizes],
        "share_better": [share_runs(random, runs, size, 0.95, 0.9) for size in sizes],
        "baseline_unchanged": [baseline_runs(random, runs, size, 0.95, 0.95) for size in sizes[:3]],
        "baseline_worse": [baseline_runs(random, runs, size, 0.95, 0.8) for size in sizes[:3]],
        "baseline_slightly_worse": [baseline_runs(random, runs, size, 0.95, 0.9) for size in sizes[:3]],
        **({"pipeline": pipeline_runs(random, pipeline, 60, 0.9)} if pipeline else {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pipeline", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    wished = parser.parse_args()
    print(json.dumps(measured(wished.runs, wished.pipeline, wished.seed)))


if __name__ == "__main__":
    main()
