"""`areopage gate qualify`: the exam of the gate's judge, and what the gate then does with the judge's word."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from areopage.app.answering import open_checker, open_judge
from areopage.app.config import load_config
from areopage.app.gate_rules import check_answer, load_gate
from areopage.checking.judge_gold import PATH, JudgeGoldRow, read_judge_gold
from areopage.checking.judging import CRITERION, LANGUAGES
from areopage.gate.records import Decision
from areopage.ledger.store import Ledger
from areopage.suites.gold import typed_lines
from servers.command import Command
from servers.configured import write_config
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.rag_parts import DOCUMENTS, QUESTION, decision

BAND: dict[str, Any] = {"judge": "ollama:fake-a", "seconds": 10}
GATE: dict[str, Any] = {"grey_band": True, "thresholds": {"deliver": 0.0, "hold": 1.0}}
ANSWER = "Le délai de rétractation est de 14 jours à compter de la livraison du bien, frais de retour compris."
ENGLISH = "Returns are free for fourteen days after delivery, whatever the reason."
QUALIFY = ("gate", "qualify", "--yes")
Verdict = dict[str, Any] | str


@cache
def gold() -> dict[str, bool]:
    """Whether the documents support it, by what a judge is asked about."""
    rows = [row for language in LANGUAGES for row in read_judge_gold(language)]
    return {row.response: row.bands[CRITERION] == (2, 2) for row in rows}


def verdict(score: int) -> Verdict:
    return {"explanation": "because", "score": score, "evidence_extracts": []}


def drawn(call: Call) -> int:
    """A number from 0 to 255 that depends on what is asked alone, not on the code of the markers."""
    return hashlib.sha256(re.sub(r" [0-9a-f]{16}\b", "", call.user).encode()).digest()[0]


def right(call: Call) -> Verdict:
    """A judge that is right about the gold rows, and supports everything else."""
    response = call.user.partition("<<<RESPONSE")[2]
    found = [supported for text, supported in gold().items() if f"\n{text}\n" in response]
    return verdict(2 if all(found) else 1)


def yes(call: Call) -> Verdict:
    return verdict(2)


def no(call: Call) -> Verdict:
    return verdict(0)


def noisy(call: Call) -> Verdict:
    """A judge that is wrong about a quarter of what it is asked."""
    wrong = drawn(call) < 64
    said = right(call)
    return verdict(2 - 2 * (said["score"] == 2)) if wrong and isinstance(said, dict) else said


def unreadable(call: Call) -> Verdict:
    return "I cannot say." if drawn(call) < 100 else right(call)


@pytest.fixture
def gate(command: Command, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Decision]:
    """Has the gate of the command's folder decide on an answer that it asks its judge about."""
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    write_config(command.folder, gate=GATE, rag={"grey_band": BAND})

    def decide(response: str = ANSWER) -> Decision:
        config = load_config(command.folder / "areopage.yml")
        with Ledger.open(command.outputs / "ledger.db") as ledger, open_checker(config, ledger=ledger) as checker:
            return check_answer(QUESTION, response, DOCUMENTS, gate=checker)

    return decide


