"""A judge's life: failures and second attempts, event loops of all kinds, many answers at once, and a quiet end."""

import asyncio
import gc
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import areopage
from areopage.cases.records import Case
from areopage.errors import DatasetError, StorageError
from areopage.jury.results import Evaluated
from areopage.jury.session import LedgerJudgments, NoJudgments
from areopage.ledger.tables.records import Judgment
from areopage.models.traffic import Traffic
from areopage.monitor.answer_case import case_of
from areopage.monitor.quality_judge import QualityJudge
from areopage.scoring.outcome import Refused, Unreachable
from servers import PATIENCE
from servers.fake_llm import FakeServer
from servers.new_ledger import ledger_at

CASE = case_of("Why?", "Because it is so.", ["It is so."], id="a1")
FLAT = {"exactitude": 9, "completude": 8, "format": 10, "sources": 10, "feedback": "ok"}


def judge_of(server: FakeServer, *judges: str, **wishes: Any) -> QualityJudge:
    """A judge whose models are those of the fake server."""
    environment = {"OPENAI_BASE_URL": server.openai_url, "OLLAMA_HOST": server.address, "OPENAI_API_KEY": "k"}
    return QualityJudge.from_suite("answer_quality", judges or ["openai:fake-a"], environment=environment, **wishes)


class Held(NoJudgments):
    """Judgments that are known, and those that were appended."""

    def __init__(self, known: Mapping[str, Judgment], fault: Exception | None = None) -> None:
        super().__init__()
        self.secret = b"the same for all"
        self._known, self._fault = known, fault
        self.appended: list[Judgment] = []

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        return {key: self._known[key] for key in keys if key in self._known}

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> None:
        if self._fault is not None:
            raise self._fault
        self.appended.append(judgment)


def quick(judge: QualityJudge) -> QualityJudge:
    """A judge that does not try long."""
    judge._session._traffic = Traffic(0.05)
    return judge


def evaluated(judge: QualityJudge, case: Case = CASE, **named: Any) -> Evaluated:
    async def run() -> Evaluated:
        async with judge:
            return await judge.evaluate_case(case, **named)

    return asyncio.run(run())


def test_a_judge_whose_server_is_gone_does_not_delay_the_judges_of_other_servers(server: FakeServer) -> None:
    async def run(other: FakeServer) -> list[Evaluated]:
        environment = {"OPENAI_BASE_URL": server.openai_url, "OLLAMA_HOST": other.address, "OPENAI_API_KEY": "k"}
        judges = ["openai:fake-a", "ollama:fake-b"]
        judge = QualityJudge.from_suite("answer_quality", judges, environment=environment)
        judge._session._traffic = Traffic(600.0)
        async with judge:
            await judge.check()
            server.stop()
            waiting = [asyncio.create_task(judge.evaluate("Why?", f"Because {number}.", ["It is so."])) for number in range(3)]
            while other.answered < 3:  # noqa: ASYNC110 - another thread counts
                await asyncio.sleep(0.01)
            assert not any(task.done() for task in waiting)
            server.start()
            return list(await asyncio.gather(*waiting))

    with FakeServer() as other:
        assert all(found.scored == found.planned for found in asyncio.run(run(other)))


def test_a_server_that_dies_after_the_check_is_unreachable_and_worth_another_attempt(server: FakeServer) -> None:
    async def run() -> Evaluated:
        async with quick(judge_of(server)) as judge:
            await judge.check()
            server.stop()
            return await judge.evaluate_case(CASE)

    found = asyncio.run(run())
    assert found.score_global is None
    assert "unreachable" in found.retryable
    assert found.retryable in found.reason
    assert found.run_id
    (judgment,) = found.judgments
    assert all(isinstance(one.outcome, Unreachable) for one in judgment.verdicts)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_a_missing_model_is_mended_by_people_and_tried_again(server: FakeServer, status: int) -> None:
    server.faults.status = status
    found = evaluated(judge_of(server))
    assert found.score_global is None
    assert f"answered {status}" in found.retryable
    assert "unreachable" in found.reason


