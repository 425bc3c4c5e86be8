"""Is an honest ledger called intact? Days of a help desk whose frequent questions come at once, judged by two workers together.

Equal answers are submitted under ids of their own and judged at the same time, by two workers that know nothing of each other.
The judge is the mock server of ../shared/bench, a share of whose calls fails. Some answers are erased, some without a score are
judged again. After each day the whole ledger is verified. One JSON line; skipped where a part is not there.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

from monitor_pipeline import DOCUMENT, MOCK, judge_server
from sqlalchemy import text

from areopage.app.config import find_config
from areopage.app.monitor import open_quality_judge
from areopage.app.verify import verify_ledger
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluate import Evaluator, ProgressCounter
from areopage.monitor.hook.submission import submission_of


def judged_by_two(ledger: Ledger, config: MonitorConfig, ids: list[str]) -> None:
    """Each worker has its own event loop, connections and sessions, as two processes have, and half of the answers."""
    halves = (ids[: len(ids) // 2], ids[len(ids) // 2 :])
    begun = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda half: asyncio.run(_judged(ledger, config, half, begun)), halves))


async def _judged(ledger: Ledger, config: MonitorConfig, ids: list[str], begun: Barrier) -> None:
    judge = open_quality_judge(config)
    await judge.check()
    ledger.put_panel(judge.run())
    begun.wait()
    with ThreadPoolExecutor(8) as threads:
        worker = Evaluator(ledger, judge, config, threads, ProgressCounter())
        await asyncio.gather(*(worker.run(id, 0) for id in ids))
    await judge.aclose()


def waiting(ledger: Ledger) -> list[str]:
    return [one.id for one in Evaluations(ledger).waiting(10_000)]


def intact(ledger: Ledger) -> tuple[bool, list[str]]:
    told: list[str] = []
    differs = lambda one: told.append(f"{one.subject}: {one.field}: {one.stored} {one.computed}")  # noqa: E731
    return verify_ledger(ledger, (), lambda done: None, told.append, differs).intact, told


def measured(days: int, answers: int, texts: int) -> dict[str, object]:
    drawn, good, first_fault = random.Random(1), 0, ""
    with tempfile.TemporaryDirectory() as folder, judge_server(100, 0.05) as address:
        os.environ["OPENAI_BASE_URL"] = f"{address}/v1"
        place = Path(folder) / "areopage.yml"
        place.write_text(f"ledger: {folder}/ledger.db\nmonitor: {{judges: ['openai:judge-a', 'openai:judge-b']}}\n", "utf-8")
        config = find_config(place, None).monitor
        with Ledger.open(Path(folder) / "ledger.db") as ledger:
            start = datetime.now(UTC) - timedelta(days=days)
            for day in range(days):
                given = [
                    submission_of(f"Question {drawn.randrange(texts)} du jour {day // 7} ?", "Dix jours. " * 9, [DOCUMENT],
                                  id=f"d{day}-{at}", source="site", variant="ab"[at % 2], answered_at=start + timedelta(days=day))
                    for at in range(answers)
                ]  # fmt: skip
                Evaluations(ledger).submit(given)
                judged_by_two(ledger, config, [one.id for one in given])
                if day % 5 == 4:
                    Evaluations(ledger).reopen_unscored()
                    ledger.erasure.erase([f"d{day}-{at}" for at in range(0, answers, 9)])
                if left := waiting(ledger):
                    judged_by_two(ledger, config, left)
                is_intact, told = intact(ledger)
                good += is_intact
                first_fault = first_fault or "; ".join(told[:3])
            with ledger.engine.connect() as connection:
                several = "SELECT count(*) FROM (SELECT key FROM judgments GROUP BY key HAVING count(*) > 1)"
                shared = connection.execute(text(several)).scalar_one()
    return {
        "days": days,
        "answers_a_day": answers,
        "intact": good,
        "keys_with_several_judgments": shared,
        "first_fault": first_fault,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--texts", type=int, default=12)
    asked = parser.parse_args()
    if not MOCK.exists():
        print(json.dumps({"skipped": f"there is no {MOCK}"}))
        return
    print(json.dumps(measured(asked.days, asked.answers, asked.texts)))


if __name__ == "__main__":
    main()
