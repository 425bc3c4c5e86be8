"""What a storage policy leaves of an exchange."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec import structs

from areopage.ledger.gate_records import Exchange
from areopage.ledger.stored_exchange import reduced_exchange, stored_exchange
from areopage.text.stored_text import Policy
from servers.made_exchanges import GENERATED, RIGHT, WRONG, delivered_exchange, held_exchange


def places_are_exact(exchange: Exchange) -> bool:
    assert exchange.decision is not None
    texts = {"": exchange.generation} | {one.id: one.text for one in exchange.documents}
    sentences = [(one.start, one.end, one.text) for one in exchange.decision.sentences]
    places = [reason.place for reason in exchange.decision.reasons if reason.place]
    return all(texts[""][start:end] == text for start, end, text in sentences) and all(
        texts[place.document][place.start : place.end] == place.text for place in places
    )


def test_all_stays_where_all_is_kept() -> None:
    assert reduced_exchange(held_exchange(), "full", 10) == held_exchange()


@pytest.mark.parametrize("policy", ["truncated", "redacted", "none"])
def test_what_waits_for_people_stays_until_it_is_settled(policy: Policy) -> None:
    assert stored_exchange(held_exchange(), policy, 10) == held_exchange()
    assert stored_exchange(held_exchange(origin="check"), policy, 10) == held_exchange(origin="check")
    for other in (delivered_exchange(), held_exchange(mode="shadow"), held_exchange(origin="import")):
        assert stored_exchange(other, policy, 10) == reduced_exchange(other, policy, 10) != other


def test_nothing_but_figures_stays_under_none() -> None:
    found = reduced_exchange(held_exchange(), "none", 10)
    assert (found.question, found.generation, found.answer, found.documents, found.session) == ("", "", "", (), "")
    assert found.decision is not None
    assert [(one.text, one.p_unsupported) for one in found.decision.sentences] == [("", 0.1), ("", 0.9)]
    assert [(one.code, one.place) for one in found.decision.reasons] == [("unsupported_figure", None)]
    assert found.decision.unknown_ids == ()
    assert found.metrics == held_exchange().metrics
    assert "Dupont" not in str(found)
    assert "300 euros" not in str(found)


def test_sentences_and_places_are_found_again_in_redacted_texts() -> None:
    found = reduced_exchange(held_exchange(), "redacted", 10)
    assert found.decision is not None
    assert "Dupont" not in str(found)
    assert found.generation.startswith(RIGHT)
    assert found.decision.sentences[1].text == found.generation[len(RIGHT) + 1 :] != WRONG
    assert [reason.place.text for reason in found.decision.reasons if reason.place] == ["300 euros"]
    assert places_are_exact(found)


def test_what_lies_behind_the_cut_is_emptied_and_keeps_its_index() -> None:
    found = reduced_exchange(held_exchange(), "truncated", len(RIGHT) + 5)
    assert found.decision is not None
    assert found.generation == GENERATED[: len(RIGHT) + 4] + "…"
    assert [one.text for one in found.decision.sentences] == [RIGHT, ""]
    assert [reason.place for reason in found.decision.reasons] == [None]
    assert places_are_exact(found)


@given(
    parts=some.lists(
        some.sampled_from([RIGHT, WRONG, "Appelez le 06 12 34 56 78.", "a", "jean@exemple.fr", "\n"]), min_size=1, max_size=8
    ),
    policy=some.sampled_from(["full", "truncated", "redacted", "none"]),
    longest=some.integers(1, 200),
)
def test_places_are_exact_whatever_stays(parts: list[str], policy: Policy, longest: int) -> None:
    exchange = held_exchange(generation=" ".join(parts))
    assert exchange.decision is not None
    at, sentences = 0, []
    for part in parts:
        sentences.append(structs.replace(exchange.decision.sentences[0], start=at, end=at + len(part), text=part))
        at += len(part) + 1
    decision = structs.replace(exchange.decision, sentences=tuple(sentences), reasons=())
    found = reduced_exchange(structs.replace(exchange, decision=decision), policy, longest)
    assert places_are_exact(found)
    assert found.decision is not None
    assert len(found.decision.sentences) == len(parts)
