"""`areopage demo gate`: its material, and a run of it with a model on loopback."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from areopage.app.config import load_config
from areopage.app.gate_rules import load_gate
from areopage.rag.demo.command import DOCUMENTS, EMBEDDED, EMBEDDED_OPTIONS, lay_out, read_script
from areopage.rag.ingestion.chunking import SourceText
from areopage.rag.ingestion.reading import RowFields, find_files, read_documents
from servers.command import main
from servers.fake_embedder import WordEmbedder
from servers.fake_llm import FakeServer

MODEL = "ollama:fake-target"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> Path:
    """An empty folder, a model on loopback, and an embedder that is quick."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    for module in ("areopage.rag.retrieval.embedders", "areopage.rag.retrieval.retriever"):
        monkeypatch.setattr(f"{module}.open_embedder", lambda *_: WordEmbedder())
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["areopage", "demo", "gate", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_demo_ends_as_soon_as_it_has_seen_each_verdict(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    server.faults.replies = [
        "La clôture du compte est gratuite.",
        "Le taux du Livret Clairval est de 7,80 % par an, et le plafond de 99 000 €.",
    ]
    assert run(monkeypatch, "--model", MODEL) == 0
    said = capsys.readouterr().out
    assert [said.count(f" {verdict} · ") for verdict in ("DELIVERED", "HELD")] == [2, 2]
    assert len(server.calls) == 2  # which of the questions are relevant is the embedder's to say
    assert f"1 delivered, {said.count(' FALLBACK · ')} fallback, 1 held;" in said
    assert "Not seen" not in said and "Stopped after" not in said
    written = said.partition("Two answers written for this demo, not by the model")[2]
    assert written.index("5 965 €") < written.index("DELIVERED") < written.index("6 965 €") < written.index("HELD ")
    for command in ("areopage gate report --config demo-gate/areopage.yml", "areopage serve --config demo-gate/areopage.yml"):
        assert command in said
    report = (here / "demo-gate" / "gate-report.html").read_text(encoding="utf-8")
    assert "99\u00a0000" in report or "99 000" in report


def test_a_second_run_says_the_same_in_french_and_names_what_it_has_not_seen(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    server.faults.replies = ["Le compte coûte 77 € et 33 %."] * 20
    for _ in range(2):
        assert run(monkeypatch, "--model", MODEL, "--lang", "fr", "--folder", "ici même") == 0
        said = capsys.readouterr().out
    assert "RETENUE POUR RELECTURE" in said
    # a prepared answer is delivered, and another one held
    assert "Non rencontré" not in said
    assert [verdict in said for verdict in (" DÉLIVRÉE ·", " REPLI ·")] == [True, True]
    assert "areopage serve --config 'ici même/areopage.yml'" in said


def test_a_slow_machine_is_told_that_questions_are_left_and_how_to_ask_them(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    assert run(monkeypatch, "--model", MODEL, "--patience", "0") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert len(server.calls) == 0
    assert "8 of the prepared questions were not asked" in said and "--patience 600 asks them, too" in said
    # The prepared answers count: one is delivered and one held.
    assert said.count("Not seen: FALLBACK. The same model can answer differently") == said.count("The same model") == 1


def test_a_configuration_of_the_users_is_left_alone(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "areopage.yml").write_text("language: en\n", encoding="utf-8")
    assert run(monkeypatch, "--model", MODEL, "--folder", "mine") == 2
    assert "mine/areopage.yml is not the demo's: name another folder with --folder" in capsys.readouterr().err
    assert (here / "mine" / "areopage.yml").read_text(encoding="utf-8") == "language: en\n"


def test_what_is_missing_is_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    server.faults.status = 403
    assert run(monkeypatch, "--model", MODEL) == 2
    assert capsys.readouterr().err.startswith("areopage: ")
    monkeypatch.setenv("AREOPAGE_CACHE", str(here / "empty"))
    if find_spec("xllamacpp") is not None:
        assert run(monkeypatch, "--folder", "other") == 2
        assert "areopage models pull embedded:smollm2" in capsys.readouterr().err
    monkeypatch.setattr("areopage.rag.demo.command.find_spec", lambda name: None)
    assert run(monkeypatch) == 2
    assert capsys.readouterr().err == 'areopage: areopage demo gate needs an extra: pip install "areopage[embedded,rag]"\n'


def test_the_material_can_be_read_and_the_prepared_answers_differ_in_one_amount(tmp_path: Path) -> None:
    config = load_config(lay_out(tmp_path, EMBEDDED))
    assert config.rag.section.generation.options == EMBEDDED_OPTIONS
    assert config.ledger == str(tmp_path / "ledger.db")
    (tmp_path / DOCUMENTS / "livret.txt").write_text("Le taux est de 1 %.\n", encoding="utf-8")
    lay_out(tmp_path, EMBEDDED)  # again: what was changed stays
    assert (tmp_path / DOCUMENTS / "livret.txt").read_text(encoding="utf-8") == "Le taux est de 1 %.\n"

    files, unread = find_files(tmp_path / DOCUMENTS)
    assert (len(files), unread) == (11, [])
    read = [document for file in files for document in read_documents(file, RowFields())]
    assert all(isinstance(document, SourceText) for document in read)
    right, wrong = read_script().prepared.answers
    assert right.replace("5 965 €", "6 965 €") == wrong


def test_a_models_name_cannot_write_other_keys_into_the_configuration(tmp_path: Path) -> None:
    name = 'ollama:x"\nledger: "elsewhere.db # $model'
    config = load_config(lay_out(tmp_path, name))
    assert config.rag.section.generation.model == name
    assert config.ledger == str(tmp_path / "ledger.db")


def test_the_gate_tells_the_prepared_answers_apart() -> None:
    from areopage.cases.records import Document

    corpus = Path(lay_out.__code__.co_filename).parent / "corpus"
    document = Document(id="succession", text=(corpus / "succession.md").read_text(encoding="utf-8"), score=0.8)
    prepared = read_script().prepared
    verdicts = [load_gate().decide(prepared.question, answer, [document]).verdict for answer in prepared.answers]
    assert verdicts == ["deliver", "human_review"]
