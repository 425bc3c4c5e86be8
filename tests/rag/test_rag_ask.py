"""`areopage rag ask`: a question through the whole pipeline, with a real store and gate, and a model on loopback."""

import json
import sys
from pathlib import Path

import pytest

from servers.command import main
from servers.fake_embedder import WordEmbedder
from servers.fake_llm import FakeServer

TEXT = "Le délai de réflexion pour un prêt immobilier est de dix jours à compter de la réception de l’offre."
QUESTION = "Quel est le délai de réflexion pour un prêt immobilier ?"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> Path:
    """A folder with a configuration and a collection of one document."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AREOPAGE_CONFIG", raising=False)
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    for module in ("areopage.rag.retrieval.embedders", "areopage.rag.retrieval.retriever"):
        monkeypatch.setattr(f"{module}.open_embedder", lambda *_: WordEmbedder())
    (tmp_path / "areopage.yml").write_text("rag:\n  generation: {model: 'ollama:fake-target'}\n", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pret.md").write_text(f"# Prêt immobilier\n{TEXT}\n", encoding="utf-8")
    assert run(monkeypatch, "ingest", "docs") == 0
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["areopage", "rag", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_an_answer_comes_with_its_documents_and_what_the_gate_says(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    server.faults.replies = [TEXT, "Le délai est de 45 jours, contre 300 € de frais."]
    capsys.readouterr()

    assert run(monkeypatch, "ask", QUESTION, "--stream") == 0
    first = capsys.readouterr()
    assert run(monkeypatch, "ask", QUESTION, "--no-cache", "--source", "pret.md") == 0
    second = capsys.readouterr()

    assert first.out.startswith(f"{TEXT}\n  [1] Prêt immobilier · pret.md (")
    assert "\ndelivered (generated), confidence " in first.out
    assert "· retrieve\n· grade_documents\n· generate\n· evaluate_response\n" in first.err
    assert "[chatbot] chosen_mode=generated confidence=" in first.err
    assert second.out.startswith("Une personne va relire")
    assert "\nheld (human_review), " in second.out
    assert "300" in second.out.partition("held (")[2]
    assert 'sources_filter=["pret.md"]' in second.err


def test_a_reader_gets_numbers_and_titles_and_no_ids(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    assert run(monkeypatch, "search", QUESTION, "--json") == 0
    id = json.loads(capsys.readouterr().out)[0]["id"]
    server.faults.replies = [f"{TEXT[:-1]} [{id}]."]
    assert run(monkeypatch, "ask", QUESTION) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{TEXT[:-1]} [1].\n  [1] Prêt immobilier · pret.md (")
    assert id not in shown


def test_an_answer_in_shadow_mode_is_not_said_to_be_held_back(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    server.faults.replies = ["Le délai est de 45 jours, contre 300 € de frais."]
    with (here / "areopage.yml").open("a", encoding="utf-8") as stream:
        stream.write("  shadow: true\n")
    capsys.readouterr()
    assert run(monkeypatch, "ask", QUESTION) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Le délai est de 45 jours")
    assert "\ndelivered all the same; by the gate: held (shadow), " in shown


def test_a_model_or_a_collection_that_is_not_there_is_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    assert run(monkeypatch, "ask", QUESTION, "--collection", "none") == 2
    assert "areopage: " in capsys.readouterr().err
    server.faults.status = 403
    assert run(monkeypatch, "ask", QUESTION) == 2
    assert "areopage: the model did not answer: " in capsys.readouterr().err


def test_the_storage_policy_holds_for_what_is_asked_here_too(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    from areopage.ledger.read.queries import TraceFilter
    from areopage.ledger.store import Ledger
    from areopage.ledger.write.traces import Traces

    with (here / "areopage.yml").open("a", encoding="utf-8") as stream:
        stream.write("storage: {text: none}\n")
    server.faults.replies = [TEXT]
    assert run(monkeypatch, "ask", QUESTION) == 0
    assert TEXT in capsys.readouterr().out
    ledger = Ledger.open(here / "outputs" / "ledger.db")
    try:
        (trace,) = Traces(ledger).each(TraceFilter())
    finally:
        ledger.close()
    assert (trace.verdict, trace.prompt, trace.response) == ("deliver", "", "")
