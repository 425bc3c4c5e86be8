"""All files of a run, in its folder."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from areopage.bench.report.files import write_run_files
from areopage.bench.results.run_view import view_run
from areopage.cases.records import RejectedRow
from areopage.errors import StorageError
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment

from .report_runs import view_of

TABLES = ("results.json", "results.csv", "criteria.csv", "rejected.csv")


def test_all_files_are_written_into_a_folder_that_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "outputs" / "run-1"
    written = write_run_files(view_of(tmp_path), folder)
    assert written == [folder / name for name in (*TABLES, "report.html", "cases.html", "trust.html")]
    assert sorted(folder.iterdir()) == sorted(written)


def test_writing_again_replaces_what_was_there(tmp_path: Path) -> None:
    view = view_of(tmp_path, rejected=(RejectedRow(file="a.csv", row=2, reason="=empty", content=""),))
    folder = tmp_path / "run"
    before = [path.read_bytes() for path in write_run_files(view, folder)]
    assert [path.read_bytes() for path in write_run_files(view, folder)] == before
    rows = list(csv.reader((folder / "rejected.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert rows == [["file", "row", "reason", "content"], ["a.csv", "2", "'=empty", ""]]


def test_a_place_that_cannot_be_a_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be created"):
        write_run_files(view_of(tmp_path), tmp_path / "file")


def test_a_small_run_is_read_once_for_all_files_and_a_large_one_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, asked, read = view_of(tmp_path), list[int](), Ledger.judgments_numbered

    def counted(self: Ledger, numbers: Sequence[int]) -> dict[int, Judgment]:
        asked.extend(numbers)
        return read(self, numbers)

    monkeypatch.setattr(Ledger, "judgments_numbered", counted)
    monkeypatch.setattr("areopage.bench.results.run_texts.AT_ONCE", 2)
    small = [path.read_bytes() for path in write_run_files(view, tmp_path / "run")]
    assert asked
    assert len(asked) == len(set(asked)) == len(set(view.judgments.values()))
    monkeypatch.setattr("areopage.bench.results.run_texts.HELD", 0)
    monkeypatch.setattr("areopage.scoring.folding.HELD", 0)
    asked.clear()
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        large = write_run_files(view_run(ledger.run("run-1"), ledger), tmp_path / "run")
    assert [path.read_bytes() for path in large] == small
    assert len(asked) > len(set(asked))
