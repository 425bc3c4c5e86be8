"""Logs of an older system: both formats, joined, checked, and nothing dropped in silence."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from areopage.cases.records import RejectedRow
from areopage.checking.config import TracesSection
from areopage.checking.exported_traces import TraceExport
from areopage.checking.imported_logs import Imported, import_logs
from areopage.checking.old_logs import differences, figures_of, kind_of, metrics_line, moment_of
from areopage.errors import DatasetError
from areopage.ledger.people.labels import ReviewQueue
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces
from servers.made_traces import delivered_trace, held_trace
from servers.new_ledger import ledger_at

SHARED = Path(__file__).parents[3] / "shared" / "data" / "rag_gate_logs"
STAMP = "2026-03-01T12:00:00.123456"


class Bench:
    """Imports what is written into a folder, and keeps what was rejected."""

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        self.ledger, self.folder = ledger, folder
        self.rejected: list[RejectedRow] = []
        folder.mkdir()

    def write(self, name: str, *records: object) -> Path:
        path = self.folder / name
        path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records), encoding="utf-8")
        return path

    def take(self, zone: str = "UTC") -> Imported:
        self.rejected.clear()
        return import_logs(self.ledger, [self.folder], zone=ZoneInfo(zone), reject=self.rejected.append)

    def found(self) -> list[Trace]:
        return list(reversed(Traces(self.ledger).list(TraceFilter())))


@pytest.fixture
def bench(ledger: Ledger, tmp_path: Path) -> Bench:
    return Bench(ledger, tmp_path / "old")


def figures(**fields: Any) -> dict[str, Any]:
    known = {"timestamp": STAMP, "question": "Quel délai ?", "avg_score": 0.5, "confidence": 0.4, "cites_ok": True}
    return known | {"hallucination": False, "quality_pass": True, "escalate": False, "num_sources": 1} | fields


def response(**fields: Any) -> dict[str, Any]:
    known = {"timestamp": "2026-03-01T12:00:00.120000", "question": "Quel délai ?", "response_lang": "fr", "detected_ids": []}
    return known | {"generation_trunc": "Dix jours.", "num_sources": 1} | fields


def snapshot(metrics: dict[str, Any], **fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"id": "a" * 32, "timestamp": STAMP, "question": metrics["question"], "metrics": metrics}
    known |= {"documents": ["[Document 1] (Score: 0.551)\nUn délai de\n10 jours."], "generation": "Dix jours, et plus."}
    known |= {"sources": [{"id": "u-1", "score": 0.5505, "source": "site", "lang": "fr", "type": "page"}]}
    return known | fields


@pytest.mark.skipif(not SHARED.is_dir(), reason="the logs of an existing deployment are not here")
def test_the_logs_of_an_existing_deployment_are_imported_whole(ledger: Ledger) -> None:
    rejected: list[RejectedRow] = []
    for added, known in ((38, 0), (0, 38)):
        found = import_logs(ledger, [SHARED], zone=UTC, reject=rejected.append)
        assert found.rows == {"metrics": 38, "response": 36, "snapshot": 6}
        assert (found.added, found.known) == (added, known)
        assert found.verdicts == {"deliver": 26, "fallback": 12}
        assert found.joined == {"response": 36, "snapshot": 6}
        assert found.contradictions == {}
        assert rejected == []
    store = Traces(ledger)
    assert store.summary(TraceFilter(channels=("import",))).verdicts == {"deliver": 26, "fallback": 12}
    assert sum(1 for one in store.each(TraceFilter()) if one.documents) == 6
    assert ReviewQueue(ledger).count_open() == 0


def test_a_row_its_response_and_its_snapshot_become_one_trace(bench: Bench) -> None:
    metrics = figures(cites_ok=False, quality_pass=False)
    bench.write("metrics.jsonl", metrics)
    bench.write("llm_responses.jsonl", response())
    bench.write("a.json", snapshot(metrics))
    found = bench.take()
    assert (found.added, found.joined, found.rejected) == (1, {"response": 1, "snapshot": 1}, 0)
    [one] = bench.found()
    assert (one.channel, one.verdict, one.mode, one.language) == ("import", "fallback", "fallback", "fr")
    assert one.at == datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert (one.response, one.answer.delivered) == ("Dix jours, et plus.", "")
    [document] = one.documents
    assert (document.id, document.text, document.score, document.source) == ("u-1", "Un délai de\n10 jours.", 0.5505, "site")
    assert document.metadata == {"lang": "fr", "type": "page"}
    assert one.decision is None
    assert one.metrics == {name: metrics.get(name) for name in one.metrics}


def test_both_formats_say_the_same(bench: Bench) -> None:
    other = figures(question="Autre ?", similarity_score=0.614, confidence_score=0.491)
    for name in ("avg_score", "confidence"):
        del other[name]
    bench.write("metrics.jsonl", figures(), other)
    assert bench.take().contradictions == {}
    assert [one.metrics["confidence"] for one in bench.found()] == [0.4, 0.491]
    assert sum(Traces(bench.ledger).summary(TraceFilter()).confidences) == 2


def test_lines_are_joined_by_question_and_nearest_time_and_each_once(bench: Bench) -> None:
    moment = datetime.fromisoformat(STAMP)
    stamps = [(moment + timedelta(seconds=seconds)).isoformat() for seconds in (0, 2, 4, 60)]
    bench.write("metrics.jsonl", *(figures(timestamp=stamp) for stamp in stamps), figures(question="Autre ?"))
    given = [response(timestamp=stamp, generation_trunc=text) for stamp, text in zip(stamps[1:3], ("two", "four"), strict=True)]
    bench.write("llm_responses.jsonl", *given, response(question="Autre ?", timestamp="2026-03-02T00:00:00"))
    found = bench.take()
    texts = [one.response for one in bench.found() if one.prompt == "Quel délai ?"]
    assert texts == ["", "two", "four", ""]  # the first row has none of its own, and takes nobody else's
    assert [row.reason for row in bench.rejected] == ["no row of figures belongs to this response"]
    assert found.rejected == 1


def test_a_snapshot_without_its_row_holds_it_itself(bench: Bench) -> None:
    bench.write("s.jsonl", snapshot(figures(quality_pass=False, cites_ok=False)))
    bench.write("llm_responses.jsonl", response())
    found = bench.take()
    assert (found.added, found.joined, found.rejected) == (1, {"response": 1, "snapshot": 1}, 0)
    assert bench.found()[0].documents


def test_packed_and_rotated_files_and_links_to_folders(bench: Bench) -> None:
    with gzip.open(bench.folder / "metrics.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(figures()) + "\n")
    bench.write("metrics.000001.jsonl", figures(question="Autre ?"))
    bench.write("notes.txt", "not a log")
    (bench.folder / "loop").symlink_to(bench.folder, target_is_directory=True)
    assert bench.take().added == 2


def test_importing_again_adds_nothing_even_under_another_time_zone(bench: Bench) -> None:
    bench.write("metrics.jsonl", figures(), figures())
    found = bench.take("Europe/Paris")
    assert (found.added, found.known) == (1, 1)
    assert bench.found()[0].at == datetime(2026, 3, 1, 11, 0, 0, 123456, tzinfo=UTC)
    assert bench.take("UTC").added == 0


BAD_LINES = [
    ('{"timestamp": "2026', "not valid JSON"),
    ("[1]", "not a JSON object"),
    ("\ufffd\x00", "not valid JSON"),
    ('{"a": 1}', "neither a row of figures"),
    (json.dumps(figures(question=3)), "question: missing"),
    (json.dumps(figures(timestamp="yesterday")), "'yesterday' is no time"),
    (json.dumps(figures(timestamp="0001-01-01T00:00:00+14:00")), "is no time"),
    (json.dumps(figures(quality_pass=None)), "quality_pass: missing"),
    (json.dumps(figures(cites_ok="yes")), "cites_ok: 'yes' is neither true nor false"),
    (json.dumps(figures(avg_score="0,5")), "avg_score: '0,5' is not a number"),
    (json.dumps(figures(num_sources=True)), "num_sources: True is not a number"),
    (json.dumps(snapshot(figures()) | {"metrics": [1]}), "metrics: not an object"),
    (json.dumps(snapshot(figures(avg_score="x"))), "metrics: avg_score"),
    (json.dumps(response(timestamp=7)), "timestamp: not a text"),
]


def test_lines_that_cannot_be_used_are_rejected_with_their_reason_and_the_others_are_taken(bench: Bench) -> None:
    path = bench.write(
        "metrics.jsonl", figures(question="Avant ?"), *(line for line, _ in BAD_LINES), "", figures(question="Après ?")
    )
    found = bench.take()
    assert (found.added, found.rejected) == (2, len(BAD_LINES))
    rejected = {row.row: row for row in bench.rejected}
    for number, (_, reason) in enumerate(BAD_LINES, start=2):
        assert rejected[number].file == str(path)
        assert reason in rejected[number].reason


def test_a_line_longer_than_any_record_is_passed_over(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.checking.old_logs.MAX_RECORD", 1000)
    bench.write("metrics.jsonl", figures(question="x" * 5000), figures())
    found = bench.take()
    assert (found.added, [row.reason for row in bench.rejected]) == (1, ["longer than 1,000 bytes"])


def test_a_place_without_logs_is_refused(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no \.jsonl or \.json file is in there"):
        bench.take()
    for path, said in ((tmp_path / "missing", "no such file or folder"), (bench.write("a.csv", "x"), "the logs are .jsonl")):
        with pytest.raises(DatasetError, match=said):
            import_logs(bench.ledger, [path], zone=UTC, reject=bench.rejected.append)
    (bench.folder / "m.jsonl.gz").write_bytes(gzip.compress(b"{}\n" * 1000)[:-12])
    with pytest.raises(DatasetError, match="not a whole packed file"):
        bench.take()


def test_fields_that_contradict_each_other_are_taken_and_listed(bench: Bench) -> None:
    rows = [
        figures(question="a", confidence=0.5),
        figures(question="b", cites_ok=False),
        figures(question="c", quality_pass=False, cites_ok=False, hallucination=True),
        figures(question="d", avg_score=0.4, confidence=0.32),
    ]
    path = bench.write("metrics.jsonl", *rows)
    found = bench.take()
    assert found.added == 4
    assert found.contradictions == {"confidence": 1, "quality_pass": 2, "escalate": 1}
    listed = [(one.place, one.line, one.field, one.said, one.derived) for one in found.differences]
    assert listed == [
        (str(path), 1, "confidence", 0.5, 0.4),
        (str(path), 2, "quality_pass", True, False),
        (str(path), 3, "escalate", False, True),
        (str(path), 4, "quality_pass", True, False),
    ]


@given(average=some.floats(0, 1), decimals=some.integers(1, 17))
def test_rounding_is_no_contradiction(average: float, decimals: int) -> None:
    row = figures(avg_score=round(average, decimals), confidence=round(0.8 * average, decimals))
    assert [one.field for one in differences(metrics_line(row), "f", 1) if one.field == "confidence"] == []


def test_a_confidence_rounded_onto_a_bound_is_no_contradiction() -> None:
    row = figures(avg_score=0.437, confidence=0.35, quality_pass=False)
    assert differences(metrics_line(row), "f", 1) == []


def test_what_is_not_written_is_no_contradiction() -> None:
    row = {"timestamp": STAMP, "question": "?", "quality_pass": False}
    assert differences(metrics_line(row), "f", 1) == []
    assert figures_of(row)["confidence"] is None


def test_times_are_utc_or_of_the_zone() -> None:
    assert moment_of("2026-07-01T12:00:00", ZoneInfo("Europe/Paris")) == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert moment_of("2026-07-01T12:00:00Z", ZoneInfo("Europe/Paris")) == datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_lines_are_told_apart_by_their_fields() -> None:
    kinds = [kind_of(one) for one in (figures(), response(), snapshot(figures()), {"question": "?"})]
    assert kinds == ["metrics", "response", "snapshot", None]


def test_our_own_files_come_back_as_they_were(bench: Bench, tmp_path: Path) -> None:
    """Ids, verdicts and decisions; a shadow's answer is no fallback, and another rule's figures are no contradiction."""
    given = [held_trace(1), delivered_trace(2), held_trace(3, mode="shadow")]
    source = ledger_at(tmp_path / "source.db")
    Traces(source).append(given)
    TraceExport(source, TracesSection(enabled=True), bench.folder).run()
    source.close()
    found = bench.take()
    assert (found.added, found.rejected, found.contradictions) == (3, 0, {})
    for one, back in zip(given, bench.found(), strict=True):
        assert (back.id, back.at, back.verdict, back.mode) == (one.id, one.at, one.verdict, one.mode)
        assert (back.collection, back.p_unsupported, back.metrics) == (one.collection, one.p_unsupported, one.metrics)
        assert back.decision == (one.decision if one.verdict != "deliver" else None)
        assert back.documents == (one.documents if one.verdict != "deliver" else ())


def test_progress_reaches_its_end(bench: Bench) -> None:
    bench.write("metrics.jsonl", *(figures(question=str(number)) for number in range(50)))
    bench.write("none.jsonl", response(question="0"))
    told: dict[str, tuple[int, int]] = {}

    def progress(what: str, done: int, total: int) -> None:
        told[what] = (done, total)

    import_logs(bench.ledger, [bench.folder], zone=UTC, reject=bench.rejected.append, progress=progress)
    assert told["rows"] == (50, 50)
    assert told["bytes"][0] == told["bytes"][1] > 0
