"""The ledger keeps what it is given, and tells which attempt counts."""

import gc
import random
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case, Turn
from areopage.errors import StorageError, UnknownRun
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer, AnswerState, Judgment, Run, Verdict
from areopage.ledger.tables.rows import KEYS_PER_QUERY
from areopage.ledger.write.answers import Answers
from areopage.scoring.outcome import NotApplicable, Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable

Make = Callable[..., Judgment]
Opener = Callable[[str | Path], Ledger]
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def answer(key: str, state: AnswerState = "answered", text: str = "yes", **fields: Any) -> Answer:
    known: dict[str, Any] = {
        "id": secrets.token_hex(16),
        "origin": "bench",
        "case": Case(id="1", prompt="?", response=text if state == "answered" else None),
        "key": key,
        "run_id": "r",
        "state": state,
        "finish_reason": "stop",
        "prompt_tokens": 1,
        "seconds": 0.5,
        "received_at": MOMENT,
        "answered_at": MOMENT,
    }
    return Answer(**known | fields)


def verdict(outcome: Outcome, criterion: str = "a.b.c__v1_0") -> Verdict:
    return Verdict(criterion=criterion, outcome=outcome)


def mended(text: str) -> str:
    """What any database can keep of a text."""
    return "".join("\ufffd" if one == "\x00" or "\ud800" <= one <= "\udfff" else one for one in text)


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=())) | st.sampled_from(
    ["\x00", "a\x00b", "\ud83d", "\udc00\ud800", "😀", "x" * 200_000, "'; DROP TABLE runs; --", "\\u0000", "\n\r\t", ""]
)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.lists(ANY_TEXT, max_size=3), st.floats(-1e6, 1e6))
def test_any_text_comes_back_as_it_was_but_for_what_no_database_takes(
    ledger: Ledger, judgment: Make, raw: str, explanation: str, reason: str, evidence: list[str], score: float
) -> None:
    key = f"{random.getrandbits(128):032x}"
    scored = verdict(Scored(score=score, explanation=explanation, evidence=tuple(evidence)))
    failed = verdict(Unparsed(reason=reason), "a.b.d__v1_0")
    given_one = judgment(key, raw_text=raw, repair_text=reason, finish_reason=explanation, verdicts=(scored, failed))
    case = Case(id=f"c{raw}", prompt=(Turn(role="user", content=raw),), response=raw, reference=reason, metadata={"of": [reason]})
    Answers(ledger).append_judged([given_one, answer(key, case=case, reason=reason, finish_reason=reason)])
    found = ledger.judgments([key])[key]
    assert (found.raw_text, found.repair_text, found.finish_reason) == (mended(raw), mended(reason), mended(explanation))
    assert {one.criterion: one.outcome for one in found.verdicts} == {
        "a.b.c__v1_0": Scored(score=score, explanation=mended(explanation), evidence=tuple(mended(one) for one in evidence)),
        "a.b.d__v1_0": Unparsed(reason=mended(reason)),
    }
    back = Answers(ledger).by_key([key])[key]
    assert (back.case.prompt, back.case.response) == ((Turn(role="user", content=mended(raw)),), mended(raw))
    assert (back.reason, back.case.id, back.case.reference) == (mended(reason), mended(f"c{raw}"), mended(reason))


def test_a_judgment_comes_back_equal_with_every_kind_of_outcome(ledger: Ledger, judgment: Make) -> None:
    outcomes: tuple[Outcome, ...] = (
        Scored(score=0.0),
        Scored(score=3.25, mass=0.875, written=4.0),
        Scored(score=4.0, mass=0.125),
        NotApplicable(explanation="z"),
        Unparsed(reason="a"),
        Refused(reason="b"),
        TimedOut(reason="c"),
        Unreachable(reason="d"),
    )
    given_one = judgment(verdicts=tuple(verdict(one, f"a.b.c{number}__v1_0") for number, one in enumerate(outcomes)))
    bare = judgment("other", prompt_tokens=None, steps=(), verdicts=())
    ledger.append([given_one, bare])
    found = ledger.judgments(["k", "other", "gone"])
    assert set(found) == {"k", "other"}
    in_order = tuple(sorted(found["k"].verdicts, key=lambda one: one.criterion))
    assert msgspec.structs.replace(found["k"], verdicts=in_order) == given_one
    assert found["other"] == bare


