"""`monitor rescore` and `gate rescore`: the same answers by other weights, rules or judges, without a call to a model."""

from collections.abc import Iterator

import pytest
import yaml
from sqlalchemy import text

from areopage.app.rebuild import check_ledger
from areopage.jury.rescoring import Rescored, Rescoring, gated, monitored, rescore
from areopage.ledger.read.queries import EvaluationFilter, TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from areopage.scoring.records import Profile
from areopage.scoring.weights import Weights
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.seeded_ledger import caches

CRITERIA = ("completude", "exactitude", "format", "sources")


@pytest.fixture
def ledger(request: pytest.FixtureRequest, server: FakeServer) -> Iterator[Ledger]:
    """A ledger of all applications, whose models are gone; on SQLite unless the test asks for PostgreSQL."""
    postgres = getattr(request, "param", "sqlite") == "postgres"
    server.stop()
    opened = Ledger.open(request.getfixturevalue("seeded_postgres" if postgres else "seeded_file"))
    yield opened
    opened.close()


def of_monitor(ledger: Ledger, change: Rescoring, **wanted: object) -> Rescored:
    chosen = EvaluationFilter(**wanted)  # type: ignore[arg-type]
    return rescore(monitored(ledger, chosen, texts=change.reparse), ledger.panels("monitor"), change)


def of_gate(ledger: Ledger, change: Rescoring) -> Rescored:
    runs = ledger.panels("gate")
    return rescore(gated(ledger, runs, TraceFilter()), runs, change)


def test_without_a_change_every_score_stays_and_the_stored_means_are_those_before(ledger: Ledger) -> None:
    done = of_monitor(ledger, Rescoring())
    with ledger.engine.connect() as connection:
        query = (
            "SELECT count(score_global), avg(score_global), count(*) FROM evaluations "
            "WHERE origin = 'monitor' AND state = 'evaluated' AND source NOT LIKE 'golden:%'"
        )
        scored, mean, answers = connection.execute(text(query)).one()
    overall = done.criteria[""]
    assert (done.answers, overall.before, overall.after, done.changed) == (answers, scored, scored, 0)
    assert list(overall.means) == pytest.approx([mean, mean])
    gate = of_gate(ledger, Rescoring())
    assert (gate.answers, gate.changed, set(gate.criteria)) == (2, 0, {"", "rag_grounding.sentence.supported"})


def test_other_weights_give_the_mean_that_they_give_by_hand(ledger: Ledger) -> None:
    shares = {"exactitude": 0.1, "completude": 0.2, "format": 0.3, "sources": 0.4}
    weights = Weights(criteria={"quality.answer": shares})
    done = of_monitor(ledger, Rescoring(weights=weights), ids=("m-0",))
    evaluation = Evaluations(ledger).get("m-0")
    assert evaluation is not None
    by_name = {one.criterion.rpartition(".")[2]: one.score for one in evaluation.criteria}
    expected = sum(share * (by_name[name] or 0) for name, share in shares.items())
    assert list(done.criteria[""].means) == pytest.approx([evaluation.score_global, expected])
    assert {name.rpartition(".")[2]: shift.means for name, shift in done.criteria.items() if name} == {
        name: (score, score) for name, score in by_name.items()
    }


def test_v1_1_counts_failures_as_nought_and_a_judge_can_be_left_out(ledger: Ledger) -> None:
    failed = of_monitor(ledger, Rescoring(profile=Profile.named("v1_1")), ids=("m-unread",))
    assert (failed.criteria[""].before, failed.criteria[""].means[1], failed.grades) == (0, 0.0, {("unscored", "weak"): 1})
    alone = of_monitor(ledger, Rescoring(without_judges=("openai_fake-b",)), ids=("m-0",))
    judgments = [one for one in Evaluations(ledger).judgments("m-0") if one.judge == "openai_fake-a"]
    said = {one.criterion.partition("__")[0]: one.outcome for judgment in judgments for one in judgment.verdicts}
    assert {name: shift.means[1] for name, shift in alone.criteria.items() if name} == {
        name: getattr(outcome, "score", None) for name, outcome in said.items()
    }


