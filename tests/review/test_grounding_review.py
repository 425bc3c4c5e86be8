"""People's word on answers that the gate has seen, and what becomes of those that it held back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from areopage.errors import NotHeldBack, UnknownExchange, UserError
from areopage.ledger.access import Audit
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import ExchangeFilter
from areopage.ledger.people import ReviewQueue
from areopage.ledger.store import Ledger
from areopage.review.dataset import Selection, dataset
from areopage.review.grounding import Settlement, Storage, label_exchange, review_exchange, settle_exchange
from servers.made_exchanges import GENERATED, RIGHT, delivered_exchange, exchange_id, held_exchange
from servers.new_ledger import ledger_at

NOW = datetime(2026, 3, 2, tzinfo=UTC)
RELEASE, REFUSE = Settlement(state="released"), Settlement(state="refused")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_at(tmp_path / "l.db")
    Exchanges(opened).add([held_exchange(1), delivered_exchange(2), held_exchange(3, mode="shadow")])
    yield opened
    opened.close()


def audit(ledger: Ledger) -> list[tuple[str, str, str, str]]:
    return [(one.actor, one.action, one.subject, one.detail) for one in reversed(Audit(ledger).list())]


def test_a_label_is_kept_and_noted(ledger: Ledger) -> None:
    given = label_exchange(ledger, exchange_id(1), " Anne  B. ", "partly", sentences=[1, 1], note=" faux ", origin="web", now=NOW)
    assert Exchanges(ledger).labels([exchange_id(1)]) == {exchange_id(1): [given]}
    assert (given.rater, given.sentences, given.note, given.created_at) == ("Anne B.", (1,), "faux", NOW)
    assert audit(ledger) == [("Anne B.", "label", exchange_id(1), "grounded: partly, sentences 2")]


def test_an_answer_goes_out_as_it_is_or_as_somebody_wrote_it_or_not_at_all(ledger: Ledger) -> None:
    Exchanges(ledger).add([held_exchange(number, question=f"{number} ?") for number in (4, 5)])
    assert settle_exchange(ledger, exchange_id(1), "Anne", RELEASE, now=NOW).release.text == GENERATED
    edited = Settlement(state="released", text=f" {RIGHT}\n")
    assert settle_exchange(ledger, exchange_id(4), "Anne", edited, now=NOW).release.text == RIGHT
    assert settle_exchange(ledger, exchange_id(5), "Anne", REFUSE, now=NOW).release.text == ""
    assert [detail for _, _, _, detail in audit(ledger)] == ["released", "released, edited", "refused"]


def test_nobody_settles_what_was_settled_or_never_held_back(ledger: Ledger) -> None:
    settle_exchange(ledger, exchange_id(1), "Anne", REFUSE, now=NOW)
    with pytest.raises(NotHeldBack, match="is refused already, by Anne"):
        settle_exchange(ledger, exchange_id(1), "Bruno", RELEASE, now=NOW)
    for number in (2, 3):
        with pytest.raises(NotHeldBack, match="was not held back"):
            settle_exchange(ledger, exchange_id(number), "Bruno", RELEASE, now=NOW)


def test_the_policy_comes_into_force_when_nobody_waits_any_more(ledger: Ledger) -> None:
    storage = Storage(policy="redacted", max_chars=100)
    settle_exchange(ledger, exchange_id(1), "Anne", RELEASE, now=NOW, storage=storage)
    found, release = Exchanges(ledger).get(exchange_id(1)), Exchanges(ledger).release(exchange_id(1))
    assert found is not None
    assert "Dupont" not in str(found)
    assert release is not None
    assert release.text == GENERATED  # whoever asked reads what the reviewer let out


def test_label_and_release_in_one_go_leave_nothing_half_done(ledger: Ledger) -> None:
    with pytest.raises(UserError, match="has 1 to"):
        review_exchange(ledger, exchange_id(1), "Anne", "yes", Settlement(state="released", text=" "), origin="cli", now=NOW)
    with pytest.raises(NotHeldBack):
        review_exchange(ledger, exchange_id(2), "Anne", "yes", RELEASE, origin="cli", now=NOW)
    assert Exchanges(ledger).labels([exchange_id(1), exchange_id(2)]) == {}
    label, settled = review_exchange(ledger, exchange_id(1), "Anne", "yes", RELEASE, origin="cli", now=NOW)
    assert (label.grounded, settled.release.state) == ("yes", "released")
    assert [one.submission_id for one in ReviewQueue(ledger).open_items()] == [exchange_id(3)]


MISTAKES: list[tuple[dict[str, object], str]] = [
    ({"rater": "  "}, "a rater's name has 1 to 128 characters"),
    ({"grounded": "maybe"}, "use yes, partly or no"),
    ({"sentences": [2]}, "there is no sentence 3: the answer has 2"),
    ({"sentences": [-1]}, "there is no sentence 0"),
    ({"grounded": "yes", "sentences": [0]}, "say partly or no"),
]


def test_a_wrong_label_is_one_line(ledger: Ledger) -> None:
    for changes, said in MISTAKES:
        given = {"rater": "Anne", "grounded": "no", "sentences": []} | changes
        with pytest.raises(UserError, match=said):
            label_exchange(ledger, exchange_id(1), note="", origin="cli", now=NOW, **given)  # type: ignore[arg-type]


def test_an_id_that_is_not_there_or_erased_is_refused(ledger: Ledger) -> None:
    Exchanges(ledger).erase(exchange_id(1))
    for id, said in (("nobody", "no answer 'nobody'"), (exchange_id(1), "was erased")):
        with pytest.raises(UnknownExchange, match=said):
            label_exchange(ledger, id, "Anne", "no", origin="cli", now=NOW)
        with pytest.raises(UnknownExchange, match=said):
            settle_exchange(ledger, id, "Anne", REFUSE, now=NOW)


def test_a_refusal_with_a_text_is_a_mistake(ledger: Ledger) -> None:
    with pytest.raises(UserError, match="has no text"):
        settle_exchange(ledger, exchange_id(1), "Anne", Settlement(state="refused", text="x"), now=NOW)


# --- the data set


def test_the_set_holds_what_did_not_pass_and_what_should_not_have(ledger: Ledger) -> None:
    Exchanges(ledger).add([delivered_exchange(4), held_exchange(5)])
    Exchanges(ledger).erase(exchange_id(5))
    label_exchange(ledger, exchange_id(4), "Anne", "no", sentences=[0], note="Jean Dupont se trompe", origin="cli", now=NOW)
    label_exchange(ledger, exchange_id(2), "Anne", "yes", origin="cli", now=NOW)

    def ids(selection: Selection) -> list[str]:
        return [row["id"] for row in dataset(ledger, selection, "full", 100)]

    assert ids(Selection()) == [exchange_id(1), exchange_id(3), exchange_id(4)]
    assert ids(Selection(labelled_only=True, wanted="all")) == [exchange_id(2), exchange_id(4)]
    assert ids(Selection(wanted="deliver")) == [exchange_id(2), exchange_id(4)]
    assert ids(Selection(filter=ExchangeFilter(collection="other"))) == []


def test_a_row_says_what_people_say_and_which_words_they_mean(ledger: Ledger) -> None:
    for rater, word, marked in (("Anne", "no", [1]), ("Bruno", "partly", [1])):
        label_exchange(ledger, exchange_id(1), rater, word, sentences=marked, note="Jean Dupont", origin="cli", now=NOW)
    [row] = dataset(ledger, Selection(labelled_only=True), "full", 100)
    assert row["grounded"] == "no"
    [span] = row["unsupported"]
    assert row["response"][span["start"] : span["end"]] == "Jean Dupont demande 300 euros."
    assert row["reasons"] == [{"code": "unsupported_figure", "decisive": True, "sentence": 1, "text": "300 euros"}]
    assert "Anne" not in str(row)
    [redacted] = dataset(ledger, Selection(labelled_only=True), "redacted", 100)
    [span] = redacted["unsupported"]
    assert redacted["response"][span["start"] : span["end"]] == redacted["response"][len(RIGHT) + 1 :]
    assert "Dupont" not in str(redacted)
    assert redacted["group"] == row["group"]
