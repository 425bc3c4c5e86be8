"""What people said of an answer holds for equal answers, on both databases."""

from typing import Any

import msgspec
import pytest
from sqlalchemy import event, select

from areopage.cases.records import Document
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import decisions
from areopage.ledger.tables.records import Grounded
from areopage.ledger.tables.schema import labels
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.answers import text_key
from areopage.ledger.write.storage import stored_trace
from areopage.ledger.write.traces import Traces
from servers.made_traces import delivered_trace, grounding_label, trace_id

TWO = (Document(id="a", title="T", text="Le délai  est de dix jours."), Document(id="b", text="Un autre texte."))


def said(ledger: Ledger, trace: Trace) -> bool | None:
    """What people say of an answer like this one."""
    return ledger.labels.supported(trace.collection, trace.prompt, trace.response, trace.documents)


def label(ledger: Ledger, number: int, grounded: Grounded, rater: str = "Anne") -> None:
    Labels(ledger).add([grounding_label(number, rater, grounded)])


def test_a_label_holds_for_equal_answers_until_the_same_rater_changes_it(ledger: Ledger) -> None:
    answer = delivered_trace(1, documents=TWO)
    other_prompt = delivered_trace(2, documents=TWO, prompt="Combien de jours ?")
    Traces(ledger).append([answer, other_prompt])
    assert said(ledger, answer) is None
    label(ledger, 1, "no")
    assert (said(ledger, answer), said(ledger, other_prompt)) == (False, False)
    label(ledger, 2, "partly")
    assert said(ledger, answer) is False
    label(ledger, 1, "yes")
    assert (said(ledger, answer), said(ledger, other_prompt)) == (True, None)


def test_of_several_raters_the_most_decide_and_of_equally_many_the_worse_word(ledger: Ledger) -> None:
    answer = delivered_trace(1)
    Traces(ledger).append([answer])
    expected: list[tuple[str, Grounded, bool]] = [("Anne", "no", False), ("Ben", "yes", False), ("Cleo", "yes", True)]
    for rater, word, together in expected:
        label(ledger, 1, word, rater)
        assert said(ledger, answer) is together


def test_an_answer_is_equal_by_its_words_and_its_documents_words_within_a_collection(ledger: Ledger) -> None:
    answer = delivered_trace(1, documents=TWO)
    Traces(ledger).append([answer])
    label(ledger, 1, "no")
    renamed = tuple(msgspec.structs.replace(one, id=f"{one.id}-2", score=0.1) for one in reversed(TWO))
    spaced = (msgspec.structs.replace(TWO[0], text="Le de\u0301lai est\nde DIX jours."), TWO[1])
    same: list[dict[str, Any]] = [
        {"documents": renamed},
        {"documents": spaced},
        {"response": answer.response.upper().replace(" ", "\n")},
    ]
    assert [said(ledger, delivered_trace(2, **{"documents": TWO} | fields)) for fields in same] == [False] * 3
    others: list[dict[str, Any]] = [
        {"documents": TWO[:1]},
        {"response": f"{answer.response} Ou onze."},
        {"collection": "contracts"},
    ]
    assert [said(ledger, delivered_trace(2, **{"documents": TWO} | fields)) for fields in others] == [None] * 3


def test_a_label_holds_where_only_reduced_texts_are_stored(ledger: Ledger) -> None:
    answer = delivered_trace(1, response="Écrire à jean@example.org.")
    Traces(ledger).append([stored_trace(answer, "redacted", 500)])
    label(ledger, 1, "no")
    assert said(ledger, answer) is False


def test_an_erasure_forgets_what_was_said(ledger: Ledger) -> None:
    answer = delivered_trace(1)
    Traces(ledger).append([answer])
    label(ledger, 1, "no")
    ledger.erasure.erase([trace_id(1)])
    label(ledger, 1, "no", "Ben")
    assert said(ledger, answer) is None
    with ledger.engine.connect() as connection:
        keys = [
            *connection.execute(select(labels.c.text_key)).scalars(),
            *connection.execute(select(decisions.c.text_key)).scalars(),
        ]
    assert set(keys) == {""}


def test_an_empty_response_is_equal_to_none(ledger: Ledger) -> None:
    Traces(ledger).append([delivered_trace(1, response=" ")])
    label(ledger, 1, "no")
    assert text_key("faq", " ", TWO) == ""
    assert said(ledger, delivered_trace(2, response=" ")) is None


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_labels_are_looked_up_in_their_index(ledger: Ledger) -> None:
    """SQLite's plan says so: it does not depend on how many labels there are."""
    statements: list[tuple[str, object]] = []
    event.listen(ledger.engine, "before_cursor_execute", lambda *call: statements.append((call[2], call[3])))
    said(ledger, delivered_trace(1))
    (statement, parameters) = statements[-1]
    with ledger.engine.connect() as connection:
        plan = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all())  # type: ignore[arg-type]
    assert "ix_labels_text" in plan
    assert "SCAN" not in plan
