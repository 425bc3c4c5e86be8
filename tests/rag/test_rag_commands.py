"""`areopage rag ingest`, `search` and `collections`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from servers.command import main
from servers.fake_embedder import WordEmbedder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, with an embedder that needs no model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AREOPAGE_CONFIG", raising=False)
    for module in ("areopage.rag.retrieval.embedders", "areopage.rag.retrieval.retriever"):
        monkeypatch.setattr(f"{module}.open_embedder", lambda *_: WordEmbedder())
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "carte.md").write_text("# Carte\nUne carte perdue se signale au numéro vert.\n", encoding="utf-8")
    (docs / "pret.md").write_text("# Prêt\nLe délai de réflexion est de dix jours.\n", encoding="utf-8")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["areopage", "rag", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_documents_are_ingested_found_and_listed(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "ingest", "docs") == 0
    assert capsys.readouterr().out == (
        "knowledge_base_main: 2 files (0 unchanged), 2 chunks embedded, 0 kept, 0 removed; 2 chunks in all\n"
    )
    assert run(monkeypatch, "search", "Quel délai de réflexion ?") == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "[pret-" in first
    assert "Prêt (pret.md)" in first
    assert run(monkeypatch, "search", "--json", "--source", "carte.md", "Quel délai ?") == 0
    assert [one["source"] for one in json.loads(capsys.readouterr().out)] == ["carte.md"]
    assert run(monkeypatch, "collections") == 0
    assert capsys.readouterr().out == "knowledge_base_main: 2 chunks, embedded by fake words (64 dimensions)\n"


def test_what_cannot_be_read_is_counted_named_and_written(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "docs" / "plan.docx").write_text("x")
    (here / "docs" / "rows.jsonl").write_text('{"corps": "Un texte."}\n{"corps": 3}\n')
    assert run(monkeypatch, "ingest", "docs", "--field", "text=corps") == 3
    errors = capsys.readouterr().err
    assert "not read: plan.docx: a file of another kind" in errors
    assert "not read: rows.jsonl, row 2: the field 'corps' holds no text" in errors
    rejected = here / "outputs" / "ingest.rejected.jsonl"
    assert [json.loads(line)["file"] for line in rejected.read_text().splitlines()] == ["plan.docx", "rows.jsonl"]


def test_names_and_texts_of_documents_cannot_write_on_the_terminal(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "docs" / "a\nb\x1b[2J.docx").write_text("x")
    (here / "docs" / "gnp\u202etxt.txt").write_text("Une girafe \x1b]0;titre\x07 dort debout.")
    assert run(monkeypatch, "ingest", "docs") == 3
    assert run(monkeypatch, "search", "girafe") == 0
    said = "".join(capsys.readouterr())
    assert "girafe" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_files_that_are_gone_are_told_and_pruned_on_demand(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "ingest", "docs") == 0
    (here / "docs" / "carte.md").unlink()
    assert run(monkeypatch, "ingest", "docs") == 0
    assert "1 file is gone from the folder, and the chunks stay: --prune removes them" in capsys.readouterr().err
    assert run(monkeypatch, "ingest", "docs", "--prune") == 0
    assert "1 removed; 1 chunk in all" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ingest", "nowhere"), "there is no folder nowhere"),
        (("ingest", "docs", "--field", "texte=corps"), "'texte=corps': write one of text, id"),
        (("search", "Quoi ?"), "there is no vector store"),
        (("collections",), "there is no vector store"),
    ],
)
def test_mistakes_are_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not (here / "outputs" / "qdrant" / "collection").exists()


def test_an_interrupted_ingestion_says_how_to_go_on(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    embedder = WordEmbedder()
    embedder.fail_after = 0
    monkeypatch.setattr("areopage.rag.retrieval.embedders.open_embedder", lambda *_: embedder)
    assert run(monkeypatch, "ingest", "docs") == 130
    assert "run the same command again" in capsys.readouterr().err
    assert embedder.closed


def test_a_search_and_an_ingestion_load_no_ledger_no_gate_and_no_pipeline() -> None:
    needed = "areopage.rag.commands, areopage.rag.retrieval.retriever, areopage.rag.ingestion.ingest"
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {needed}; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sqlalchemy", "langgraph", "cashews", "areopage.rag.service", "areopage.gate.config"} & set(loaded)
