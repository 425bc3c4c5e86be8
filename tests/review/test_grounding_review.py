"""People's word on answers that the gate has seen, and what becomes of those that it held back."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from areopage.errors import NotHeldBack, UnknownAnswer, UserError
from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.traces import Traces
from areopage.review.label import Given, Reviewed, Settlement, review_answer
from areopage.review.labelled_answers import dataset
from areopage.suites.config_file import StorageSection
from servers.made_traces import GENERATED, RIGHT, delivered_trace, held_trace, trace_id
from servers.searched import files_with

NOW = datetime(2026, 3, 2, tzinfo=UTC)
RELEASE, REFUSE = Settlement(state="released"), Settlement(state="refused")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(tmp_path / "l.db")
    Traces(opened).append([held_trace(1), delivered_trace(2), held_trace(3, mode="shadow")])
    yield opened
    opened.close()


def audit(ledger: Ledger) -> list[tuple[str, str, str, str]]:
    return [(one.actor, one.action, one.subject, one.detail) for one in reversed(Audit(ledger).list())]


def label(ledger: Ledger, id: str, rater: str, grounded: str, *, sentences: Sequence[int] = (), note: str = "") -> Label:
    given = Given(grounded=grounded, sentences=sentences, note=note)
    [found] = review_answer(ledger, id, rater, given, origin="cli", now=NOW).labels
    return found


def settle(ledger: Ledger, id: str, rater: str, settlement: Settlement, *, storage: StorageSection | None = None) -> Release:
    release = review_answer(ledger, id, rater, Given(settlement=settlement), origin="cli", now=NOW, storage=storage).release
    assert release is not None
    return release


def both(ledger: Ledger, id: str, settlement: Settlement) -> Reviewed:
    return review_answer(ledger, id, "Anne", Given(grounded="yes", settlement=settlement), origin="cli", now=NOW)


def test_a_label_is_kept_and_noted(ledger: Ledger) -> None:
    given = label(ledger, trace_id(1), " Anne  B. ", "partly", sentences=[1, 1], note=" faux ")
    assert Labels(ledger).grounding([trace_id(1)]) == {trace_id(1): [given]}
    assert (given.rater, given.sentences, given.note, given.created_at) == ("Anne B.", (1,), "faux", NOW)
    assert audit(ledger) == [("Anne B.", "label", trace_id(1), "grounded: partly, sentences 2")]


def test_an_answer_goes_out_as_it_is_or_as_somebody_wrote_it_or_not_at_all(ledger: Ledger) -> None:
    Traces(ledger).append([held_trace(number, prompt=f"{number} ?") for number in (4, 5)])
    assert settle(ledger, trace_id(1), "Anne", RELEASE).text == GENERATED
    edited = Settlement(state="released", text=f" {RIGHT}\n")
    assert settle(ledger, trace_id(4), "Anne", edited).text == RIGHT
    assert settle(ledger, trace_id(5), "Anne", REFUSE).text == ""
    assert [detail for _, _, _, detail in audit(ledger)] == ["released", "released, edited", "refused"]


def test_nobody_settles_what_was_settled_or_never_held_back(ledger: Ledger) -> None:
    settle(ledger, trace_id(1), "Anne", REFUSE)
    with pytest.raises(NotHeldBack, match="is refused already, by Anne"):
        settle(ledger, trace_id(1), "Bruno", RELEASE)
    for number in (2, 3):
        with pytest.raises(NotHeldBack, match="was not held back"):
            settle(ledger, trace_id(number), "Bruno", RELEASE)


def test_the_policy_comes_into_force_when_nobody_waits_any_more(ledger: Ledger) -> None:
    storage = StorageSection(text="redacted", max_chars=100)
    settle(ledger, trace_id(1), "Anne", RELEASE, storage=storage)
    found, release = Traces(ledger).get(trace_id(1)), Traces(ledger).release(trace_id(1))
    assert found is not None
    assert "Dupont" not in str(found)
    assert release is not None
    assert release.text == GENERATED  # whoever asked reads what the reviewer let out


def test_texts_of_a_settled_answer_leave_the_log_of_the_database_at_once(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "one.db") as ledger:
        Traces(ledger).append([held_trace(1)])
        assert files_with(ledger, "Dupont") != []
        settle(ledger, trace_id(1), "Anne", REFUSE, storage=StorageSection(text="redacted", max_chars=100))
        assert files_with(ledger, "Dupont") == []


def test_label_and_release_in_one_go_leave_nothing_half_done(ledger: Ledger) -> None:
    with pytest.raises(UserError, match="of 1 to"):
        both(ledger, trace_id(1), Settlement(state="released", text=" "))
    with pytest.raises(NotHeldBack):
        both(ledger, trace_id(2), RELEASE)
    assert Labels(ledger).grounding([trace_id(1), trace_id(2)]) == {}
    done = both(ledger, trace_id(1), RELEASE)
    assert done.release is not None
    assert ([one.grounded for one in done.labels], done.release.state, done.settled) == (["yes"], "released", 1)
    assert [one.answer_id for one in ReviewQueue(ledger).open_items()] == [trace_id(3)]


MISTAKES: list[tuple[dict[str, object], str]] = [
    ({"rater": "  "}, "rater: give a name of 1 to 128 characters"),
    ({"grounded": "maybe"}, "use yes, partly or no"),
    ({"sentences": [2]}, "no sentence 3: the answer has 2"),
    ({"sentences": [-1]}, "no sentence 0"),
    ({"grounded": "yes", "sentences": [0]}, "use partly or no"),
]


def test_a_wrong_label_is_one_line(ledger: Ledger) -> None:
    for changes, said in MISTAKES:
        given = {"rater": "Anne", "grounded": "no", "sentences": []} | changes
        with pytest.raises(UserError, match=said):
            label(ledger, trace_id(1), **given)  # type: ignore[arg-type]


def test_an_id_that_is_not_there_or_erased_is_refused(ledger: Ledger) -> None:
    ledger.erasure.erase([trace_id(1)])
    for id, said in (("nobody", "no answer 'nobody'"), (trace_id(1), "was erased")):
        with pytest.raises(UnknownAnswer, match=said):
            label(ledger, id, "Anne", "no")
        with pytest.raises(UnknownAnswer, match=said):
            settle(ledger, id, "Anne", REFUSE)


def test_a_refusal_with_a_text_is_a_mistake(ledger: Ledger) -> None:
    with pytest.raises(UserError, match="has no text"):
        settle(ledger, trace_id(1), "Anne", Settlement(state="refused", text="x"))


# --- the data set


def test_the_set_holds_what_did_not_pass_and_what_should_not_have(ledger: Ledger) -> None:
    Traces(ledger).append([delivered_trace(4), held_trace(5)])
    ledger.erasure.erase([trace_id(5)])
    label(ledger, trace_id(4), "Anne", "no", sentences=[0], note="Jean Dupont se trompe")
    label(ledger, trace_id(2), "Anne", "yes")

    def ids(collection: str | None = None, **wanted: Any) -> list[str]:
        return [row["id"] for row in dataset(ledger, TraceFilter(collection=collection), "full", 100, **wanted)]

    assert ids() == [trace_id(1), trace_id(3), trace_id(4)]
    assert ids(labelled_only=True, wanted="all") == [trace_id(2), trace_id(4)]
    assert ids(wanted="deliver") == [trace_id(2), trace_id(4)]
    assert ids("other") == []


def test_a_row_says_what_people_say_and_which_words_they_mean(ledger: Ledger) -> None:
    for rater, word, marked in (("Anne", "no", [1]), ("Bruno", "partly", [1])):
        label(ledger, trace_id(1), rater, word, sentences=marked, note="Jean Dupont")
    [row] = dataset(ledger, TraceFilter(), "full", 100, labelled_only=True)
    assert row["grounded"] == "no"
    [span] = row["unsupported"]
    assert row["response"][span["start"] : span["end"]] == "Jean Dupont demande 300 euros."
    assert row["reasons"] == [{"code": "unsupported_figure", "decisive": True, "sentence": 1, "text": "300 euros"}]
    assert "Anne" not in str(row)
    [redacted] = dataset(ledger, TraceFilter(), "redacted", 100, labelled_only=True)
    [span] = redacted["unsupported"]
    assert redacted["response"][span["start"] : span["end"]] == redacted["response"][len(RIGHT) + 1 :]
    assert "Dupont" not in str(redacted)
    assert redacted["group"] == row["group"]
