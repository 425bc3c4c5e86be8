"""`areopage monitor worker`, `submit`, `status`, `retry`, as a user runs them."""

import csv
import io
import json
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from areopage.cli.options import harmless
from servers import PATIENCE
from servers.configured import write_config

if TYPE_CHECKING:
    from servers.command import Command
    from servers.fake_llm import FakeServer


@pytest.fixture
def configured(command: "Command") -> Path:
    """An `areopage.yml` in the folder where the command runs, and a table of answers."""
    write_config(
        command.folder,
        judges=["openai:fake-a"],
        worker={"concurrency": 4, "pause": 0.2, "attempts": 2},
        ledger="kept/ledger.db",
    )
    rows = [f"id{number},Question {number} ?,Réponse {number}.,Texte {number}" for number in range(8)]
    table = command.folder / "answers.csv"
    table.write_text(
        "\n".join(["id,prompt,response,documents", *rows, "id9,Question 9 ?,,", "id0,Autre ?,Oui.,"]), encoding="utf-8"
    )
    return table


def ledger_of(command: "Command") -> "str":
    return str(command.folder / "kept" / "ledger.db")


def wait_for(command: "Command", count: int) -> None:
    from servers.monitored import evaluated, opened, wait_until

    with opened(ledger_of(command)) as ledger:
        wait_until(lambda: evaluated(ledger) >= count)


def test_answers_of_a_file_are_handed_over_judged_and_shown(command: "Command", configured: Path) -> None:
    ended = command("monitor", "submit", configured, "--source", "bot", "--language", "fr")
    assert ended.code == 3 and ended.out.startswith("8 answers submitted to ")
    assert "row 10: response: is empty" in ended.err and "id0" in ended.err
    again = command("monitor", "submit", configured, "--source", "bot")
    assert "0 answers submitted" in again.out and "8 were there already" in again.out
    waiting = command("monitor", "status")
    assert "waiting 8, given up 0; the oldest came" in waiting.out and "no worker" in waiting.out
    process = command.begin("monitor", "worker")
    wait_for(command, 8)
    assert "worker " in command("monitor", "status").out
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert said.splitlines()[-1] == "stopped: 0 answers left" and "Traceback" not in said
    after = command("monitor", "status")
    assert "waiting 0, given up 0\nevaluated 8\n" in after.out and ": stopped," in after.out


def test_handing_over_is_done_where_all_rows_were_taken_or_were_there_already(command: "Command", configured: Path) -> None:
    for words in ("3 answers submitted", "3 were there already"):
        ended = command("monitor", "submit", configured, "--limit", "3")
        assert ended.code == 0 and words in ended.out


def test_a_new_monitor_has_no_answers_yet_and_reading_makes_no_ledger(command: "Command") -> None:
    assert command("init").code == 0
    for arguments in (("status",), ("report", "--lang", "en"), ("export", "--out", "a.csv")):
        ended = command("monitor", *arguments)
        assert ended.code == 0 and ended.err.startswith("no answers yet"), ended.err
    assert (command.folder / "a.csv").read_text(encoding="utf-8-sig").startswith("id,timestamp,")
    assert not command.outputs.exists()


def test_a_status_says_how_many_answers_sampling_left_out(command: "Command", configured: Path) -> None:
    write_config(command.folder, sampling=0, ledger="kept/ledger.db")
    command("monitor", "submit", configured)
    out = command("monitor", "status").out
    assert "waiting 0," in out and "left out by sampling: 8 so far (sampling is 0 now)\n" in out


def test_the_source_option_counts_but_for_rows_that_name_their_own(command: "Command", configured: Path) -> None:
    from areopage.ledger.write.evaluations import Evaluations
    from servers.monitored import opened

    table = command.folder / "sources.csv"
    table.write_text("id,prompt,response,source\nown,Q ?,A.,desk\nbare,Q ?,A.,\n", encoding="utf-8")
    assert command("monitor", "submit", table, "--source", "bot").code == 0
    assert command("monitor", "submit", configured, "--limit", "1").code == 0
    with opened(ledger_of(command)) as ledger:
        found = {id: Evaluations(ledger).get(id) for id in ("own", "bare", "id0")}
    assert {id: one.source for id, one in found.items() if one} == {"own": "desk", "bare": "bot", "id0": "answers.csv"}


