"""`areopage verify` finds every alteration of what scores rest on, on both databases, and none where the ledger wrote itself."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from areopage.app.rebuild import rebuild_ledger, store_readings
from areopage.app.verify import Verification, kept_heads, verify_ledger
from areopage.bench.report.files import write_run_files
from areopage.bench.results.run_view import view_run
from areopage.errors import UserError
from areopage.ledger.people.access import Audit
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.chain import Head, seal
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.judgments import whole_judgments
from areopage.ledger.write.traces import Traces
from areopage.report.gate.figures import gate_figures
from areopage.report.gate.page import gate_report
from areopage.report.rendering import FORMS, write_report
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.made_traces import trace_id

FIRST_SCORED = "(SELECT min(judgment_id) FROM verdicts WHERE outcome = 'scored' AND explanation != '')"
NEWEST = "(SELECT max(id) FROM judgments)"


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """A ledger of all applications, with three entries of the audit log."""
    opened = Ledger.open(request.getfixturevalue("seeded_file" if request.param == "sqlite" else "seeded_postgres"))
    for action in ("read", "erase", "export"):
        Audit(opened).note("ann", action, "m-1")
    yield opened
    opened.close()


def verified(ledger: Ledger, kept: tuple[Head, ...] = ()) -> tuple[Verification, list[str]]:
    told: list[str] = []
    found = verify_ledger(
        ledger, kept, lambda done: None, told.append, lambda one: told.append(f"{one.subject}: {one.field} differs")
    )
    return found, told


def altered(ledger: Ledger, *statements: str) -> None:
    with ledger.engine.begin() as connection:
        for statement in statements:
            assert connection.execute(text(statement)).rowcount > 0, statement


ALTERATIONS = {
    "score of a verdict": (
        [f"UPDATE verdicts SET score = score + 1 WHERE judgment_id = {FIRST_SCORED}"],
        r"judgments \d+: altered \(figures\)",
    ),
    "outcome of a verdict": (
        [f"UPDATE verdicts SET outcome = 'unparsed', score = NULL WHERE judgment_id = {FIRST_SCORED}"],
        r"judgments \d+: altered \(figures\)",
    ),
    "explanation of a verdict": (
        [f"UPDATE verdicts SET explanation = 'Excellent.' WHERE judgment_id = {FIRST_SCORED}"],
        r"judgments \d+: altered \(texts\)",
    ),
    "raw text of a judgment": (
        [f"UPDATE judgments SET raw_text = '{{\"score\": 5}}' WHERE id = {FIRST_SCORED}"],
        r"judgments \d+: altered \(raw text\)",
    ),
    "judge of a judgment": (
        [f"UPDATE judgments SET judge = 'another' WHERE id = {FIRST_SCORED}"],
        r"judgments \d+: altered \(figures\)",
    ),
    "cached score of an evaluation": (
        ["UPDATE evaluations SET score_global = 9.9 WHERE answer = (SELECT number FROM answers WHERE id = 'm-1')"],
        r"m-1: score_global differs",
    ),
    "label": (["UPDATE labels SET score = score - 1 WHERE rater = 'ann'"], r"labels \d+: altered \(figures\)"),
    "note of a label": (["UPDATE labels SET note = 'no' WHERE rater = 'ann'"], r"labels \d+: altered \(texts\)"),
    "verdict of a decision": (
        ["UPDATE decisions SET verdict = 'deliver' WHERE verdict = 'human_review'"],
        r"decisions \d+: altered \(figures\)",
    ),
    "reasons of a decision": (
        ["UPDATE answer_texts SET decision = replace(decision, 'true', 'false') WHERE decision LIKE '%true%'"],
        r"decisions \d+: altered \(texts\)",
    ),
    "weights of a panel": (["UPDATE runs SET spec = spec || ' ' WHERE kind = 'monitor'"], r"runs .+: altered \(figures\)"),
    "audit entry": (["UPDATE audit SET actor = 'bob' WHERE action = 'erase'"], r"audit \d+: altered \(figures\)"),
    "API key of an audit entry": (
        ["UPDATE audit SET key_id = 'another' WHERE action = 'erase'"],
        r"audit \d+: altered \(figures\)",
    ),
    "judgment taken from its answer": (
        [f"DELETE FROM answer_judgments WHERE key = (SELECT key FROM judgments WHERE id = {FIRST_SCORED})"],
        r"answer_judgments \d+ .+: deleted",
    ),
    "judgment given to another answer": (
        [
            f"UPDATE answer_judgments SET answer = (SELECT max(number) FROM answers) "
            f"WHERE key = (SELECT key FROM judgments WHERE id = {FIRST_SCORED})"
        ],
        r"answer_judgments \d+ .+: not in any chain: inserted",
    ),
    "deleted case of a run": (
        ["DELETE FROM run_cases WHERE position = (SELECT max(position) FROM run_cases)"],
        r"run_cases .+ \d+: deleted",
    ),
    "answer of another case": (
        ["UPDATE run_cases SET answer = (SELECT max(answer) FROM run_cases) WHERE position = 0"],
        r"run_cases .+ 0: altered \(answer\)",
    ),
    "deleted audit entry": (["DELETE FROM audit WHERE action = 'erase'"], r"audit \d+: deleted"),
    "deleted label": (["DELETE FROM labels WHERE rater = 'ann'"], r"labels \d+: deleted"),
    "deleted judgment": (
        [f"DELETE FROM verdicts WHERE judgment_id = {NEWEST}", f"DELETE FROM judgments WHERE id = {NEWEST}"],
        r"judgments \d+: deleted",
    ),
    "deleted verdict": (
        [f"DELETE FROM verdicts WHERE judgment_id = {FIRST_SCORED}"],
        r"judgments \d+: altered \(figures, texts\)",
    ),
    "inserted audit entry": (
        [
            "INSERT INTO audit (number, at, actor, key_id, action, subject, detail) "
            "SELECT 999, at, actor, key_id, action, subject, '' "
            "FROM audit WHERE action = 'read' AND actor = 'ann'"
        ],
        r"audit 999: not in any chain: inserted",
    ),
    "inserted label": (
        [
            "INSERT INTO labels (number, answer_id, rater, criterion, score, sentences, note, correction, origin, "
            "blind, decides, state, text_key, created_at) SELECT 999, answer_id, 'eve', criterion, 5, sentences, note, "
            "correction, origin, blind, decides, state, text_key, created_at FROM labels WHERE number = 1"
        ],
        r"labels 999: not in any chain: inserted",
    ),
    "text of an erased judgment": (
        ["UPDATE judgments SET raw_text = 'invented' WHERE key LIKE 'erased-%'"],
        r"judgments \d+: altered \(raw text\)",
    ),
    "erased answer that is there again": (
        [
            "INSERT INTO answer_texts (answer, prompt, documents, details, delivered, session) "
            "SELECT number, 'p', '[]', '{}', '', '' FROM answers WHERE id = 'm-2'"
        ],
        r"answers \d+: altered \(texts\)",
    ),
    "link that names other rows": (
        ["UPDATE chain SET members = replace(members, 'labels', 'audit') WHERE members LIKE '%labels%'"],
        r"chain \d+, link \d+: altered",
    ),
    "link whose digest is made to fit": (
        ["UPDATE chain SET digest = previous WHERE sequence = 2"],
        r"chain \d+, link 3: does not follow the link before",
    ),
    "deleted link": (["DELETE FROM chain WHERE sequence = 2"], r"chain \d+, link 3: link 2 is missing"),
}


def test_a_ledger_that_was_not_altered_is_intact(ledger: Ledger) -> None:
    found, told = verified(ledger)
    assert (found.intact, told) == (True, [])


def test_a_judgment_that_was_taken_from_its_answer_is_missed_though_all_scores_were_computed_again(ledger: Ledger) -> None:
    altered(ledger, f"DELETE FROM answer_judgments WHERE key = (SELECT key FROM judgments WHERE id = {FIRST_SCORED})")
    rebuild_ledger(ledger, lambda done: None)
    found, told = verified(ledger)
    assert not found.intact
    assert all(re.fullmatch(r"answer_judgments \d+ .+: deleted", one) for one in told), told


@pytest.mark.parametrize("what", ALTERATIONS)
def test_each_kind_of_alteration_is_found(ledger: Ledger, what: str) -> None:
    statements, expected = ALTERATIONS[what]
    altered(ledger, *statements)
    found, told = verified(ledger)
    assert not found.intact
    assert any(re.fullmatch(expected, line) for line in told), told


def test_a_chain_that_was_cut_with_its_rows_is_found_by_a_kept_head(ledger: Ledger) -> None:
    Audit(ledger).note("ann", "erase", "m-7")
    kept = ledger.heads()
    last = max(kept, key=lambda one: one.sequence)
    assert verified(ledger, kept)[0].intact
    altered(
        ledger,
        "DELETE FROM audit WHERE subject = 'm-7'",
        f"DELETE FROM chain WHERE writer = {last.writer} AND sequence = {last.sequence}",
    )
    assert verified(ledger)[0].intact  # the ledger alone cannot tell
    found, told = verified(ledger, kept)
    assert not found.intact
    assert told == [
        f"chain {last.writer}: link {last.sequence}, which was kept, is missing: the chain ends at link {last.sequence - 1}"
    ]
    Audit(ledger).note("ann", "read", "m-7")  # another link in its place is not the kept one
    assert verified(ledger)[0].intact
    assert verified(ledger, kept)[1] == [
        f"chain {last.writer}, link {last.sequence}: is not the link that was kept ({last.digest[:12]}…)"
    ]


@pytest.mark.parametrize(
    ("change", "column", "part"),
    [("reread", "raw_text = 'x'", "raw text"), ("erased", "seconds = 9", "figures"), ("added", "raw_text = 'x'", "raw text")],
)
def test_an_alteration_is_no_change_of_the_ledger_because_a_link_says_so(
    ledger: Ledger, change: str, column: str, part: str
) -> None:
    with ledger.engine.begin() as connection:
        id = connection.execute(text(f"SELECT {FIRST_SCORED}")).scalar_one()
        connection.execute(text(f"UPDATE judgments SET {column} WHERE id = {id}"))
        seal(connection, change, "judgments", whole_judgments(connection, [id]))  # type: ignore[arg-type]
    told = verified(ledger)[1]
    assert f"judgments {id}: altered ({part}) as if it was {change}" in told or f"judgments {id}: added twice" in told


def test_what_the_ledgers_own_commands_change_is_no_alteration(ledger: Ledger) -> None:
    kept = ledger.heads()
    with ledger.engine.connect() as connection:
        keys = list(connection.execute(text("SELECT key FROM judgments WHERE stored = 'full' AND raw_text != ''")).scalars())
        held = connection.execute(
            text("SELECT id FROM answers JOIN decisions ON answer = number WHERE verdict = 'human_review' AND held_key != ''")
        ).scalar()
    store_readings(ledger, list(ledger.judgments(keys).values()), "ann", lambda done: None)
    rebuild_ledger(ledger, lambda done: None)
    assert ledger.erasure.erase(["m-1", trace_id(1)]) > 0
    assert verified(ledger, kept)[1] == []
    if held is not None:
        Traces(ledger).settle(Release(answer_id=held, state="refused", rater="Anne"), lambda trace: trace)
    assert ledger.erasure.erase_before(datetime(2099, 1, 1, tzinfo=UTC)) > 0
    found, told = verified(ledger, kept)
    assert told == []
    assert found.intact
    since: Counter[tuple[str, str]] = Counter()
    for one, rows in found.chains.since.items():
        since[one.table, one.change] += rows
    assert since["judgments", "reread"] == len(set(keys))
    assert since["judgments", "erased"] > 5
    assert {one.actor for one in found.chains.since if one.table == "audit"} == {"ann"}
    assert found.chains.heads != kept


REJECTED = '{"file": "cases.csv", "row": 7, "reason": "empty", "content": ""}'
DAMAGES = {
    "judgments.steps": ("judgments", "steps", "id = 1", r"judgment 1: steps cannot be read"),
    "verdicts.evidence": ("verdicts", "evidence", "judgment_id = 1", r"verdicts of judgment 1: evidence cannot be read"),
    "evaluations.strengths": (
        "evaluations",
        "strengths",
        "number = (SELECT min(number) FROM evaluations WHERE state = 'evaluated' AND origin = 'monitor')",
        r"evaluation m-\d+: strengths cannot be read",
    ),
    "run_cases.case": ("run_cases", '"case"', "position = 0", r"run_cases \S+ 0: case cannot be read"),
    "run_rejected.row": ("run_rejected", '"row"', "position = 1", r"run_rejected \S+ 1: row cannot be read"),
    "runs.outcome": ("runs", "outcome", "kind = 'bench'", r"\S+: runs.outcome: stored None"),
}


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
@pytest.mark.parametrize("text", ["{", "{}"])
@pytest.mark.parametrize("place", DAMAGES)
def test_a_row_whose_json_is_damaged_is_named_and_the_rest_is_verified(
    ledger: Ledger, command: Command, place: str, text: str
) -> None:
    table, column, where, line = DAMAGES[place]
    run = ledger.runs()[0].id
    altered(
        ledger,
        *(f"INSERT INTO run_rejected VALUES ('{run}', {position}, '{REJECTED}')" for position in range(2)),
        f"UPDATE {table} SET {column} = '{text}' WHERE {where}",
        "UPDATE audit SET actor = 'bob' WHERE action = 'erase'",
        "UPDATE evaluations SET score_global = 9.9 WHERE answer = (SELECT number FROM answers WHERE id = 'm-1')",
    )
    verified = command("verify", "--ledger", ledger.place)
    assert (verified.code, verified.out.splitlines()[-1]) == (1, "altered")
    assert re.search(line, verified.out)
    assert re.search(r"^audit \d+: altered", verified.out, re.MULTILINE) and "m-1: score_global" in verified.out
    assert "Traceback" not in verified.err


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_the_command_says_intact_altered_or_what_the_user_must_mend(ledger: Ledger, command: Command) -> None:
    place = ("--ledger", ledger.place)
    whole = command("verify", *place)
    assert (whole.code, whole.out.splitlines()[-1]) == (0, "intact")
    assert f"head: {ledger.heads()[0]}" in whole.out
    altered(ledger, ALTERATIONS["audit entry"][0][0])
    damaged = command("verify", *place)
    assert (damaged.code, damaged.out.splitlines()[-1]) == (1, "altered")
    assert re.search(r"^audit \d+: altered \(figures\)$", damaged.out, re.MULTILINE)
    assert "nothing.json cannot be read" in command("verify", "--against", "nothing.json", *place).refused()
    (command.folder / "other.json").write_text("{}", encoding="utf-8")
    assert "names no head of a ledger" in command("verify", "--against", "other.json", *place).refused()


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_results_and_reports_of_bench_and_gate_name_the_heads_that_they_rest_on(ledger: Ledger, tmp_path: Path) -> None:
    view = view_run(ledger.run("latest"), ledger)
    files = [one for one in write_run_files(view, tmp_path) if one.suffix in (".json", ".html")]
    overview = gate_figures(ledger, TraceFilter(), language="fr", policy="none", max_chars=100, now=datetime.now(UTC))
    for form in FORMS:
        files.append(tmp_path / f"gate.{form}")
        write_report(gate_report(overview), form, files[-1])
    assert [kept_heads(one) for one in files] == [ledger.heads()] * 7
    digests = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["run"]["metadata"]["digests"]
    assert len(set(digests.values())) == 3
    assert {len(one) for one in digests.values()} == {64}


def test_heads_are_read_from_results_and_from_reports_of_every_form(tmp_path: Path) -> None:
    head, planted = f"1-7-{'a' * 64}", f"1-7-{'b' * 64}"
    texts = {
        "results.json": json.dumps({"run": {"metadata": {"ledger_heads": [head]}}, "records": [{"text": planted}]}),
        "report.json": json.dumps({"ledger_heads": [head], "worst": planted}),
        "report.html": f"<dd><code>{head}</code></dd><p>{planted} &lt;code&gt;{planted}&lt;/code&gt;</p>",
        "report.md": f"- Head: `{head}`\n\n{planted} \\`{planted}\\`\n",
    }
    for name, content in texts.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        assert [str(one) for one in kept_heads(tmp_path / name)] == [head], name
    (tmp_path / "binary").write_bytes(b"\xff\x00`")
    with pytest.raises(UserError, match="names no head"):
        kept_heads(tmp_path / "binary")


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_a_case_that_is_not_the_one_that_a_run_began_with_is_named(
    ledger: Ledger, command: Command, server: FakeServer, suite: Path
) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "2", "--ledger", ledger.place).code in (0, 1, 3)
    assert verified(ledger)[1] == []
    newest = "run_id = (SELECT id FROM runs WHERE kind = 'bench' ORDER BY created_at DESC LIMIT 1)"
    altered(ledger, f'UPDATE run_cases SET "case" = replace("case", \'"id":"\', \'"id":"x\') WHERE position = 0 AND {newest}')
    assert any(one.endswith(": run_cases differs") for one in verified(ledger)[1])