def test_a_call_that_the_server_declines_is_refused_and_not_tried_again(server: FakeServer) -> None:
    server.faults.status = 413
    found = evaluated(judge_of(server))
    assert found.score_global is None
    assert found.retryable == ""
    assert all(isinstance(one.outcome, Refused) for one in found.judgments[0].verdicts)


def test_a_failed_first_check_is_reported_and_the_next_attempt_checks_again(server: FakeServer) -> None:
    async def run() -> tuple[Evaluated, Evaluated]:
        async with quick(judge_of(server)) as judge:
            server.stop()
            first = await judge.evaluate_case(CASE)
            server.start()
            judge._session._failed = None
            return first, await judge.evaluate_case(CASE)

    first, second = asyncio.run(run())
    assert first.retryable
    assert second.score_global is not None


def test_while_a_server_is_down_not_every_answer_knocks_at_its_door(server: FakeServer) -> None:
    server.api_key = "another"

    async def run() -> list[Evaluated]:
        async with judge_of(server) as judge:
            return await asyncio.gather(*(judge.evaluate_case(CASE) for _ in range(20)))

    found = asyncio.run(run())
    assert all("rejects the API key" in one.retryable for one in found)
    assert server.lookups == 0
    assert len(server.calls) == 0


def test_what_is_known_is_not_paid_for_again_and_what_failed_is(server: FakeServer) -> None:
    async def run() -> tuple[Evaluated, list[Judgment], Evaluated, list[Judgment]]:
        async with judge_of(server, "openai:fake-a", "ollama:fake-b", "controle") as judge:
            first, second = Held({}), list[Judgment]()
            found = await judge.evaluate_case(CASE, first)
            known = {one.key: one for one in found.judgments}
            lost = next(one for one in found.judgments if one.judge == "ollama_fake-b")
            verdicts = tuple(type(one)(criterion=one.criterion, outcome=Unreachable(reason="gone")) for one in lost.verdicts)
            known[lost.key] = msgspec.structs.replace(lost, verdicts=verdicts)
            server.calls.clear()
            return found, first.appended, await judge.evaluate_case(CASE, Held(known), second.append), second

    found, first, again, second = asyncio.run(run())
    assert {one.key for one in first} == {one.key for one in found.judgments}
    assert [one.judge for one in second] == ["ollama_fake-b"]
    assert len(server.calls) == 1
    assert again.score_global == found.score_global


