"""The grey band: a judge reads the doubtful sentences, within a time budget, and nothing paid for is lost."""

import asyncio
import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.checking.judging import (
    LANGUAGES,
    MAX_TOKENS,
    TRIES,
    SentenceJudge,
    load_criterion,
    open_sentence_judge,
)
from areopage.errors import ConfigError
from areopage.gate.decide import Gate
from areopage.gate.records import SentenceCheck, SentenceJudgment
from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Trace
from areopage.rag.records import ChatPrompt
from servers.fake_llm import FakeServer
from servers.new_ledger import ledger_at
from servers.rag_parts import DOCUMENTS, QUESTION, RESPONSE, ToldGate, decision, rag_config, rag_service

ANSWER = "Le délai est de 14 jours. Il part de la livraison. Le remboursement suit."
SENTENCES = tuple(
    SentenceCheck(start=ANSWER.index(text), end=ANSWER.index(text) + len(text), text=text, claim=True, p_unsupported=0.5)
    for text in ("Le délai est de 14 jours.", "Il part de la livraison.", "Le remboursement suit.")
)
DOUBT = decision("human_review", sentences=SENTENCES, needs_judge=True, doubtful=(1, 2, 0))


def verdict(score: int, *quotes: str) -> str:
    return json.dumps({"explanation": "because", "score": score, "evidence_extracts": quotes})


def judge_of(
    folder: Path, server: FakeServer, ledger: Ledger, seconds: float = 10.0, sentences: int = 5, unexamined: str = "deliver"
) -> SentenceJudge:
    band = {"judge": "ollama:fake-a", "seconds": seconds, "sentences": sentences, "unexamined": unexamined}
    config = rag_config(folder, grey_band=band)
    judge = open_sentence_judge(config, ledger, {"OLLAMA_HOST": server.address}, 4096)
    assert judge is not None
    return judge


def judged(
    folder: Path, server: FakeServer, *, seconds: float = 10.0, sentences: int = 5, language: str = "fr"
) -> tuple[SentenceJudgment, ...]:
    """What the judge says of the doubtful sentences."""

    async def ask(ledger: Ledger) -> tuple[SentenceJudgment, ...]:
        judge = judge_of(folder, server, ledger, seconds, sentences)
        try:
            return (await judge.judge(QUESTION, ANSWER, DOCUMENTS, DOUBT, language)).sentences
        finally:
            await judge.aclose()

    with closing(ledger_at(folder / "ledger.db")) as ledger:
        return asyncio.run(ask(ledger))


def kept(folder: Path) -> int:
    """How many judgments the ledger holds with what the judge said."""
    from sqlalchemy import func, select

    from areopage.ledger.tables.answer_tables import judgments

    with closing(Ledger.open(folder / "ledger.db")) as ledger, ledger.engine.connect() as connection:
        return int(connection.execute(select(func.count()).where(judgments.c.raw_text != "")).scalar_one())


def test_the_criterion_speaks_both_languages() -> None:
    criteria = load_criterion()

    assert set(criteria) == set(LANGUAGES)
    assert {criterion.scale.max for criterion in criteria.values()} == {2}
    assert criteria["fr"].language == "fr"


def test_only_a_sentence_that_is_wholly_supported_counts_as_supported(tmp_path: Path, server: FakeServer) -> None:
    for said, supported in (
        (verdict(2), [True, True, True]),
        (verdict(1), [False, False, False]),
        (verdict(0, "part de la livraison"), [False, None, None]),
    ):
        server.faults.says = [said]
        (folder := tmp_path / str(len(list(tmp_path.iterdir())))).mkdir()
        found = judged(folder, server)
        assert [judgment.sentence for judgment in found] == [1, 2, 0]
        assert [judgment.supported for judgment in found] == supported
        assert {judgment.explanation for judgment in found} == {"because"}


def test_one_call_shows_the_passages_that_concern_the_sentences_and_no_more_than_three_thousand_tokens(
    tmp_path: Path, server: FakeServer
) -> None:
    """At three characters a token, which is few for English and French."""
    server.faults.says = [verdict(2)]
    filler = "Le service des achats tient un registre des fournisseurs, des contrats et des factures de chaque exercice. " * 16
    documents = [Document(id=f"d{number}", text=filler) for number in range(50)]
    documents[40] = replace(documents[40], text=filler + "Le délai est de 14 jours. Il part de la livraison du bien. " + filler)

    async def ask(ledger: Ledger) -> None:
        judge = judge_of(tmp_path, server, ledger)
        await judge.judge(QUESTION * 50, ANSWER, tuple(documents), DOUBT, "fr")
        await judge.aclose()

    with closing(ledger_at(tmp_path / "ledger.db")) as ledger:
        asyncio.run(ask(ledger))
    (call,) = server.calls
    assert "Il part de la livraison du bien." in call.user
    assert (len(call.system) + len(call.user)) / 3 + MAX_TOKENS <= 4_000
    assert (len(call.system) + len(call.user)) / 4 + MAX_TOKENS <= 3_000


