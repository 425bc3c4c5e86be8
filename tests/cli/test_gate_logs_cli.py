"""`areopage gate import`, `gate dataset export`, `review label`, and what else treats answers of the gate."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from areopage.app.monitor import trace_job
from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import ReviewItem
from areopage.ledger.write.traces import Traces
from areopage.monitor.worker import erase_older
from servers.command import Command
from servers.configured import app_config
from servers.made_traces import GENERATED, delivered_trace, held_trace, trace_id
from servers.new_ledger import ledger_at, ledger_file

HELD = trace_id(1)


@pytest.fixture
def gate(tmp_path: Path) -> Command:
    """The command, in a folder with a ledger of two answers that were held back and one that was delivered."""
    command = Command(tmp_path)
    ledger_file(command.outputs / "ledger.db", fill)
    return command


def fill(ledger: Ledger) -> None:
    other = held_trace(2, prompt="Quel délai, et quels frais ?")
    Traces(ledger).append([held_trace(1), other, delivered_trace(3)])
    ReviewQueue(ledger).add([ReviewItem(answer_id="a9", why="alert", created_at=datetime.now(UTC))])


def opened(command: Command) -> Ledger:
    return ledger_at(command.outputs / "ledger.db")


# --- review


def test_what_is_held_back_is_listed_with_its_question(gate: Command) -> None:
    listed = gate("review", "list", "--reveal").out.splitlines()
    assert [line.split()[0] for line in listed] == ["id", HELD, trace_id(2), "a9"]
    assert "held" in listed[1]
    assert "Quel délai ?" in listed[1]
    assert "held" not in listed[3]


def test_a_held_back_answer_is_shown_with_numbered_sentences_and_reasons(gate: Command) -> None:
    shown = gate("review", "show", HELD, "--reveal").out
    assert "--- prompt\nQuel délai ?" in shown
    assert "--- document d1: Délais\nUn délai de 10 jours." in shown
    assert "  1. Le délai est de 10 jours.\n! 2. Jean Dupont demande 300 euros. (word comparison 0.90)" in shown
    assert "--- verdict: human_review" in shown
    assert "300 euros" in shown.partition("--- verdict")[2]
    assert "review: waiting" in shown
    delivered = gate("review", "show", trace_id(3), "--reveal").out
    assert "held back" not in delivered


def test_an_answer_is_labelled_and_released_as_it_is(gate: Command) -> None:
    done = gate(
        "review", "label", HELD, "--rater", "Anne", "--grounded", "partly", "--sentence", "2", "--note", "Ok", "--release"
    )
    assert done.out == f"released: {HELD} (grounded: partly, by Anne)\n"
    ledger = opened(gate)
    release = Traces(ledger).release(HELD)
    assert release is not None
    assert (release.state, release.text, release.rater) == ("released", GENERATED, "Anne")
    [label] = Labels(ledger).grounding([HELD])[HELD]
    assert (label.sentences, label.note, label.origin) == ((1,), "Ok", "cli")
    ledger.close()
    assert HELD not in gate("review", "list").out
    shown = gate("review", "show", HELD, "--rater", "Anne").out
    assert "Anne: grounded partly, sentences 2 (given with the scores in view) Ok\nreview: released by Anne" in shown


def test_another_text_goes_out_or_none(gate: Command) -> None:
    (gate.folder / "text.txt").write_text("Dix jours.\n", encoding="utf-8")
    base = ("--rater", "Anne", "--grounded", "no")
    assert gate("review", "label", HELD, *base, "--release-text", "text.txt").out.startswith("released")
    assert gate("review", "label", trace_id(2), *base, "--refuse").out.startswith("refused")
    ledger = opened(gate)
    texts = [release.text for id in (HELD, trace_id(2)) if (release := Traces(ledger).release(id))]
    ledger.close()
    assert texts == ["Dix jours.", ""]


def test_a_label_alone_reminds_that_the_answer_waits(gate: Command) -> None:
    labelled = gate("review", "label", HELD, "--rater", "Anne", "--grounded", "yes")
    assert "it is still held: use --release" in labelled.out
    assert HELD in gate("review", "list", "--rater", "Anne").out
    assert "waits" not in gate("review", "label", trace_id(3), "--rater", "Anne", "--grounded", "yes").out


def test_the_storage_policy_applies_once_it_is_settled(gate: Command) -> None:
    (gate.folder / "areopage.yml").write_text("storage: {text: redacted}\n", encoding="utf-8")
    gate("review", "label", HELD, "--rater", "Anne", "--grounded", "yes", "--refuse")
    ledger = opened(gate)
    found = [str(Traces(ledger).get(id)) for id in (HELD, trace_id(2))]
    ledger.close()
    assert ["Dupont" in one for one in found] == [False, True]


def test_the_ledger_of_the_configuration_is_the_one_that_is_reviewed(gate: Command) -> None:
    (gate.outputs / "ledger.db").rename(gate.folder / "other.db")
    (gate.folder / "areopage.yml").write_text("ledger: other.db\n", encoding="utf-8")
    assert HELD in gate("review", "list").out


MISTAKES: list[tuple[tuple[str, ...], str]] = [
    ((HELD, "--grounded", "maybe"), "use yes, partly or no"),
    ((HELD, "--grounded", "no", "--sentence", "3"), "no sentence 3: the answer has 2"),
    ((HELD, "--grounded", "no", "--sentence", "0"), "no sentence 0"),
    ((HELD, "--grounded", "no", "--release", "--refuse"), "give one of --release"),
    ((HELD, "--grounded", "no", "--release-text", "missing.txt"), "missing.txt"),
    (("nobody", "--grounded", "no"), "no answer 'nobody' in"),
    ((trace_id(3), "--grounded", "no", "--refuse"), "was not held back"),
]


def test_a_mistake_in_a_verdict_is_one_line(gate: Command) -> None:
    for arguments, said in MISTAKES:
        assert said in gate("review", "label", *arguments, "--rater", "Anne").refused()


# --- erasing, retention, keys


def test_answers_of_the_gate_are_erased_by_id_and_by_age(gate: Command) -> None:
    assert gate("monitor", "erase", "--id", HELD, "--id", "nobody").out == "answers erased: 1; not there: 1\n"
    assert b"Jean Dupont" in (gate.outputs / "ledger.db").read_bytes()  # the other one
    assert gate("monitor", "erase", "--older-than", "0").out == "answers erased: 2\n"
    assert b"Jean Dupont" not in (gate.outputs / "ledger.db").read_bytes()
    assert "was erased" in gate("review", "label", HELD, "--rater", "A", "--grounded", "no").refused()
    ledger = opened(gate)
    assert Traces(ledger).summary(TraceFilter()).traces == 3
    ledger.close()


def test_answers_are_erased_from_trace_files_too_and_it_is_said_where_nobody_looked(gate: Command) -> None:
    (gate.folder / "areopage.yml").write_text("rag: {traces: {enabled: true, folder: traced}}\n", encoding="utf-8")
    traced = gate.folder / "traced"
    done = gate("rag", "export-traces").out
    assert done == f"{traced}: 6 lines and 2 snapshots written, 0 lines rewritten, 0 snapshots removed\n"
    said = gate("monitor", "erase", "--id", HELD).err
    assert f"trace files in {traced}: 2 lines rewritten, 1 snapshots removed; not looked into: trace files" in said
    assert "backups" in said
    in_the_way = traced / "logs/.metrics.jsonl.tmp"
    in_the_way.mkdir()
    assert "may lack lines or hold erased texts" in gate("monitor", "erase", "--older-than", "0").refused()
    ledger = opened(gate)
    assert all(one.erased for one in Traces(ledger).each(TraceFilter()))  # what can be erased is
    ledger.close()
    in_the_way.rmdir()
    gate("monitor", "erase", "--older-than", "0")
    assert not any(b"d\xc3\xa9lai" in path.read_bytes() for path in traced.rglob("*") if path.is_file())


def test_traces_are_exported_only_where_the_configuration_wants_them(gate: Command) -> None:
    assert "set rag.traces.enabled" in gate("rag", "export-traces").refused()


def test_the_workers_job_exports_traces_and_what_retention_erased(gate: Command) -> None:
    ledger = opened(gate)
    job = trace_job(ledger, app_config(gate.folder, rag={"traces": {"enabled": True}}))
    assert job is not None
    metrics = gate.folder / "outputs/logs/metrics.jsonl"

    async def once() -> None:
        await job.run(datetime.now(UTC))

    asyncio.run(once())
    assert metrics.read_bytes().count(b"Quel") == 3
    erase_older(ledger, held_trace(1).at + timedelta(days=1), "retention")
    asyncio.run(once())
    assert (metrics.read_bytes().count(b"Quel"), metrics.read_bytes().count(b"\n")) == (0, 3)
    assert trace_job(ledger, app_config(gate.folder)) is not None, "files are there, and follow erasure"
    assert trace_job(ledger, app_config(gate.folder, rag={"traces": {"folder": "none"}})) is None
    ledger.close()


def test_one_verdict_is_for_all_equal_answers_that_wait(gate: Command) -> None:
    ledger = opened(gate)
    Traces(ledger).append([held_trace(number) for number in (11, 12)])
    ledger.close()
    listed = gate("review", "list", "--reveal").out
    assert "held (3 waiting)" in listed
    assert trace_id(11) not in listed
    assert "review: waiting; the decision also applies to 2 equal answers" in gate("review", "show", HELD, "--reveal").out
    done = gate("review", "label", HELD, "--rater", "Anne", "--grounded", "no", "--refuse").out
    assert done == f"refused: {HELD} and 2 equal ones (grounded: no, by Anne)\n"
    ledger = opened(gate)
    assert next(entry.detail for entry in Audit(ledger).list(subject=HELD)) == "refused, with 2 equal ones"
    ledger.close()


def test_retention_reaches_answers_of_the_gate(gate: Command) -> None:
    ledger = opened(gate)
    moment = held_trace(2).at + timedelta(seconds=1)
    assert erase_older(ledger, moment, "retention") == 2
    assert [one.id for one in Traces(ledger).each(TraceFilter()) if not one.erased] == [trace_id(3)]
    assert [entry.detail for entry in Audit(ledger).list()] == ["2 answers"]
    ledger.close()


def test_a_key_is_confined_to_collections(gate: Command) -> None:
    made = gate("keys", "create", "site", "--role", "write", "--collection", "faq", "--collection", "actes")
    assert "(write, only faq, only actes)" in made.err
    assert gate("keys", "list").out.endswith("site  (only faq, actes)\n")
    ledger = opened(gate)
    found = ApiKeys(ledger).find(made.out.strip())
    ledger.close()
    assert found is not None
    assert found.collections == ("faq", "actes")
    assert "--collection: give" in gate("keys", "create", "site", "--role", "write", "--collection", " ").refused()


# --- import and export


def test_old_logs_are_imported_and_what_was_not_taken_is_told(tmp_path: Path) -> None:
    command = Command(tmp_path)
    row = {"timestamp": "2026-03-01T12:00:00", "question": "?", "avg_score": 0.5, "confidence": 0.9, "cites_ok": True}
    row |= {"hallucination": False, "quality_pass": True, "escalate": False, "num_sources": 1}
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "metrics.jsonl").write_text(json.dumps(row) + "\n{cut\n", encoding="utf-8")
    ended = command("gate", "import", "logs", "--timezone", "Europe/Paris", "--rejected", "r.csv", "--differences", "d.csv")
    assert ended.code == 3
    assert ended.out.splitlines() == [
        "read: 1 metrics row, 0 responses, 0 snapshots, in 1 file",
        "imported: 1 new, 0 already known (1 deliver)",
        "joined: 0 with a response, 0 with a snapshot",
        "fields that contradict other fields: 1 confidence",
    ]
    assert "metrics.jsonl line 1: confidence is 0.9, but the other fields give 0.4" in ended.err
    assert "metrics.jsonl line 2: not valid JSON" in ended.err
    assert "{cut" in (tmp_path / "r.csv").read_text(encoding="utf-8-sig")
    assert "confidence,0.9,0.4" in (tmp_path / "d.csv").read_text(encoding="utf-8-sig")
    ledger = opened(command)
    assert [one.at.hour for one in Traces(ledger).each(TraceFilter())] == [11]
    ledger.close()
    assert "no such time zone" in command("gate", "import", "logs", "--timezone", "Mars/Nord").refused()
    assert "no such file or folder" in command("gate", "import", "nowhere").refused()


def test_bad_cases_are_exported_without_personal_data_and_never_over_a_file(gate: Command) -> None:
    ended = gate("gate", "dataset", "export", "--output", "bad.jsonl")
    assert ended.err == "2 answers written to bad.jsonl\n"
    rows = [json.loads(line) for line in (gate.folder / "bad.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == [HELD, trace_id(2)]
    assert "Dupont" not in str(rows)
    assert "exists: choose another file" in gate("gate", "dataset", "export", "--output", "bad.jsonl").refused()
    full = gate("gate", "dataset", "export", "--output", "bad.jsonl", "--force", "--text", "full", "--verdict", "all")
    assert full.err == "3 answers written to bad.jsonl\n"
    assert "Dupont" in (gate.folder / "bad.jsonl").read_text(encoding="utf-8")
    ledger = opened(gate)
    assert [entry.action for entry in Audit(ledger).list()] == ["export", "export"]
    ledger.close()
    assert "--verdict 'good'" in gate("gate", "dataset", "export", "--output", "-", "--verdict", "good").refused()
    assert gate("gate", "dataset", "export", "--output", "-", "--since", "2026-03-02").out == ""


def test_labelled_cases_can_be_read_by_the_tuner(gate: Command) -> None:
    from areopage.review.labelled_answers import LabelSet

    gate("review", "label", HELD, "--rater", "Anne", "--grounded", "partly", "--sentence", "2", "--blind")
    gate("review", "label", trace_id(3), "--rater", "Anne", "--grounded", "yes", "--blind")
    gate("gate", "dataset", "export", "--output", "labelled.jsonl", "--labelled-only", "--text", "full")
    rows = LabelSet.of_files([gate.folder / "labelled.jsonl"]).rows
    assert len(rows) == 2
    assert rows[0].response == GENERATED
    assert rows[0].documents[0].text.startswith("Un délai")
