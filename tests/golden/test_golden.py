"""What every view shows of seeded ledgers equals its golden file, on SQLite and on PostgreSQL.

`AREOPAGE_GOLDEN=write pytest tests/golden -k sqlite` writes the golden files; their difference is what a change declares.
"""

import difflib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
import time_machine

from servers.batch_server import BatchServer
from servers.command import Command

from . import ledgers
from .views import Views, bench_views, gate_views, monitor_views

GOLDEN = Path(__file__).parent / "files"
WRITE = os.environ.get("AREOPAGE_GOLDEN") == "write"
SHOWN_LINES = 60
MADE = datetime(2026, 11, 28, 14, 3, tzinfo=UTC)

SEEDED: dict[str, tuple[ledgers.Builder, Callable[[Command], Views]]] = {
    "bench-en": (partial(ledgers.bench, language="en"), partial(bench_views, language="en")),
    "bench-fr": (partial(ledgers.bench, language="fr"), partial(bench_views, language="fr")),
    "conversation": (ledgers.conversation, partial(bench_views, language="en")),
    "adaptive": (ledgers.adaptive, partial(bench_views, language="en")),
    "batch": (ledgers.batch, partial(bench_views, language="en")),
    "monitor-en": (ledgers.monitor, partial(monitor_views, language="en")),
    "monitor-fr": (ledgers.monitor, partial(monitor_views, language="fr")),
    "gate-en": (ledgers.gate, partial(gate_views, language="en")),
    "gate-fr": (ledgers.gate, partial(gate_views, language="fr")),
}


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the ledger is."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_ledger"))
    return str(tmp_path / "outputs" / "ledger.db")


@pytest.mark.parametrize("name", SEEDED)
def test_every_view_of_a_ledger_equals_its_golden_file(name: str, place: str, tmp_path: Path) -> None:
    build, views = SEEDED[name]
    (tmp_path / "outputs").mkdir()
    with BatchServer() as server, time_machine.travel(MADE):
        server.judge, server.respond = ledgers.verdict, ledgers.said
        environment = {"OLLAMA_HOST": server.address, "OPENAI_BASE_URL": server.openai_url, "AREOPAGE_LEDGER": place}
        command = Command(tmp_path, environment)
        build(command)
        shown = dict(views(command))
    golden = GOLDEN / name
    if WRITE:
        write(golden, shown)
    kept = {str(path.relative_to(golden)): path.read_text(encoding="utf-8") for path in golden.rglob("*") if path.is_file()}
    assert sorted(shown) == sorted(kept)
    changed = {path: difference(kept[path], text) for path, text in shown.items() if kept[path] != text}
    assert not changed, "\n".join(f"--- {name}/{path}\n{lines}" for path, lines in changed.items())


def write(golden: Path, shown: dict[str, str]) -> None:
    """Put the views of a ledger in the place of its golden files."""
    for path in golden.rglob("*"):
        if path.is_file() and str(path.relative_to(golden)) not in shown:
            path.unlink()
    for name, text in shown.items():
        path = golden / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def difference(kept: str, text: str) -> str:
    """The first lines that differ."""
    lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), "golden", "now", lineterm="", n=1)
    return "\n".join(line for _, line in zip(range(SHOWN_LINES), lines, strict=False))