def test_a_right_sentence_in_other_words_is_judged_with_the_passage_that_the_question_names(
    tmp_path: Path, server: FakeServer
) -> None:
    server.faults.says = [verdict(2)]
    text = "Vous pouvez partir quand vous voulez, sans rien payer."
    check = SentenceCheck(start=0, end=len(text), text=text, claim=True, p_unsupported=0.5)
    filler = "Le service des achats tient un registre des fournisseurs et des factures de chaque exercice. " * 8
    fitting = Document(id="fin", text="La résiliation est gratuite et peut être demandée à tout moment.")
    documents = (*(Document(id=f"d{number}", text=filler) for number in range(8)), fitting)

    async def ask(ledger: Ledger, prompt: str) -> None:
        judge = judge_of(tmp_path, server, ledger)
        doubt = decision("human_review", sentences=(check,), needs_judge=True, doubtful=(0,))
        await judge.judge(prompt, text, documents, doubt, "fr")
        await judge.aclose()

    with closing(ledger_at(tmp_path / "ledger.db")) as ledger:
        asyncio.run(ask(ledger, "Combien coûte la résiliation ?"))
        asyncio.run(ask(ledger, "Zut ?"))
    named, unnamed = server.calls
    assert fitting.text in named.user
    assert filler[:60] in unnamed.user  # never without a document


def test_a_server_that_fails_is_asked_twice(tmp_path: Path, server: FakeServer) -> None:
    server.faults.status = 500
    assert [judgment.supported for judgment in judged(tmp_path, server)] == [None] * 3
    assert len(server.calls) <= TRIES


def test_the_judge_sees_the_sentence_what_came_before_it_and_the_documents_fenced(tmp_path: Path, server: FakeServer) -> None:
    server.faults.says = [verdict(2)]

    judged(tmp_path, server, sentences=1)

    (call,) = server.calls
    assert "phrases tirées d’une réponse" in call.system
    assert f"user: {QUESTION}\nassistant: Le délai est de 14 jours." in call.user
    assert "\nIl part de la livraison.\n<<<END RESPONSE" in call.user
    assert DOCUMENTS[0].text in call.user


def test_the_worst_sentences_are_asked_about_and_no_more_than_configured(tmp_path: Path, server: FakeServer) -> None:
    server.faults.says = [verdict(2)]

    assert [judgment.sentence for judgment in judged(tmp_path, server, sentences=2)] == [1, 2]


def test_what_was_judged_is_kept_and_not_paid_for_again(tmp_path: Path, server: FakeServer) -> None:
    server.faults.says = [verdict(2)]
    first = judged(tmp_path, server)

    again = judged(tmp_path, server)

    assert (len(server.calls), kept(tmp_path)) == (1, 1)
    assert again == first


def test_an_unreadable_judgment_is_not_paid_for_again(tmp_path: Path, server: FakeServer) -> None:
    server.faults.says = ["hm."]
    judged(tmp_path, server, sentences=1)
    asked = len(server.calls)

    again = judged(tmp_path, server, sentences=1)

    assert (len(server.calls), again[0].supported) == (asked, None)


def test_a_judge_that_is_too_slow_has_said_nothing(tmp_path: Path, server: FakeServer) -> None:
    server.faults.hang = True

    found = judged(tmp_path, server, seconds=0.2)

    assert [judgment.supported for judgment in found] == [None] * 3
    assert "0.2 s" in found[0].explanation or "time" in found[0].explanation


@pytest.mark.parametrize("fault", ["down", "500", "unreadable", "missing"])
def test_a_judge_that_fails_has_said_nothing(tmp_path: Path, server: FakeServer, fault: str) -> None:
    if fault == "down":
        server.stop()
    elif fault == "500":
        server.faults.status = 400
    elif fault == "missing":
        server.models = ("other",)
    else:
        server.faults.says = ["I cannot say."]

    found = judged(tmp_path, server)

    assert [judgment.supported for judgment in found] == [None] * 3
    assert all(judgment.explanation for judgment in found)