def differing(ledger: Ledger) -> int:
    return check_ledger(ledger, lambda done: None, lambda found: None).differing


def damaged(ledger: Ledger) -> int:
    """Stored verdicts as another reader might have read them; returns how many judgments have other ones."""
    with ledger.engine.begin() as connection:
        kinds = "(SELECT id FROM runs WHERE kind IN ('monitor', 'gate'))"
        query = f"SELECT id FROM judgments WHERE stored = 'full' AND raw_text != '' AND run_id IN {kinds} ORDER BY id"
        ids = list(connection.execute(text(query)).scalars())[::2]
        for id in ids:
            connection.execute(text("UPDATE verdicts SET outcome = 'scored', score = 0.5 WHERE judgment_id = :id"), {"id": id})
    return len(ids)


@pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)
def test_raw_texts_are_read_again_by_todays_reader_and_stored_only_if_asked(ledger: Ledger, command: Command) -> None:
    assert of_monitor(ledger, Rescoring(reparse=True)).readings == of_gate(ledger, Rescoring(reparse=True)).readings == []
    stored, rows = caches(ledger), damaged(ledger)
    place = ("--ledger", ledger.place)
    assert rows > 5
    shown = command("monitor", "rescore", "--reparse", *place)
    assert shown.code == 0, shown.err
    assert "judgments read otherwise" in shown.out
    assert caches(ledger) == stored
    assert differing(ledger) > 5  # scores are not those of the damaged verdicts
    for application in ("monitor", "gate"):
        assert command(application, "rescore", "--reparse", "--write", *place).code == 0
    for source in ("golden:morning", "golden:answer_quality"):
        golden = command("monitor", "rescore", "--reparse", "--write", "--source", source, *place)
        assert golden.code == 0, golden.err
    assert differing(ledger) == 0
    assert caches(ledger) == stored
    assert of_monitor(ledger, Rescoring(reparse=True)).readings == of_gate(ledger, Rescoring(reparse=True)).readings == []


def test_what_is_erased_or_not_stored_in_full_is_not_read_again(ledger: Ledger) -> None:
    done = of_monitor(ledger, Rescoring(reparse=True), ids=("m-2", "m-cut"))
    assert (done.answers, done.unread, done.changed) == (2, 4, 0)


def test_the_commands_show_before_and_after(ledger: Ledger, command: Command) -> None:
    place = ("--ledger", ledger.place)
    weights = command.folder / "weights.yml"
    weights.write_text(yaml.safe_dump({"weights": {"criteria": {"quality.answer": {"format": 1.0}}}}), encoding="utf-8")
    stored = caches(ledger)
    done = command("monitor", "rescore", "--weights", weights, "--profile", "v1_1", "--until", "2026-01-02", *place)
    assert done.code == 0, done.err
    assert "scored again: other weights; profile v1_1" in done.out
    assert "another grade: " in done.out
    gate = command("gate", "rescore", "--profile", "v1_1", "--collection", "faq", *place)
    assert "rag_grounding.sentence.supported" in gate.out
    assert "of 2 judgments" in gate.out
    assert caches(ledger) == stored


def test_a_wrong_wish_is_one_line(ledger: Ledger, command: Command) -> None:
    place = ("--ledger", ledger.place)
    assert (
        "no panel has a judge 'x': there are openai_fake-a"
        in command("monitor", "rescore", "--without-judge", "x", *place).refused()
    )
    both = ("--without-judge", "openai_fake-a", "--without-judge", "openai_fake-b")
    assert "no judge would be left" in command("monitor", "rescore", *both, *place).refused()
    assert "no answers with judgments there" in command("monitor", "rescore", "--since", "2027-01-01", *place).refused()
    for application in ("monitor", "gate", "bench"):
        said = command(application, "rescore", "--reparse", "--write", "--profile", "v1_1", *place).refused()
        assert "--write stores what --reparse reads" in said