def test_an_answer_comes_back_equal(ledger: Ledger) -> None:
    given_ones = [answer("a"), answer("b", "timed_out")]
    Answers(ledger).append(given_ones)
    found = Answers(ledger).by_key(["a", "b", "c"])
    assert set(found) == {"a", "b"}
    assert [msgspec.structs.replace(found[key], number=0) for key in ("a", "b")] == given_ones
    assert Answers(ledger).get(given_ones[0].id) == found["a"]
    assert Answers(ledger).numbers([given_ones[1].id, "c"]) == {given_ones[1].id: found["b"].number}


def test_times_of_other_zones_come_back_as_the_same_moment(ledger: Ledger, judgment: Make) -> None:
    there = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    ledger.append([judgment(created_at=there)])
    found = ledger.judgments(["k"])["k"].created_at
    assert found == MOMENT
    assert found.tzinfo is UTC


def test_the_latest_score_counts_and_no_later_failure_hides_it(ledger: Ledger, judgment: Make) -> None:
    def attempt(outcome: Outcome) -> Outcome:
        ledger.append([judgment(verdicts=(verdict(outcome),))])
        return ledger.judgments(["k"])["k"].verdicts[0].outcome

    assert attempt(TimedOut(reason="1")) == TimedOut(reason="1")
    assert attempt(Unreachable(reason="2")) == Unreachable(reason="2")
    assert attempt(Scored(score=3)) == Scored(score=3)
    assert attempt(TimedOut(reason="4")) == Scored(score=3)
    assert attempt(Unparsed(reason="5")) == Scored(score=3)
    assert attempt(Scored(score=2)) == Scored(score=2)


def test_attempts_of_one_batch_count_in_their_order(ledger: Ledger, judgment: Make) -> None:
    ledger.append([judgment(verdicts=(verdict(Scored(score=score)),)) for score in (1, 2, 3)] + [judgment(verdicts=())])
    assert ledger.judgments(["k"])["k"].verdicts[0].outcome == Scored(score=3)


def test_a_joint_judgment_that_missed_one_score_does_not_hide_a_whole_one(ledger: Ledger, judgment: Make) -> None:
    whole = (verdict(Scored(score=1), "a.b.c__v1_0"), verdict(NotApplicable(explanation="no"), "a.b.d__v1_0"))
    ledger.append([judgment(verdicts=whole)])
    ledger.append([judgment(verdicts=(whole[0], verdict(Unparsed(reason="x"), "a.b.d__v1_0")))])
    assert set(ledger.judgments(["k"])["k"].verdicts) == set(whole)


def test_the_latest_answer_counts_and_no_later_failure_hides_it(ledger: Ledger) -> None:
    for state, text, expected in (
        ("timed_out", "", ""),
        ("answered", "one", "one"),
        ("unreachable", "", "one"),
        ("answered", "two", "two"),
    ):
        Answers(ledger).append([answer("a", state, text)])  # type: ignore[arg-type]
        assert (Answers(ledger).by_key(["a"])["a"].case.response or "") == expected


def test_many_judgments_keep_their_own_verdicts(ledger: Ledger, judgment: Make) -> None:
    count = 2 * KEYS_PER_QUERY + 7
    ledger.append([judgment(f"k{number}", verdicts=(verdict(Scored(score=number)),)) for number in range(count)])
    keys = [f"k{number}" for number in range(count)]
    found = ledger.judgments([*keys, *keys, "none"])
    assert [found[key].verdicts[0].outcome for key in keys] == [Scored(score=number) for number in range(count)]
    assert ledger.judgment_counts() == {"r": count}
    assert (ledger.judgments([]), Answers(ledger).by_key([])) == ({}, {})


def test_a_batch_is_committed_whole_or_not_at_all(ledger: Ledger, judgment: Make) -> None:
    twice = (verdict(Scored(score=1)), verdict(Scored(score=2)))
    for bad in (judgment("bad", verdicts=twice), judgment("bad", run_id="nobody's")):
        with pytest.raises(StorageError) as caught:
            Answers(ledger).append_judged([judgment("good"), answer("good"), bad])
        assert "\n" not in str(caught.value)
        assert (ledger.judgments(["good", "bad"]), Answers(ledger).by_key(["good"])) == ({}, {})
    ledger.append([])


# --- runs


def run(name: str, minutes: int = 0, folder: str = "/out", finished: bool = False, fingerprint: str = "p") -> Run:
    moment = MOMENT + timedelta(minutes=minutes)
    return Run(
        id=name,
        suite="s",
        fingerprint=fingerprint,
        folder=f"{folder}/{name}",
        created_at=moment,
        finished_at=moment if finished else None,
        spec='{"a": "é"}',
    )