ROW = {
    "id": "r1",
    "prompt": "Q ?",
    "response": "A.",
    "source": "desk",
    "variant": "a",
    "language": "fr",
    "age": "9-12",
    "answered_at": "2026-10-24T09:30:00Z",
    "metadata": {"user": "u1"},
    "note": "kept",
}


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_rows_of_a_file_keep_what_the_api_takes_and_other_columns_are_named(
    command: "Command", configured: Path, kind: str
) -> None:
    from areopage.ledger.write.answers import Answers
    from servers.monitored import opened

    table = command.folder / f"rows.{kind}"
    with table.open("w", encoding="utf-8", newline="") as stream:
        if kind == "jsonl":
            stream.write(json.dumps(ROW) + "\n")
        else:
            writer = csv.writer(stream)
            writer.writerows([list(ROW), [json.dumps(cell) if isinstance(cell, dict) else cell for cell in ROW.values()]])
    ended = command("monitor", "submit", table, "--source", "bot", "--variant", "b", "--language", "en")
    assert ended.code == 0 and "kept as metadata: columns note\n" in ended.err, ended.err
    with opened(ledger_of(command)) as ledger:
        found = Answers(ledger).get("r1")
    assert found is not None
    assert (found.source, found.variant, found.language) == ("desk", "a", "fr")
    assert found.answered_at == datetime(2026, 10, 24, 9, 30, tzinfo=UTC)
    assert found.case.metadata == {"user": "u1", "note": "kept"}
    assert found.case.maturity == "Teen"


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("answered_at", "last week", "answered_at 'last week': give a moment such as"),
        ("answered_at", "0001-01-01", "answered_at: give a year after 1970"),
        ("metadata", "[1]", "metadata '[1]': give a JSON object"),
        ("source", "golden:x", "source: `golden:` is reserved"),
    ],
)
def test_a_row_whose_column_cannot_be_read_is_refused_with_its_reason(
    command: "Command", configured: Path, field: str, value: str, says: str
) -> None:
    table = command.folder / "row.jsonl"
    table.write_text(json.dumps(ROW | {field: value}), encoding="utf-8")
    ended = command("monitor", "submit", table)
    assert ended.code == 3 and f"row 1: {says}" in ended.err, ended.err


def test_ctrl_c_says_what_is_left(command: "Command", configured: Path, server: "FakeServer") -> None:
    server.faults.hold = True
    command("monitor", "submit", configured)
    process = command.begin("monitor", "worker", "--grace", "0")
    server.wait_for_calls(4)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and said.splitlines()[-1] == "stopped: 8 answers left; the next start goes on with them"
    server.faults.hold = False


def test_what_was_given_up_can_be_tried_again(command: "Command", configured: Path, server: "FakeServer") -> None:
    from areopage.ledger.write.evaluations import Evaluations
    from servers.monitored import opened, wait_until

    server.faults.status = 500
    command("monitor", "submit", configured, "--limit", "2")
    process = command.begin("monitor", "worker")
    with opened(ledger_of(command)) as ledger:
        wait_until(lambda: Evaluations(ledger).backlog().failed == 2)
        server.faults.status = 0
        assert command("monitor", "retry", "id0").out == "1 answer will be tried again\n"
        assert command("monitor", "retry").out == "1 answer will be tried again\n"
    wait_for(command, 2)
    process.terminate()
    process.communicate(timeout=PATIENCE)


def test_answers_without_a_score_are_judged_again_where_their_texts_are_kept(
    command: "Command", configured: Path, server: "FakeServer"
) -> None:
    server.faults.texts, server.faults.kinds = 1.0, ("prose",)
    command("monitor", "submit", configured, "--limit", "2")
    process = command.begin("monitor", "worker")
    wait_for(command, 2)
    process.terminate()
    process.communicate(timeout=PATIENCE)
    assert command("monitor", "retry").out == "0 answers will be tried again\n"
    assert command("monitor", "retry", "--unscored").out == "2 answers will be judged again\n"
    assert "waiting 2, given up 0" in command("monitor", "status").out
    write_config(command.folder, judges=["openai:fake-a"], ledger="kept/ledger.db", storage={"text": "none"})
    assert "no whole text to judge again" in command("monitor", "retry", "--unscored").refused()


