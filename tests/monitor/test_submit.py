"""Handing answers over: durable, once per id, shared commits, honest sampling, clear refusals."""

import asyncio
import signal
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case
from areopage.errors import StorageError, SubmissionError
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.hook.submission import checked, new_id, submission_of
from areopage.monitor.intake import Intake, is_sampled
from servers import PATIENCE
from servers.forked import Forked

SUBMIT_FOREVER = """
import sys
from areopage.ledger.store import Ledger
from areopage.monitor.intake import Intake
from areopage.monitor.hook.submission import submission_of
intake = Intake(Ledger.open(sys.argv[1]))
for number in range(1_000_000):
    assert intake.submit([submission_of("q", "a", id=f"s{number}")]) == [True]
    print(f"s{number}", flush=True)
"""


def answer(id: str = "", **fields: Any) -> Answer:
    return submission_of("q", "a", id=id, **fields)


def test_an_answer_is_stored_when_submit_returns_and_only_once(ledger: Ledger) -> None:
    intake = Intake(ledger)
    given_one = submission_of("q é", "a", [{"doc_titre": "T", "texte": "x"}], id="one", source="bot", variant="b", language="fr")
    assert intake.submit([given_one, answer("two"), given_one]) == [True, True, False]
    assert intake.submit([answer("two"), answer("three")]) == [False, True]
    found, waiting = Answers(ledger).get("one"), Evaluations(ledger).get("one")
    assert found is not None and waiting is not None
    assert found.case == given_one.case and (found.source, found.variant, found.language) == ("bot", "b", "fr")
    assert waiting.state == "waiting"


