"""What stays of texts by each policy."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case, Document, Turn
from areopage.ledger.tables.records import Answer, Judgment, Verdict
from areopage.ledger.write.storage import stored_answer, stored_judgment
from areopage.scoring.outcome import Scored, Unparsed
from areopage.text.storing import stored_text

TEXT = "M. Jean Dupont écrit de jean@exemple.fr : article L. 123-4, 1 000,50 €."
REDACTED = "M. [NAME] écrit de [EMAIL] : article L. 123-4, 1 000,50 €."
CASE = Case(
    id="a-1",
    prompt=TEXT,
    response=TEXT,
    reference=TEXT,
    documents=(Document(id="d", title=TEXT, text=TEXT, source=TEXT, score=0.5, metadata={"by": TEXT}),),
    metadata={"user": {"mail": "jean@exemple.fr", "seen": [TEXT, 3]}, "n": 1},
)


def answer(case: Case = CASE) -> Answer:
    return Answer(
        id=case.id,
        origin="monitor",
        case=case,
        source="chat",
        delivered=TEXT,
        session="s-1",
        received_at=datetime(2026, 11, 21, tzinfo=UTC),
        answered_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


def judged(raw: str) -> Judgment:
    return Judgment(
        key="k",
        run_id="r",
        judge="alpha",
        model="m",
        pass_index=1,
        raw_text=raw,
        repair_text="",
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        seconds=1.0,
        repair="none",
        steps=("strict",),
        created_at=datetime(2026, 11, 21, tzinfo=UTC),
        verdicts=(
            Verdict(criterion="a.b.c__v1_0", outcome=Scored(score=4.0, explanation=TEXT, evidence=(TEXT,))),
            Verdict(criterion="a.b.d__v1_0", outcome=Unparsed(reason="nothing in: M. Dupont")),
        ),
    )


def test_each_policy_leaves_of_a_text_what_it_says() -> None:
    assert stored_text(TEXT, "full", 10) == TEXT
    assert stored_text(TEXT, "none", 10) == ""
    assert stored_text(TEXT, "redacted", 10) == REDACTED
    assert stored_text(TEXT, "truncated", 10) == "M. Jean D…"
    assert stored_text("0123456789", "truncated", 10) == "0123456789"


@given(st.text(), st.integers(min_value=1, max_value=20))
def test_a_truncated_text_is_never_longer_than_it_may_be(text: str, longest: int) -> None:
    kept = stored_text(text, "truncated", longest)
    assert len(kept) <= longest
    assert kept == text or text.startswith(kept[:-1])


def test_an_answer_that_is_kept_whole_stays_as_it_is() -> None:
    assert stored_answer(answer(), "full", 10) == answer()


def test_a_redacted_answer_holds_nothing_personal_anywhere() -> None:
    stored = stored_answer(answer(), "redacted", 10)
    assert (stored.delivered, stored.session, stored.source) == (REDACTED, "s-1", "chat")
    kept = stored.case
    assert (kept.prompt, kept.response, kept.reference) == (REDACTED, REDACTED, REDACTED)
    (document,) = kept.documents
    assert (document.title, document.text, document.source, document.metadata) == (REDACTED, REDACTED, REDACTED, {"by": REDACTED})
    assert kept.metadata == {"user": {"mail": "[EMAIL]", "seen": [REDACTED, 3]}, "n": 1}
    assert (kept.id, document.id, document.score) == ("a-1", "d", 0.5)


def test_turns_of_a_conversation_are_treated_one_by_one() -> None:
    turns = (Turn(role="user", content=TEXT), Turn(role="assistant", content="Bonjour."))
    kept = stored_answer(answer(Case(id="a", prompt=turns)), "redacted", 10).case
    assert kept.turns == (Turn(role="user", content=REDACTED), Turn(role="assistant", content="Bonjour."))
    assert kept.response is None


def test_an_answer_without_texts_keeps_its_id_and_source_only() -> None:
    stored = stored_answer(answer(), "none", 10)
    assert stored.case == Case(id="a-1", prompt="", response="", reference="")
    assert (stored.delivered, stored.session, stored.source) == ("", "", "chat")


def test_a_judgment_keeps_its_scores_and_loses_what_is_personal() -> None:
    kept = stored_judgment(judged('{"score": 4}'), "redacted", 10)
    first, second = (verdict.outcome for verdict in kept.verdicts)
    assert first == Scored(score=4.0, explanation=REDACTED, evidence=(REDACTED,))
    assert second == Unparsed(reason="nothing in: M. [NAME]")
    assert kept.raw_text == '{"score": 4}'
    assert stored_judgment(judged("x"), "full", 10) == judged("x")


def test_a_judgment_without_texts_keeps_its_scores() -> None:
    kept = stored_judgment(judged(TEXT), "none", 10)
    assert (kept.raw_text, kept.verdicts[0].outcome) == ("", Scored(score=4.0))


@pytest.mark.parametrize("ascii_only", [True, False])
def test_names_are_found_behind_the_escapes_of_json(ascii_only: bool) -> None:
    said = {"feedback": "Bonjour\nMme Élodie Lévêque\tet René Dupont", "score": 4}
    raw = f"```json\n{json.dumps(said, ensure_ascii=ascii_only)}\n```"
    kept = stored_judgment(judged(raw), "redacted", 10).raw_text
    assert json.loads(kept.removeprefix("```json\n").removesuffix("\n```")) == {
        "feedback": "Bonjour\nMme [NAME]\tet [NAME]",
        "score": 4,
    }


@pytest.mark.parametrize("raw", ['{"feedback": "cut off by M. Dupont', 'no JSON "at" all: M. Dupont', '"\\x M. Dupont"'])
def test_a_raw_text_that_is_no_json_is_redacted_as_it_stands(raw: str) -> None:
    kept = stored_judgment(judged(raw), "redacted", 10).raw_text
    assert "Dupont" not in kept
    assert "[NAME]" in kept