def test_a_judge_that_passes_its_exam_releases_answers(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    server.judge = right
    before = gate()
    assert (before.verdict, before.judged) == ("human_review", False)
    assert before.judge is not None
    assert (before.judge.standing, before.judge.model) == ("unexamined", "ollama:fake-a")
    (command.folder / "guide.txt").write_text(DOCUMENTS[0].text, encoding="utf-8")
    asked = ("gate", "check", "--prompt", QUESTION, "--response", ANSWER, "--document", "guide.txt", "--lang", "en")
    refused = command(*asked)
    assert refused.err == (
        "the gate's judge ollama:fake-a has passed no exam in en, fr: it can hold answers, not release them"
        " (exam: areopage gate qualify)\n"
    )
    assert "Judge ollama:fake-a: never examined." in refused.out
    assert "it has taken no exam: its word releases no answer (exam: areopage gate qualify)" in refused.out

    exam = command(*QUALIFY)
    assert exam.code == 0, exam.err
    assert "qualified on 1 of 1 criterion" in exam.out
    said = "provisionally qualified (no person has checked the gold set): the gate delivers what the judge supports"
    assert all(f"{language}: {said}\n" in exam.err for language in LANGUAGES)

    after = gate()
    assert (after.verdict, after.judged) == ("deliver", True)
    assert after.judge is not None
    assert (after.judge.standing, after.judge.examine_with) == ("provisional", "")
    delivered = command(*asked)
    assert (delivered.code, delivered.err) == (0, "")
    assert "Judge ollama:fake-a: provisionally qualified, no person has checked the gold set." in delivered.out
    calls = len(server.calls)
    assert command(*QUALIFY).code == 0
    assert len(server.calls) == calls  # the ledger has all of it


@pytest.mark.parametrize("judge", [yes, no, noisy, unreadable])
def test_a_judge_that_fails_its_exam_releases_nothing_even_where_the_configuration_accepts_unexamined_ones(
    command: Command, server: FakeServer, gate: Callable[..., Decision], judge: Callable[[Call], Verdict]
) -> None:
    server.judge = judge
    exam = command(*QUALIFY)
    assert exam.code == 1, exam.out
    assert "not qualified: rag_grounding.sentence.supported" in exam.out
    server.judge = yes
    for unexamined in ("hold", "deliver"):
        write_config(command.folder, gate=GATE, rag={"grey_band": BAND | {"unexamined": unexamined}})
        found = gate()
        assert (found.verdict, found.judge and found.judge.standing) == ("human_review", "failed")


def test_a_judge_that_fails_in_one_language_releases_answers_in_the_other_alone(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    server.judge = lambda call: right(call) if "wholly supported" in call.system else yes(call)
    exam = command(*QUALIFY)
    assert exam.code == 1
    assert "en: provisionally qualified" in exam.err
    assert "fr: not qualified: the gate delivers nothing on the judge's word" in exam.err
    told = command("gate", "check", "--prompt", QUESTION, "--response", ANSWER).err
    assert told.startswith("the gate's judge ollama:fake-a has passed no exam in fr: it can hold answers, not release them")
    assert [(one.verdict, one.judge and one.judge.standing) for one in (gate(), gate(ENGLISH))] == [
        ("human_review", "failed"),
        ("deliver", "provisional"),
    ]


def test_an_exam_in_one_language_gives_a_standing_in_that_language(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    server.judge = right
    assert command(*QUALIFY, "--lang", "en").code == 0
    french, english = gate(), gate(ENGLISH)
    assert [one.judge and one.judge.standing for one in (french, english)] == ["unexamined", "provisional"]
    server.judge = yes
    assert command(*QUALIFY, "--lang", "fr").code == 1
    assert [one.judge and one.judge.standing for one in (gate(), gate(ENGLISH))] == ["failed", "provisional"]


def test_a_standing_holds_for_one_model_at_one_server(
    command: Command, server: FakeServer, gate: Callable[..., Decision], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.judge = right
    named = {"endpoints": {"lab": {"provider": "openai", "base_url": server.openai_url}}}
    for judge, standing in (("openai@lab:fake-a", "provisional"), ("openai@lab:fake-b", "unexamined")):
        write_config(command.folder, gate=GATE, rag={"grey_band": BAND | {"judge": judge}}, **named)
        if standing == "provisional":
            assert command(*QUALIFY).code == 0
        found = gate()
        assert (found.judge and found.judge.standing) == standing
    with FakeServer(judge=right) as other:
        moved = {"endpoints": {"lab": {"provider": "openai", "base_url": other.openai_url}}}
        write_config(command.folder, gate=GATE, rag={"grey_band": BAND | {"judge": "openai@lab:fake-a"}}, **moved)
        found = gate()
        assert (found.judge and found.judge.standing) == "unexamined"


def test_a_part_of_the_gold_set_gives_no_standing(command: Command, server: FakeServer, gate: Callable[..., Decision]) -> None:
    server.judge = right
    exam = command(*QUALIFY, "--limit", "10")
    assert "this is a part of the gold set: the result gives no standing" in exam.err
    found = gate()
    assert (found.verdict, found.judge and found.judge.standing) == ("human_review", "unexamined")


def test_the_plan_states_what_an_exam_costs_and_asks_nothing(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    plan = command("gate", "qualify", "--plan")
    assert plan.code == 0
    for language in LANGUAGES:
        assert f"72 gold rows (72 in {language})" in plan.err
    assert plan.err.count("plan: at most 287 calls") == len(LANGUAGES)
    assert server.calls == []


def test_qualify_names_the_command_for_the_judge_of_the_gate(command: Command) -> None:
    assert "areopage gate qualify" in command("qualify", "rag_grounding", "--judge", "ollama:fake-a").refused()


def test_a_ledger_with_an_exam_of_the_gates_judge_is_intact(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    server.judge = right
    assert command(*QUALIFY, "--lang", "fr").code == 0
    gate()
    verified = command("verify")
    assert verified.code == 0, verified.out
    assert command("ledger", "check").code == 0


def test_a_gate_without_a_judge_is_told_how_to_name_one(command: Command) -> None:
    write_config(command.folder, gate=GATE)
    assert "rag.grey_band: no judge is configured" in command(*QUALIFY).refused()


# --- the gold set


def rows() -> list[JudgeGoldRow]:
    return [row for _, row in typed_lines(PATH, JudgeGoldRow)]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_gold_set_is_balanced_and_has_every_kind_of_error(language: str) -> None:
    own = [row for row in rows() if row.language == language]
    assert len(own) >= 40
    assert sum(row.supported for row in own) * 2 == len(own)
    wrong = {row.kind for row in own if not row.supported}
    kinds = {"negation", "party", "bound", "condition", "exception", "figure", "quantifier", "addition", "passage"}
    assert wrong == kinds
    assert {row.kind for row in own if row.supported} == {"reworded", "inference"}


def test_the_gates_own_rules_deliver_most_wrong_gold_answers_so_that_the_judge_is_needed() -> None:
    gate = load_gate()
    wrong = [row for row in rows() if not row.supported]
    delivered = sum(gate.decide(str(row.prompt), row.response, row.documents).verdict == "deliver" for row in wrong)
    assert delivered > len(wrong) / 2


def test_a_decision_asks_what_the_exam_asked_so_that_nothing_is_asked_twice(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    """The gate splits an answer into the sentences that the row names, and its judge is shown the same prompt."""
    server.judge = right
    assert command(*QUALIFY).code == 0
    calls = len(server.calls)

    async def decided() -> list[tuple[str, list[bool | None]]]:
        found = []
        with Ledger.open(command.outputs / "ledger.db") as ledger:
            judge = open_judge(load_config(command.folder / "areopage.yml"), ledger)
            assert judge is not None
            for row in rows():
                checks = load_gate().decide(str(row.prompt), row.response, row.documents).sentences
                asked = decision("human_review", sentences=checks, doubtful=row.doubtful or tuple(range(len(checks))))
                said = await judge.judge(str(row.prompt), row.response, row.documents, asked, row.language)
                found.append((row.id, [one.supported for one in said.sentences]))
            await judge.aclose()
        return found

    said = asyncio.run(decided())
    assert {id: set(own) for id, own in said} == {row.id: {row.supported} for row in rows()}
    assert len(server.calls) == calls


def test_the_command_names_the_configuration_and_the_ledger_where_they_are_not_the_usual_ones(
    command: Command, server: FakeServer, gate: Callable[..., Decision]
) -> None:
    server.judge = right
    write_config(command.folder, gate=GATE, rag={"grey_band": BAND}).rename(command.folder / "bank.yml")
    (command.folder / "guide.txt").write_text(DOCUMENTS[0].text, encoding="utf-8")
    Ledger.open(command.folder / "other.db").close()
    asked = ("gate", "check", "--prompt", QUESTION, "--response", ANSWER, "--document", "guide.txt", "--json")
    chosen = {"AREOPAGE_CONFIG": "bank.yml", "AREOPAGE_LEDGER": "other.db"}
    elsewhere = Command(command.folder, command.environment | chosen)
    named = json.loads(elsewhere(*asked).out)["judge"]["examine_with"]
    assert named == "areopage gate qualify --config bank.yml --ledger other.db"
    assert command(*named.split()[1:], "--yes").code == 0
    assert json.loads(elsewhere(*asked).out)["verdict"] == "deliver"


def test_standing_in_the_json_of_a_decision(command: Command, server: FakeServer, gate: Callable[..., Decision]) -> None:
    server.judge = right
    (command.folder / "guide.txt").write_text(DOCUMENTS[0].text, encoding="utf-8")
    asked = ("gate", "check", "--prompt", QUESTION, "--response", ANSWER, "--document", "guide.txt", "--json")
    held = json.loads(command(*asked).out)["judge"]
    assert held == {
        "name": "ollama_fake-a",
        "model": "ollama:fake-a",
        "standing": "unexamined",
        "examine_with": "areopage gate qualify",
    }
    assert command(*QUALIFY).code == 0
    assert json.loads(command(*asked).out)["judge"]["standing"] == "provisional"