@pytest.fixture
def three(location: str, open_ledger: Opener) -> Ledger:
    """A ledger of three runs, the newest first appended."""
    opened = open_ledger(location)
    for one in (run("child-2", 2), run("child-1", 1, finished=True), run("adult-1", 0)):
        opened.create_run(one, [one.id, '"\\ud83d"', "\x00"])
    return opened


def test_runs_come_back_newest_first_with_their_cases_in_order(three: Ledger) -> None:
    assert three.runs() == [run("child-2", 2), run("child-1", 1, finished=True), run("adult-1", 0)]
    assert list(three.run_cases("child-1")) == ["child-1", '"\\ud83d"', "\ufffd"]
    assert list(three.run_cases("none")) == []


def test_the_newest_unfinished_run_of_a_fingerprint_is_found(three: Ledger) -> None:
    found = three.unfinished_run("p")
    assert found is not None and found.id == "child-2"
    three.finish_run("child-2", MOMENT)
    found = three.unfinished_run("p")
    assert found is not None and found.id == "adult-1"
    three.finish_run("child-2", None)
    found = three.unfinished_run("p")
    assert found is not None and found.finished_at is None and found.id == "child-2"
    assert three.unfinished_run("q") is None


@pytest.mark.parametrize(
    ("name", "expected"), [("latest", "child-2"), ("child-1", "child-1"), ("a", "adult-1"), ("/out/child-1", "child-1")]
)
def test_a_run_is_found_by_id_beginning_folder_or_as_the_latest(three: Ledger, name: str, expected: str) -> None:
    assert three.run(name).id == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("child", "'child' is the beginning of several runs: child-2, child-1"),
        ("nothing", "there are child-2, child-1, adult-1"),
        ("~nobody-has-this-name", "there are child-2"),
        ("%", "there are child-2"),
    ],
)
def test_an_unknown_run_is_answered_with_those_there_are(three: Ledger, name: str, message: str) -> None:
    with pytest.raises(UnknownRun) as caught:
        three.run(name)
    assert message in str(caught.value)


def test_an_empty_ledger_says_that_it_is_empty(location: str, open_ledger: Opener) -> None:
    empty = open_ledger(location)
    with pytest.raises(UnknownRun, match="it holds no run yet"):
        empty.run("latest")


def test_a_run_that_exists_is_not_created_again(three: Ledger) -> None:
    with pytest.raises(StorageError):
        three.create_run(run("child-1"), [])
    assert len(three.runs()) == 3


def test_the_secret_is_made_once_and_kept(location: str, open_ledger: Opener) -> None:
    first = open_ledger(location)
    secret = first.secret()
    assert len(secret) == 32
    assert first.secret() == open_ledger(location).secret() == secret


def test_each_ledger_has_a_secret_of_its_own(tmp_path: Path, open_ledger: Opener) -> None:
    assert open_ledger(tmp_path / "a.db").secret() != open_ledger(tmp_path / "b.db").secret()


def panel(name: str = "m", spec: str = "{}") -> Run:
    return Run(id=name, kind="monitor", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec=spec)


def test_the_bench_does_not_see_the_monitors_runs(location: str, open_ledger: Opener) -> None:
    ledger = open_ledger(location)
    ledger.put_panel(panel())
    assert ledger.runs() == []
    assert ledger.unfinished_run("f") is None
    for name in ("latest", "m"):
        with pytest.raises(UnknownRun):
            ledger.run(name)


def test_the_monitors_run_is_put_once(location: str, open_ledger: Opener) -> None:
    ledger = open_ledger(location)
    ledger.put_panel(panel())
    ledger.put_panel(panel(spec='{"later": true}'))
    assert ledger.panel("m") == panel()
    assert ledger.panel("n") is None


def test_looking_judgments_up_leaves_nothing_in_reference_cycles(ledger: Ledger, judgment: Make) -> None:
    keys = [f"{n:064}" for n in range(20)]
    ledger.append([judgment(key) for key in keys])
    for _ in range(2):  # the first time, statements are compiled
        gc.collect()
        gc.disable()
        try:
            assert set(ledger.judgments(keys)) == ledger.judged_after(keys, 0) == set(keys)
            left = gc.collect()
        finally:
            gc.enable()
    assert left == 0