def test_judgments_go_to_the_ledger_and_come_back(server: FakeServer, tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.db")

    async def run() -> tuple[Evaluated, Evaluated]:
        async with judge_of(server, "openai:fake-a", "controle") as judge:
            await judge.check()
            ledger.create_run(judge.run(), [])
            first = await judge.evaluate_case(CASE, LedgerJudgments(ledger))
            server.calls.clear()
            return first, await judge.evaluate_case(CASE, LedgerJudgments(ledger))

    first, second = asyncio.run(run())
    assert server.calls == []
    assert (second.scores, second.score_global, second.feedback) == (first.scores, first.score_global, first.feedback)
    assert {one.run_id for one in first.judgments} == {first.run_id}
    ledger.close()


def test_a_ledger_that_cannot_be_written_stops_the_evaluation(server: FakeServer) -> None:
    full = Held({}, StorageError("no space left"))
    with pytest.raises(StorageError, match="no space left"):
        evaluated(judge_of(server, "openai:fake-a", "ollama:fake-b"), store=full)


def test_a_case_without_a_response_cannot_be_judged(server: FakeServer) -> None:
    with pytest.raises(DatasetError, match="the case x has no response"):
        evaluated(judge_of(server), Case(id="x", prompt="p"))


def test_many_answers_at_once_share_one_check(server: FakeServer) -> None:
    async def run() -> list[Evaluated]:
        async with judge_of(server) as judge:
            return await asyncio.gather(*(judge.evaluate(f"q{n}", "a") for n in range(50)))

    found = asyncio.run(run())
    assert all(one.score_global is not None for one in found)
    assert server.lookups == 1
    assert len({one.id for one in found}) == 50


def test_evaluate_sync_needs_no_event_loop(server: FakeServer) -> None:
    server.faults.says = [json.dumps(FLAT)]
    with judge_of(server) as judge:
        assert judge.evaluate_sync("Why?", "Because.").score_global == 9.0
        assert judge.evaluate_sync(question="Why?", answer="So.").score_global == 9.0


def test_evaluate_sync_works_inside_a_running_loop_beside_evaluate(server: FakeServer) -> None:
    async def run() -> tuple[float | None, float | None]:
        async with judge_of(server) as judge:
            before = await judge.evaluate("Why?", "Because.")
            inside = judge.evaluate_sync("Why?", "Because.")
            after = await judge.evaluate("Why?", "Because.")
            assert before.score_global == after.score_global
            return before.score_global, inside.score_global

    one, other = asyncio.run(run())
    assert one == other
    assert one is not None


def test_evaluate_sync_serves_several_threads(server: FakeServer) -> None:
    found: list[Evaluated] = []
    with judge_of(server) as judge:
        threads = [threading.Thread(target=lambda n=n: found.append(judge.evaluate_sync(f"q{n}", "a"))) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert len([one for one in found if one.score_global is not None]) == 8


def open_transports(server: FakeServer) -> list[asyncio.Transport]:
    """What this process still holds of its connections to a server, once Python has looked for reference cycles."""
    gc.collect()
    transports = [one for one in gc.get_objects() if isinstance(one, asyncio.Transport)]
    return [one for one in transports if (one.get_extra_info("peername") or ("", 0))[1] == server.port]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the first loop is closed over an open connection
def test_a_judge_outlives_the_loops_that_ask_it_and_keeps_nothing_of_them(server: FakeServer) -> None:
    judge = judge_of(server)
    first = asyncio.run(judge.evaluate("Why?", "Because."))

    async def last() -> Evaluated:
        async with judge:
            return await judge.evaluate("Why?", "Because.")

    assert asyncio.run(last()).scores == first.scores
    assert server.lookups == 1
    assert open_transports(server) == []


def test_a_closed_judge_can_be_asked_again(server: FakeServer) -> None:
    judge = judge_of(server)
    for _ in range(2):
        assert evaluated(judge).score_global is not None
    with judge:
        assert judge.evaluate_sync("Why?", "Because.").score_global is not None


SCRIPT = """
from areopage.monitor.quality_judge import QualityJudge
judge = QualityJudge.from_suite(judges=["openai:fake-a"], environment={{"OPENAI_BASE_URL": {url!r}, "OPENAI_API_KEY": "k"}})
{body}
"""


def script(server: FakeServer, body: str) -> subprocess.Popen[str]:
    """A script of a user."""
    source = str(Path(areopage.__file__).parents[1])
    text = SCRIPT.format(url=server.openai_url, body=body)
    return subprocess.Popen(
        [sys.executable, "-W", "default", "-c", text],
        env={"PYTHONPATH": source, "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_script_that_never_closes_its_judge_ends_by_itself_without_a_word(server: FakeServer) -> None:
    process = script(server, 'print(judge.evaluate_sync("Why?", "Because.").scored)')
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("4\n", "", 0)


def test_ctrl_c_ends_a_waiting_script_at_once(server: FakeServer) -> None:
    server.faults.hang = True
    process = script(server, 'judge.evaluate_sync("Why?", "Because.")')
    server.wait_for_calls(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)  # the server would hang for an hour
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "Unclosed" not in err and "never retrieved" not in err and "was destroyed" not in err
