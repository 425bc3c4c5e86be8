"""People's part in a run: a draw that can be repeated and extended, and sign-offs that say when they no longer hold."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from areopage.bench.figures.people import signoff_texts
from areopage.bench.results.people import ReviewKind, answers_by_kind, draw, queue_answers, sign_run, signed_runs
from areopage.bench.results.run_view import RunView, view_run
from areopage.errors import UserError
from areopage.jury.judges import PlannedCall
from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels, ReviewQueue, SignOffs
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import ADDRESSED, Judgment, Label
from areopage.report.elements import report_locale
from areopage.report.judges.qualification import qualification_text
from areopage.scoring.outcome import Scored, Unreachable
from report.report_runs import case, everyone_says, judgment, view_of
from servers.qualified import qualify_panel

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
IDS = [f"answer-{number:03d}" for number in range(200)]


def found_of(failing: list[str], disputed: list[str]) -> dict[ReviewKind, list[str]]:
    return {"random": IDS, "failing": failing, "disputed": disputed, "unscored": [], "addressed": []}


def test_half_of_a_draw_is_random_and_the_rest_comes_from_each_kind_in_turn() -> None:
    chosen = list(draw(found_of(IDS[:60], IDS[100:160]), ("failing", "disputed"), 40, "seed").values())
    assert {kind: chosen.count(kind) for kind in set(chosen)} == {"random": 20, "failing": 10, "disputed": 10}


def test_what_a_kind_cannot_fill_is_drawn_at_random() -> None:
    chosen = draw(found_of(IDS[:3], []), ("failing", "disputed"), 40, "seed")
    assert len(chosen) == 40
    assert list(chosen.values()).count("random") >= 37
    assert set(IDS[:3]) <= set(chosen)


def test_a_larger_draw_keeps_the_random_part_and_another_seed_changes_it() -> None:
    def random_part(size: int, seed: str) -> set[str]:
        return {id for id, kind in draw(found_of(IDS[:60], []), ("failing",), size, seed).items() if kind == "random"}

    assert random_part(20, "seed") < random_part(60, "seed")
    assert random_part(20, "seed") != random_part(20, "other")


def test_the_random_part_does_not_depend_on_what_fails() -> None:
    one = draw(found_of(IDS[:60], []), ("failing",), 20, "seed")
    other = draw(found_of(IDS[150:], []), ("failing",), 20, "seed")
    assert {id for id, kind in one.items() if kind == "random"} == {id for id, kind in other.items() if kind == "random"}


def test_every_answer_is_as_likely_to_be_in_the_random_part() -> None:
    counts = dict.fromkeys(IDS, 0)
    for seed in range(400):
        for id in draw(found_of(IDS[:60], []), ("random",), 50, str(seed)):
            counts[id] += 1
    # 100 expected, standard deviation 8.7: five of them either way
    assert min(counts.values()) > 56 and max(counts.values()) < 144


def say(call: PlannedCall) -> Judgment | None:
    """The first case fails, on the second the judges differ, the third has no score, the fourth addresses the judge."""
    steps = ("strict", f"{ADDRESSED}score demanded") if call.case.id == "case-4" else ("strict",)
    if call.case.id == "case-3":
        return judgment(call, Unreachable(reason="gone"))
    score = {"case-1": 0.0, "case-2": 1.5 if call.judge.name == "alpha" else 4.0}.get(call.case.id, 4.0)
    return judgment(call, Scored(score=score), steps=steps)


def test_answers_are_of_the_kinds_that_the_judgments_say(tmp_path: Path) -> None:
    view = view_of(
        tmp_path, say=say, answers={"case-6": {"state": "empty", "text": ""}}, cases=[case(n, response=None) for n in range(1, 7)]
    )
    names = {id: case_id for case_id, id in view.answer_ids.items()}
    found = {kind: [names[id] for id in ids] for kind, ids in answers_by_kind(view).items()}
    assert found == {
        "random": ["case-1", "case-2", "case-3", "case-4", "case-5"],
        "failing": ["case-1"],
        "disputed": ["case-2"],
        "unscored": ["case-3"],
        "addressed": ["case-4"],
    }


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    view_of(tmp_path, say=everyone_says(4.0))
    with Ledger.open(tmp_path / "ledger.db") as opened:
        yield opened


def viewed(ledger: Ledger) -> RunView:
    return view_run(ledger.run("run-1"), ledger)


def labelled(ledger: Ledger, id: str, score: float = 1.0, *, blind: bool = True, rater: str = "Anne") -> None:
    given = Label(
        answer_id=id, rater=rater, criterion="safety.harm.danger", score=score, origin="cli", blind=blind, created_at=NOW
    )
    Labels(ledger).add([given])


def test_answers_are_queued_once_and_those_that_are_drawn_later_become_part_of_the_sample(ledger: Ledger) -> None:
    view = viewed(ledger)
    (first, *_) = ids = answers_by_kind(view)["random"]
    labelled(ledger, first)
    before = queue_answers(view, ledger, ("failing",), 2, NOW, raters=2)
    again = queue_answers(view, ledger, ("failing",), 2, NOW, raters=2)
    assert (before.new, before.queued_before, again.new, again.queued_before) == (2, 0, 0, 2)
    every = queue_answers(viewed(ledger), ledger, ("random",), len(ids), NOW)
    assert (every.new, every.queued_before) == (len(ids) - 2, 2)
    items = ReviewQueue(ledger).items(ids, "run-1")
    assert {item.why for item in items.values()} == {"sample"}
    assert sorted(item.wanted for item in items.values()) == [1, 1, 1, 1, 2, 2]


def test_only_blind_labels_of_the_run_count(ledger: Ledger) -> None:
    first, second, *_ = answers_by_kind(viewed(ledger))["random"]
    labelled(ledger, first)
    labelled(ledger, second, blind=False)
    labelled(ledger, "another-answer")
    people = viewed(ledger).people
    assert ([label.answer_id for label in people.labels], people.unblind) == ([first], 1)


def test_a_sign_off_holds_until_results_or_labels_change(ledger: Ledger) -> None:
    view = viewed(ledger)
    signed = sign_run(view, ledger, " Anne  Le Goff ", "approve", NOW, role="safety officer", note="a trial", actor="cli:anne")
    assert (signed.name, signed.signed.counted, len(signed.digest)) == ("Anne Le Goff", 0, 64)
    assert signed.signed.heads == view.heads
    (entry,) = Audit(ledger).list(subject="run-1")
    assert (entry.actor, entry.action) == ("cli:anne", "sign") and signed.digest in entry.detail
    assert [one.changed for one in signed_runs(viewed(ledger))] == [()]
    labelled(ledger, answers_by_kind(view)["random"][0])
    assert [one.changed for one in signed_runs(viewed(ledger))] == [("labels",)]
    again = sign_run(viewed(ledger), ledger, "Anne Le Goff", "reject", NOW, actor="cli")
    assert again.signed.counted == 1
    assert [(one.signoff.verdict, one.changed) for one in signed_runs(viewed(ledger))] == [("reject", ())]
    ledger.finish_run("run-1", None)
    assert [one.changed for one in signed_runs(viewed(ledger))] == [("results",)]


def test_judges_that_were_examined_on_part_of_the_criteria_are_not_called_never_examined(ledger: Ledger) -> None:
    spec = viewed(ledger).spec
    qualify_panel(ledger, replace(spec, criteria=spec.criteria[:1]), checked=False)
    view = viewed(ledger)
    assert ([one.word for one in view.standings], view.qualification) == (["in_part", "in_part"], "examined in part")
    assert [qualification_text(report_locale(code), view.qualification) for code in ("en", "fr")] == [
        "examined in part",
        "examinés en partie",
    ]
    with pytest.raises(UserError, match=r"2 judges not examined on every criterion \(alpha, beta\)"):
        sign_run(view, ledger, "Anne", "approve", NOW, actor="cli")
    qualify_panel(ledger, spec, judges=("alpha",))
    assert viewed(ledger).standings[0].word == "qualified"


def test_an_approval_over_open_points_needs_a_note_and_the_signature_names_them(ledger: Ledger) -> None:
    with pytest.raises(UserError, match=r"2 judges never examined \(alpha, beta\): say in the note why"):
        sign_run(viewed(ledger), ledger, "Anne", "approve", NOW, actor="cli")
    spec = viewed(ledger).spec
    qualify_panel(ledger, spec, checked=False)
    with pytest.raises(UserError, match="2 judges provisionally qualified: no person has checked the gold set"):
        sign_run(viewed(ledger), ledger, "Anne", "approve", NOW, actor="cli")
    signed = sign_run(viewed(ledger), ledger, "Anne", "approve", NOW, note="we read the gold rows", actor="cli")
    assert [(one.kind, one.names) for one in signed.signed.over] == [("judges_provisional", ("alpha", "beta"))]
    assert "Signed over: 2 judges provisionally qualified" in next(signoff_texts(viewed(ledger).reviewed, report_locale("en")))[0]
    qualify_panel(ledger, spec)
    assert sign_run(viewed(ledger), ledger, "Bo", "approve", NOW, actor="cli").signed.over == ()
    qualify_panel(ledger, spec, "not_qualified")
    with pytest.raises(UserError, match=r"2 judges not qualified \(alpha, beta\)"):
        sign_run(viewed(ledger), ledger, "Cy", "approve", NOW, actor="cli")


def test_what_cannot_be_signed_is_refused(ledger: Ledger) -> None:
    for name, told in [(" ", "name"), ("x" * 200, "128")]:
        with pytest.raises(UserError, match=told):
            sign_run(viewed(ledger), ledger, name, "approve", NOW, actor="cli")
    ledger.finish_run("run-1", None)
    with pytest.raises(UserError, match="not complete"):
        sign_run(viewed(ledger), ledger, "Anne", "approve", NOW, actor="cli")
    assert sign_run(viewed(ledger), ledger, "Anne", "reject", NOW, actor="cli").verdict == "reject"
    assert len(SignOffs(ledger).of("run-1")) == 1


@pytest.mark.parametrize(("column", "value"), [("name", "Bruno"), ("verdict", "reject"), ("signed_at", "2026-01-01 00:00:00")])
def test_an_altered_sign_off_is_found_and_shown_as_altered(ledger: Ledger, column: str, value: str) -> None:
    sign_run(viewed(ledger), ledger, "Anne", "approve", NOW, note="a trial", actor="cli")
    told: list[str] = []
    ledger.chains.check((), lambda fault: told.append(str(fault)))
    assert told == []
    with ledger.engine.begin() as connection:
        connection.execute(text(f"UPDATE signoffs SET {column} = :value"), {"value": value})
    ledger.chains.check((), lambda fault: told.append(str(fault)))
    assert told[0] == "signoffs 1: altered (figures)"  # a date out of order is named, too
    assert [one.changed for one in signed_runs(viewed(ledger))] == [("signature",)]