def test_a_grey_band_without_a_judge_is_one_clear_line(tmp_path: Path) -> None:
    with closing(ledger_at(tmp_path / "ledger.db")) as ledger:
        assert open_sentence_judge(rag_config(tmp_path), ledger, {}, 4096) is None
        for name, reason in (("", "names no judge"), ("llama", "not a model reference")):
            config = rag_config(tmp_path, grey_band={"judge": name})
            with pytest.raises(ConfigError, match=f"rag.grey_band.judge: .*{reason}"):
                open_sentence_judge(config, ledger, {}, 4096)


# --- in the pipeline


def answered(folder: Path, server: FakeServer, gate: Gate, *, with_judge: bool = True, unexamined: str = "deliver") -> Trace:
    async def ask(ledger: Ledger) -> Trace:
        judge = judge_of(folder, server, ledger, unexamined=unexamined) if with_judge else None
        service = rag_service(folder, gate=gate, judge=judge, ledger=ledger)
        try:
            return await service.answer(ChatPrompt(prompt=QUESTION))
        finally:
            await service.aclose()

    with closing(ledger_at(folder / "ledger.db")) as ledger:
        return asyncio.run(ask(ledger))


def test_a_doubtful_answer_leaves_when_the_judge_supports_it(tmp_path: Path, server: FakeServer) -> None:
    server.faults.says = [verdict(2)]
    gate = ToldGate(doubtful=(0,))

    answer = answered(tmp_path, server, gate)

    assert (answer.verdict, answer.answer.delivered) == ("deliver", RESPONSE)
    assert gate.judgments == (SentenceJudgment(sentence=0, supported=True, explanation="because", standing="accepted"),)


@pytest.mark.parametrize(("unexamined", "found"), [("hold", "human_review"), ("deliver", "deliver")])
def test_an_unexamined_judge_releases_nothing_unless_the_configuration_insists(
    tmp_path: Path, server: FakeServer, unexamined: str, found: str
) -> None:
    server.faults.says = [verdict(2)]
    config = load_rules()
    wide = msgspec.structs.replace(config.thresholds, deliver=0.0, hold=1.0)
    gate = Gate(msgspec.structs.replace(config, thresholds=wide, grey_band=True))
    answer = answered(tmp_path, server, gate, unexamined=unexamined)
    assert answer.verdict == found
    assert answer.decision is not None
    assert {one.decisive for one in answer.decision.reasons if one.code == "unexamined_judge"} == {found == "human_review"}
    assert answer.decision.judged == (found == "deliver")


def test_the_embedded_model_is_no_judge_unless_the_configuration_insists(tmp_path: Path) -> None:
    with closing(ledger_at(tmp_path / "ledger.db")) as ledger:
        config = rag_config(tmp_path, grey_band={"judge": "embedded:smollm2"})
        with pytest.raises(ConfigError, match="too small to judge"):
            open_sentence_judge(config, ledger, {}, 4096)


def test_erasing_an_answer_takes_what_the_judge_said_of_it(tmp_path: Path, server: FakeServer) -> None:
    server.faults.says = [verdict(0)]
    gate = ToldGate(doubtful=(0,))
    first, second = answered(tmp_path, server, gate), answered(tmp_path, server, gate)
    assert kept(tmp_path) == 1
    for answer, left in ((first, 1), (second, 0)):
        with closing(Ledger.open(tmp_path / "ledger.db")) as ledger:
            assert ledger.erasure.erase([answer.id])
        assert kept(tmp_path) == left


@pytest.mark.parametrize(("score", "verdicts"), [(2, "deliver"), (0, "human_review"), (None, "human_review")])
def test_the_real_gates_grey_band_is_settled_by_the_judge_and_fails_closed(
    tmp_path: Path, server: FakeServer, score: int | None, verdicts: str
) -> None:
    server.faults.says = ["unreadable" if score is None else verdict(score)]
    config = load_rules()
    wide = msgspec.structs.replace(config.thresholds, deliver=0.0, hold=1.0)
    gate = Gate(msgspec.structs.replace(config, thresholds=wide, grey_band=True))

    answer = answered(tmp_path, server, gate)

    assert answer.verdict == verdicts
    assert server.verdict_calls


def test_without_a_judge_the_grey_band_is_held_back(tmp_path: Path, server: FakeServer) -> None:
    answer = answered(tmp_path, server, ToldGate(doubtful=(0,)), with_judge=False)

    assert answer.verdict == "human_review"
    assert server.calls == []