def test_what_keeps_no_whole_text_cannot_be_tried_again(command: "Command", configured: Path) -> None:
    command("monitor", "submit", configured)
    write_config(command.folder, judges=["openai:fake-a"], ledger="kept/ledger.db", storage={"text": "truncated"})
    assert "storage.text is truncated" in command("monitor", "retry").refused()


def test_what_the_spool_could_not_read_is_shown(command: "Command", configured: Path) -> None:
    rejected = command.folder / "kept" / "spool" / "rejected"
    command("monitor", "submit", configured)
    rejected.mkdir(parents=True)
    (rejected / "1.jsonl").write_text('{"reason": "x", "line": "y"}\n')
    assert "0 bytes wait; 1 lines could not be submitted" in command("monitor", "status").out


def test_mistakes_are_one_line(command: "Command", configured: Path) -> None:
    assert "there is no ledger" in command("monitor", "retry").refused()
    assert "nowhere.csv" in command("monitor", "submit", "nowhere.csv").refused()
    write_config(command.folder, judges=["openai:nowhere"])
    assert "nowhere" in command.process("monitor", "worker").refused()
    write_config(command.folder, report={"schedule": "each day"}, judges=["openai:fake-a"])
    assert "is no cron expression" in command.process("monitor", "worker").refused()


def test_a_new_level_is_accepted_by_name_and_note(command: "Command", configured: Path) -> None:
    from areopage.ledger.write.alerts import Alerts
    from areopage.monitor.alerts.rules import new_alert
    from servers.monitored import opened

    command("monitor", "submit", configured)
    with opened(ledger_of(command)) as ledger:
        Alerts(ledger).open(new_alert("drop", "*", "Quality fell", "since Monday", datetime.now(UTC), "none"))
        (incident,) = Alerts(ledger).list(rule="drop")
    number = str(incident.number)
    assert command("monitor", "alerts", "accept", number, "--by", "Ada").code == 2
    assert "give your name and a note" in command("monitor", "alerts", "accept", number, "--by", "Ada", "--note", " ").err
    assert "accepted: Quality fell" in command("monitor", "alerts", "accept", number, "--by", "Ada", "--note", "cheaper").out
    again = command("monitor", "alerts", "accept", number, "--by", "Ada", "--note", "cheaper")
    assert again.code == 2 and f"there is no open incident {number}" in again.err
    assert "accepted by Ada: cheaper" in command("monitor", "alerts", "list", "--all", "--rule", "drop").out


def test_progress_is_one_line_with_all_that_matters() -> None:
    from areopage.cli.options import duration
    from areopage.cli.worker import progress_line
    from areopage.ledger.read.queries import Backlog
    from areopage.monitor.evaluate import WorkerProgress

    progress = WorkerProgress(
        evaluated=1234,
        unscored=2,
        again=3,
        given_up=0,
        rate=10.0,
        backlog=Backlog(waiting=650, failed=0, oldest_at=None),
        cost={"EUR": 0.12345},
        seconds=100.0,
    )
    assert (
        progress_line(progress)
        == "1,234 evaluated, 10.0/s | 650 left, about 1 min 05 s | 2 without a score, 3 to be tried again | 0.1235 EUR"
    )
    assert [duration(5), duration(65), duration(3700)] == ["5 s", "1 min 05 s", "1 h 01 min"]


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_control_characters_of_answers_do_not_reach_a_terminal() -> None:
    screen, file = Screen(), io.StringIO()
    for stream in (screen, file):
        harmless(stream).write("a\x1b[2J\x9b1m\tb\r\n")
    assert screen.getvalue() == "a\ufffd[2J\ufffd1m\tb\ufffd\n"
    assert file.getvalue() == "a\x1b[2J\x9b1m\tb\r\n"