def test_submit_survives_kill_9(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    process = Forked(SUBMIT_FOREVER, place)
    printed = [process.stdout.readline() for _ in range(30)]
    process.send_signal(signal.SIGKILL)
    printed += process.communicate()[0].splitlines(keepends=True)
    acknowledged = [line.strip() for line in printed if line.endswith("\n")]
    ledger = Ledger.open(place)
    assert all(Evaluations(ledger).get(id) for id in acknowledged)
    ledger.close()


def test_callers_share_commits_and_each_hears_of_its_own(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    first = threading.Event()
    real = Evaluations.submit

    def add(self: Evaluations, submissions: Any) -> list[bool]:
        commits.append(len(submissions))
        if len(commits) == 1:
            assert first.wait(PATIENCE)
        return real(self, submissions)

    monkeypatch.setattr(Evaluations, "submit", add)
    intake, told = Intake(ledger), {}

    def hand_over(name: str) -> None:
        told[name] = intake.submit([answer(name), answer("same")])

    threads = [threading.Thread(target=hand_over, args=(f"t{number}",)) for number in range(20)]
    threads[0].start()
    while not commits:
        time.sleep(0.001)
    for thread in threads[1:]:
        thread.start()
    while intake._batch.waiting < 40:
        time.sleep(0.001)
    first.set()
    for thread in threads:
        thread.join()
    assert commits == [2, 38]
    assert all(new[0] for new in told.values()) and sum(new[1] for new in told.values()) == 1


def test_a_failure_reaches_everybody_whose_answers_were_in_the_commit(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, go = threading.Event(), threading.Event()

    def add(self: Evaluations, submissions: Any) -> list[bool]:
        inside.set()
        assert go.wait(PATIENCE)
        raise StorageError("no space")

    monkeypatch.setattr(Evaluations, "submit", add)
    intake, faults = Intake(ledger), []

    def hand_over(name: str) -> None:
        try:
            intake.submit([answer(name)])
        except StorageError as fault:
            faults.append(str(fault))

    threads = [threading.Thread(target=hand_over, args=(f"t{number}",)) for number in range(5)]
    for thread in threads:
        thread.start()
    assert inside.wait(PATIENCE)
    go.set()
    for thread in threads:
        thread.join()
    assert faults == ["no space"] * 5


def test_submit_async_does_not_hold_the_loop_up(ledger: Ledger) -> None:
    async def main() -> list[Sequence[bool]]:
        return await asyncio.gather(*[Intake(ledger).submit_async([answer(f"n{number}")]) for number in range(20)])

    assert asyncio.run(main()) == [[True]] * 20


def test_sampling_is_decided_by_the_id_and_told(ledger: Ledger) -> None:
    intake = Intake(ledger, 0.3)
    given_ones = [answer(f"n{number}") for number in range(1000)]
    intake.submit(given_ones)
    found = [Evaluations(ledger).get(one.id) for one in given_ones]
    left_out = [one for one in found if one and one.state == "left_out"]
    assert 630 < len(left_out) < 770
    assert all(is_sampled(one.id, 0.3) == (one.state == "waiting") for one in found if one)
    assert left_out[0].reason == "not in the sample of 0.3"


def test_an_answer_that_is_left_out_keeps_no_text(ledger: Ledger) -> None:
    given = submission_of("Q ?", "A.", ["a text"], id="x", source="bot", variant="B", language="fr", metadata={"who": "me"})
    Intake(ledger, 0.0).submit([given])
    found, evaluation = Answers(ledger).get("x"), Evaluations(ledger).get("x")
    assert found is not None and evaluation is not None and evaluation.state == "left_out"
    assert found.case == Case(id="x", prompt="") and found.erased
    assert (found.source, found.variant, found.language, found.answered_at) == ("bot", "B", "fr", given.answered_at)


def test_golden_questions_are_never_left_out(ledger: Ledger) -> None:
    Intake(ledger, 0.0).submit([answer("g", source="golden:nightly"), answer("n")])
    assert [one.state for id in "gn" if (one := Evaluations(ledger).get(id))] == ["waiting", "left_out"]


@given(st.text(min_size=1, max_size=128), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_sample_holds_the_smaller_one(id: str, one: float, other: float) -> None:
    low, high = sorted([one, other])
    id = id.encode("utf-8", "replace").decode()
    assert is_sampled(id, high) or not is_sampled(id, low)
    assert is_sampled(id, 1.0) and not is_sampled(id, 0.0)


def test_ids_that_are_made_sort_by_time() -> None:
    ids = [new_id() for _ in range(50)]
    assert len(set(ids)) == 50 and sorted(ids, key=lambda id: id[:13]) == ids


def test_a_conversation_and_times_without_a_zone_are_taken(ledger: Ledger) -> None:
    one = submission_of([{"role": "user", "content": "q"}], "a", answered_at=datetime(2026, 1, 2), metadata={"k": [1]})
    assert one.case.prompt_text == "user: q" and one.answered_at == datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"prompt": " "}, "prompt: is empty"),
        ({"response": ""}, "response: is empty"),
        ({"response": None}, "response: give a text, not NoneType"),
        ({"prompt": 3}, "prompt: give a text, or turns"),
        ({"prompt": [{"role": "system", "content": "x"}]}, "prompt: give a text, or turns"),
        ({"response": "x" * 500_001}, "response: has 500,001 characters"),
        ({"id": "x" * 129}, "1 to 128 printable"),
        ({"id": "a\nb"}, "1 to 128 printable"),
        ({"source": "s" * 129}, "source"),
        ({"variant": "v" * 65}, "variant"),
        ({"language": "l" * 17}, "language"),
        ({"language": "zz"}, "language 'zz': give a code of ISO 639"),
        ({"language": "french"}, "language 'french'"),
        ({"documents": [{"title": "x"}]}, "document 1 has no text"),
        ({"documents": 5}, "documents: give a list of texts or objects, not int"),
        ({"documents": None}, "documents: give a list of texts or objects, not NoneType"),
        ({"id": 5}, "id: give a text, not int"),
        ({"metadata": 5}, "metadata: give an object, not int"),
        ({"documents": ["x"] * 501}, "documents: 501"),
        ({"documents": ["x" * 1_000_001] * 2}, "2,000,002 characters"),
        ({"metadata": {"k": object()}}, "metadata"),
        ({"metadata": {"k": "x" * 70_000}}, "metadata: has 70,0"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_one_line(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(SubmissionError, match=says) as refused:
        submission_of(**({"prompt": "q", "response": "a"} | fields))
    assert "\n" not in str(refused.value)


@given(st.text(), st.text(), st.text(max_size=200))
def test_any_text_is_stored_or_refused(prompt: str, response: str, id: str) -> None:
    try:
        one = submission_of(prompt, response, [prompt] if prompt.strip() else (), id=id)
    except SubmissionError:
        return
    assert checked(one) == one


@pytest.mark.parametrize(
    "fields",
    [{"origin": "bench"}, {"id": "other"}, {"erased": True}, {"key": "k"}, {"run_id": "r"}],
    ids=lambda one: next(iter(one)),
)
def test_a_record_that_was_not_made_for_submitting_is_refused(ledger: Ledger, fields: dict[str, Any]) -> None:
    with pytest.raises(SubmissionError, match="as it is submitted"):
        Intake(ledger).submit([msgspec.structs.replace(answer("a"), **fields)])


@pytest.mark.parametrize(("age", "audience"), [(10, "Teen"), ("9-12", "Teen"), ("7", "Child"), ("", "")])
def test_the_readers_age_reaches_the_judges(ledger: Ledger, age: str | int, audience: str) -> None:
    Intake(ledger).submit([submission_of("Why is the sky blue?", "Light scatters.", id="a", age=age)])
    stored = Answers(ledger).get("a")
    assert stored is not None and stored.case.maturity == audience


def test_an_age_that_is_none_is_refused() -> None:
    with pytest.raises(SubmissionError, match=r"^age: .*notaries"):
        submission_of("Why?", "So.", age="notaries")
