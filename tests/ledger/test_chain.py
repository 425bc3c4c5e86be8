"""Hash chains: one canonical form in every database, a link for each group of rows, and chains that survive any death."""

import signal
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select, text

from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels
from areopage.ledger.read.chain_check import ChainCheck
from areopage.ledger.store import Ledger
from areopage.ledger.tables.chain import EVIDENCE, row_digests, with_verdicts
from areopage.ledger.tables.records import Judgment, Label, Run, Verdict
from areopage.ledger.tables.schema import chain
from areopage.ledger.write.judgments import insert_judgments, whole_judgments
from areopage.scoring.outcome import NotApplicable, Scored, Unparsed
from servers import PATIENCE
from servers.forked import Forked

from .test_ledger_crash import APPEND_FOREVER, APPEND_SOME

RUN = Run(
    id="m", kind="monitor", suite="s", fingerprint="f", folder="", created_at=datetime.now(UTC), finished_at=None, spec="{}"
)
ANY_TEXT = st.text(st.characters(codec=None), max_size=20)
ANY_NUMBER = st.floats(-1e9, 1e9) | st.integers(-1000, 1000)
OUTCOMES = (
    st.builds(
        Scored,
        score=ANY_NUMBER,
        explanation=ANY_TEXT,
        evidence=st.lists(ANY_TEXT, max_size=2).map(tuple),
        mass=st.none() | ANY_NUMBER,
        written=st.none() | ANY_NUMBER,
    )
    | st.builds(Unparsed, reason=ANY_TEXT)
    | st.builds(NotApplicable, explanation=ANY_TEXT)
)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def checked(ledger: Ledger) -> tuple[ChainCheck, list[str]]:
    told: list[str] = []
    return ledger.chains.check((), lambda fault: told.append(str(fault))), told


def links(ledger: Ledger) -> int:
    with ledger.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(chain)).scalar_one()


@given(st.lists(OUTCOMES, max_size=3), ANY_TEXT, ANY_NUMBER, st.none() | ANY_NUMBER, MOMENTS)
def test_a_row_has_the_same_digests_before_it_is_written_and_after(
    shared: Ledger,
    judgment: Callable[..., Judgment],
    said: list[Any],
    raw: str,
    seconds: float,
    cost: float | None,
    at: datetime,
) -> None:
    verdicts = tuple(Verdict(criterion=f"a.b.c{9 - number}", outcome=outcome) for number, outcome in enumerate(said))
    made = judgment(run_id="m", raw_text=raw, seconds=seconds, cost=cost, created_at=at, verdicts=verdicts)
    now = datetime.now(UTC)  # labels of one ledger are dated in order
    label = Label(answer_id="a", rater=raw, criterion="", score=seconds, note=raw, origin="web", created_at=now)
    shared.append([made])
    Labels(shared).add([label])
    assert checked(shared)[1] == []


@given(st.sampled_from(("raw_text", "judge", "finish_reason", "currency", "steps")), ANY_TEXT, ANY_TEXT)
def test_different_values_have_different_digests(name: str, one: str, other: str) -> None:
    row = dict.fromkeys((name for part in EVIDENCE["judgments"].parts.values() for name in part), "")
    rows = [
        with_verdicts(row | {"seconds": 1.0, "cost": None, name: value.encode("utf-8", "replace").decode()}, [])
        for value in (one, other)
    ]
    digests = [row_digests("judgments", one) for one in rows]
    assert (digests[0] == digests[1]) == (rows[0] == rows[1])


def test_text_cannot_move_from_one_value_to_the_next_unseen() -> None:
    names = [name for part in EVIDENCE["audit"].parts.values() for name in part]
    row = dict.fromkeys(names, "")
    one, other = row | {"actor": "ann", "action": "read"}, row | {"actor": "annr", "action": "ead"}
    assert row_digests("audit", one) != row_digests("audit", other)


def test_the_order_of_verdicts_means_nothing() -> None:
    said = [
        {
            "criterion": name,
            "outcome": "scored",
            "score": 1,
            "mass": None,
            "written": None,
            "explanation": "",
            "evidence": "[]",
            "reason": "",
        }
        for name in "ba"
    ]
    assert with_verdicts({}, said) == with_verdicts({}, said[::-1])


def test_a_group_of_rows_is_one_link_and_rows_that_are_rolled_back_are_in_none(
    ledger: Ledger, judgment: Callable[..., Judgment]
) -> None:
    before = links(ledger)  # of the run
    ledger.append([judgment(f"k{number}") for number in range(20)])
    assert links(ledger) == before + 1
    with pytest.raises(RuntimeError), ledger.engine.begin() as connection:
        insert_judgments(connection, [judgment("lost")])
        raise RuntimeError
    Audit(ledger).note("ann", "read", "k1")
    found, told = checked(ledger)
    assert (links(ledger), found.rows, told) == (before + 2, 23, [])
    assert [(head.writer, head.sequence) for head in found.heads] == [(1, before + 2)]


def test_a_reread_that_finds_nothing_appends_no_link(ledger: Ledger, judgment: Callable[..., Judgment]) -> None:
    before = links(ledger)
    ledger.reread([judgment("unknown")])
    ledger.append([])
    assert links(ledger) == before
    assert checked(ledger)[1] == []


@pytest.mark.parametrize("lines", [1, 60])
def test_chains_are_intact_after_kill_9_and_the_next_writer_continues_them(ledger: Ledger, location: str, lines: int) -> None:
    process = Forked(APPEND_FOREVER, location, "a")
    for _ in range(lines):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = checked(ledger)
    assert before[1] == []
    assert (before[0].links - 1) * 3 == before[0].rows - 2  # the run and its case
    follower = Forked(APPEND_SOME, location, "b")
    assert (follower.communicate(timeout=PATIENCE), follower.returncode)[1] == 0
    after = checked(ledger)
    assert after[1] == []
    assert after[0].links == before[0].links + 60
    assert len(after[0].heads) == 1


def test_writers_at_once_append_to_whole_chains(ledger: Ledger, location: str) -> None:
    processes = [Forked(APPEND_SOME, location, name) for name in "abc"]
    for process in processes:
        process.communicate(timeout=PATIENCE)
    found, told = checked(ledger)
    assert (found.rows, found.links, told) == (182, 181, [])  # the run comes with its case
    assert 1 <= len(found.heads) <= 3
    assert sum(head.sequence for head in found.heads) == 181


def test_transactions_under_way_in_postgresql_take_different_chains_and_none_waits(
    postgres_ledger: str, judgment: Callable[..., Judgment], open_ledger: Callable[[str], Ledger]
) -> None:
    ledger = open_ledger(postgres_ledger)
    audit: Engine = ledger.engine
    ledger.put_panel(RUN)
    with audit.connect() as held:
        held.execute(text("SELECT pg_advisory_xact_lock(:lock, 1)"), {"lock": 0x0A5E0D})  # a commit under way holds chain 1
        Audit(ledger).note("ann", "read", "one")
        held.rollback()
    Audit(ledger).note("ann", "read", "two")
    assert [(head.writer, head.sequence) for head in ledger.heads()] == [(1, 2), (2, 1)]
    ledger.append([judgment("k", run_id="m")])
    with audit.connect() as connection:
        assert len(whole_judgments(connection, [1])) == 1
    assert checked(ledger)[1] == []
