"""What a storage policy leaves of a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec import structs

from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.answers import text_key
from areopage.ledger.write.storage import reduced_trace, stored_trace
from areopage.text.storing import Policy
from servers.made_traces import GENERATED, RIGHT, WRONG, delivered_trace, held_trace


def places_are_exact(trace: Trace) -> bool:
    assert trace.decision is not None
    texts = {"": trace.response} | {one.id: one.text for one in trace.documents}
    sentences = [(one.start, one.end, one.text) for one in trace.decision.sentences]
    places = [reason.place for reason in trace.decision.reasons if reason.place]
    return all(texts[""][start:end] == text for start, end, text in sentences) and all(
        texts[place.document][place.start : place.end] == place.text for place in places
    )


def test_all_stays_where_all_is_kept() -> None:
    assert reduced_trace(held_trace(), "full", 10) == held_trace()


@pytest.mark.parametrize("policy", ["truncated", "redacted", "none"])
def test_what_waits_for_people_stays_until_it_is_settled(policy: Policy) -> None:
    assert stored_trace(held_trace(), policy, 10) == held_trace()
    assert stored_trace(held_trace(channel="check"), policy, 10) == held_trace(channel="check")
    for other in (delivered_trace(), held_trace(mode="shadow"), held_trace(channel="import")):
        stored = stored_trace(other, policy, 10)
        assert structs.replace(stored, text_key="") == reduced_trace(other, policy, 10) != other
        assert stored.text_key == ("" if policy == "none" else text_key(other.collection, other.response, other.documents))


def test_nothing_but_figures_stays_under_none() -> None:
    found = reduced_trace(held_trace(), "none", 10)
    assert (found.prompt, found.response, found.answer.delivered, found.documents, found.answer.session) == ("", "", "", (), "")
    assert found.decision is not None
    assert [(one.text, one.p_unsupported) for one in found.decision.sentences] == [("", 0.1), ("", 0.9)]
    assert [(one.code, one.place) for one in found.decision.reasons] == [("unsupported_figure", None)]
    assert found.decision.unknown_ids == ()
    assert found.metrics == held_trace().metrics
    assert "Dupont" not in str(found)
    assert "300 euros" not in str(found)


def test_sentences_and_places_are_found_again_in_redacted_texts() -> None:
    found = reduced_trace(held_trace(), "redacted", 10)
    assert found.decision is not None
    assert "Dupont" not in str(found)
    assert found.response.startswith(RIGHT)
    assert found.decision.sentences[1].text == found.response[len(RIGHT) + 1 :] != WRONG
    assert [reason.place.text for reason in found.decision.reasons if reason.place] == ["300 euros"]
    assert places_are_exact(found)


def test_what_lies_behind_the_cut_is_emptied_and_keeps_its_index() -> None:
    found = reduced_trace(held_trace(), "truncated", len(RIGHT) + 5)
    assert found.decision is not None
    assert found.response == GENERATED[: len(RIGHT) + 4] + "…"
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
    trace = held_trace(response=" ".join(parts))
    assert trace.decision is not None
    at, sentences = 0, []
    for part in parts:
        sentences.append(structs.replace(trace.decision.sentences[0], start=at, end=at + len(part), text=part))
        at += len(part) + 1
    decision = structs.replace(trace.decision, sentences=tuple(sentences), reasons=())
    found = reduced_trace(structs.replace(trace, decision=decision), policy, longest)
    assert places_are_exact(found)
    assert found.decision is not None
    assert len(found.decision.sentences) == len(parts)
