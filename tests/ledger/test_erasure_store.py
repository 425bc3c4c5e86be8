"""Erasing an answer: nothing of it can be read any more, in no table and in no byte of SQLite's files; all else stays."""

import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update

from areopage.cases.records import Case
from areopage.errors import DamagedRow
from areopage.ledger.people import erasure
from areopage.ledger.people.erasure import ERASED
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.read.days import Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import Backlog, Filters, Period, Scope
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import answers, run_cases
from areopage.ledger.tables.records import Answer, Evaluation, Judgment, Label, ReviewItem, Run, Verdict
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.answers import Answers, Link
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import Alert
from areopage.scoring.outcome import Scored
from servers.evaluated import evaluate
from servers.searched import files_with, tables_with

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
YEAR = Period(start=date(2026, 1, 1), end=date(2027, 1, 1))
SECRET = "Xylophage"  # stands in every text of the answer to erase
Make = Callable[..., Answer]
MakeScore = Callable[..., Evaluation]
MakeJudgment = Callable[..., Judgment]


def fill(ledger: Ledger, make: Make, scored: MakeScore, judgment: MakeJudgment, id: str, word: str) -> None:
    """An answer with all that can hang on it, a word in each of its texts."""
    said = Verdict(criterion="q", outcome=Scored(score=1.0, explanation=word, evidence=(word,)))
    case = Case(id=id, prompt=f"{word}?", response=word, reference=word, metadata={"x": word})
    Evaluations(ledger).submit([make(id, case=case, session=word, delivered=word)])
    ledger.append([judgment(f"key-{id}", run_id="m", raw_text=word, repair_text=word, verdicts=(said,))])
    texts = {"prompt": f"{word}?", "response": word, "feedback": f"Le {word}.", "reason": word}
    Evaluations(ledger).finish(scored(id, **texts, strengths=(word,), weaknesses=(word,), suggestions=(word,)), [f"key-{id}"])
    about = {"opened_at": MOMENT, "last_seen_at": MOMENT, "next_attempt_at": MOMENT}
    alert = Alert(rule="answer", subject=id, state="open", title=word, body=word, answer_id=id, **about)  # type: ignore[arg-type]
    Alerts(ledger).open(alert)
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why="asked", created_at=MOMENT)])
    label = Label(answer_id=id, rater="ann", criterion="", score=1.0, note=word, origin="web", created_at=MOMENT)
    Labels(ledger).add([label])


def test_nothing_of_an_erased_answer_stays_but_its_figures(
    monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment
) -> None:
    fill(monitored, submission, scored, judgment, "a", SECRET)
    fill(monitored, submission, scored, judgment, "b", "Ordinary")
    everywhere = ["alerts", "answer_texts", "evaluation_search", "evaluations", "judgments", "labels", "verdicts"]
    assert sorted(tables_with(monitored, SECRET)) == everywhere
    scores, lists = Evaluations(monitored), EvaluationLists(monitored)
    before = scores.get("a")
    assert before is not None
    assert monitored.erasure.erase(["a", "nobody's"]) == 1
    assert tables_with(monitored, SECRET) == []
    if monitored.engine.dialect.name == "sqlite":
        assert files_with(monitored, SECRET) == []
        assert files_with(monitored, "Ordinary") != []
    texts = {"prompt": "", "response": "", "feedback": "", "reason": "", "strengths": (), "weaknesses": (), "suggestions": ()}
    assert scores.get("a") == replace(before, erased=True, **texts)
    found = Answers(monitored).get("a")
    assert found is not None and found.erased
    assert (found.case, found.session, found.delivered) == (Case(id="a", prompt=""), "", "")
    (judgment_of_a,) = scores.judgments("a")
    assert judgment_of_a.key.startswith("erased-") and monitored.attempts(["key-a"]) == []
    assert [one.outcome for one in judgment_of_a.verdicts] == [Scored(score=1.0, explanation="", evidence=())]
    assert ReviewQueue(monitored).item("a") is None
    assert [(one.score, one.note) for one in Labels(monitored).of("a")] == [(1.0, "")]
    assert [(alert.title, alert.body, alert.delivery) for alert in Alerts(monitored).list() if alert.subject == "a"] == [
        (ERASED, ERASED, "none")
    ]
    assert lists.page(Filters(text=SECRET)) == []
    with monitored.engine.connect() as connection:
        assert connection.execute(select(answers.c.prompt_key).where(answers.c.id == "a")).scalar() == ""
    assert monitored.erasure.erase(["a"]) == 0


def test_handing_an_erased_answer_in_again_changes_nothing(
    monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment
) -> None:
    fill(monitored, submission, scored, judgment, "a", SECRET)
    monitored.erasure.erase(["a"])
    scores = Evaluations(monitored)
    before = scores.get("a")
    assert scores.submit([submission("a", prompt=SECRET)]) == [False]
    monitored.append([judgment("late", run_id="m", raw_text=SECRET)])
    assert not scores.finish(scored("a", feedback=SECRET), ["late"])
    assert scores.get("a") == before
    assert [one.raw_text for one in scores.judgments("a")] == ["", ""]
    assert tables_with(monitored, SECRET) == []
    assert sum(day.scored for day in Days(monitored).totals(YEAR, Scope())) == 1


def test_other_answers_stay_whole(monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment) -> None:
    for id in "ab":
        fill(monitored, submission, scored, judgment, id, f"Word{id}")
    scores, texts = Evaluations(monitored), Answers(monitored)
    kept = (scores.get("b"), scores.judgments("b"), texts.get("b"), ReviewQueue(monitored).item("b"))
    monitored.erasure.erase(["a"])
    assert (scores.get("b"), scores.judgments("b"), texts.get("b"), ReviewQueue(monitored).item("b")) == kept
    assert [label.note for label in Labels(monitored).of("b")] == ["Wordb"]
    assert [row.id for row in EvaluationLists(monitored).page(Filters(text="wordb"))] == ["b"]
    assert sum(day.scored for day in Days(monitored).totals(YEAR, Scope())) == 2  # counts hold no text


def test_a_judgment_that_another_answer_shares_stays_until_that_one_goes(
    monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    for id in "ab":
        evaluate(monitored, scored(id), [judgment("k", run_id="m", raw_text=SECRET)])
    scores = Evaluations(monitored)
    monitored.erasure.erase(["a"])
    assert [one.raw_text for one in scores.judgments("b")] == [SECRET] * 2
    monitored.erasure.erase(["b"])
    assert monitored.attempts(["k"]) == []
    assert tables_with(monitored, SECRET) == []
    for id in "ab":  # both lead to the figures still, and the counts can be formed anew
        assert [one.raw_text for one in scores.judgments(id)] == [""] * 2
    assert len({one.key for id in "ab" for one in scores.judgments(id)}) == 1


def test_a_judgment_that_a_run_of_the_benchmark_made_stays_until_its_own_answer_is_erased(
    monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    run = Run(id="r", suite="s", fingerprint="f", folder="/x", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.create_run(run, [])
    monitored.append([judgment("k", run_id="r", raw_text=SECRET)])
    evaluate(monitored, scored("a", prompt="?"), [judgment("k", run_id="m")])
    monitored.erasure.erase(["a"])
    assert [one.run_id for one in monitored.attempts(["k"])] == ["r"]
    case = Case(id="1", prompt=SECRET, response=SECRET)
    target = Answer(id="t", origin="bench", case=case, key="call", run_id="r", received_at=MOMENT, answered_at=MOMENT)
    Answers(monitored).append([target])
    found = Answers(monitored).numbers(["t"])
    Answers(monitored).append_judged([Link(found["t"], "r", "k")])
    assert monitored.erasure.erase(["t"]) == 1
    assert tables_with(monitored, SECRET) == []
    assert Answers(monitored).by_key(["call"]) == {}


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"case": 1}'])
def test_the_case_of_a_run_that_cannot_be_read_is_named_and_nothing_is_erased(
    monitored: Ledger, judgment: MakeJudgment, content: str
) -> None:
    run = Run(id="r", suite="s", fingerprint="f", folder="/x", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.create_run(run, [json.dumps({"case": {"id": "1", "prompt": SECRET}})])
    monitored.append([judgment("k", run_id="r")])
    case = Case(id="1", prompt=SECRET, response=SECRET)
    target = Answer(id="t", origin="bench", case=case, key="call", run_id="r", received_at=MOMENT, answered_at=MOMENT)
    Answers(monitored).append([target])
    number = Answers(monitored).numbers(["t"])["t"]
    with monitored.writing() as connection:
        connection.execute(update(run_cases).values(answer=number, case=content))
    with pytest.raises(DamagedRow, match=r"^the ledger is damaged: run_cases r 0: case cannot be read"):
        monitored.erasure.erase(["t"])
    assert Answers(monitored).by_id(["t"])["t"].case.prompt == SECRET


def test_an_answer_that_is_erased_while_it_is_judged_does_not_come_back(
    monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment
) -> None:
    scores = Evaluations(monitored)
    scores.submit([submission("a", prompt=SECRET)])
    monitored.append([judgment("k1", run_id="m", raw_text=SECRET)])
    scores.link("a", "m", ["k1", "k2"])
    assert monitored.erasure.erase(["a"]) == 1
    monitored.append([judgment("k2", run_id="m", raw_text=SECRET)])
    assert not scores.finish(scored("a", response=SECRET), ["k1", "k2"])
    assert not scores.note_failure("a", "late")
    scores.give_up("a", "late")
    assert scores.submit([submission("a", prompt=SECRET)]) == [False]
    assert tables_with(monitored, SECRET) == []
    found = scores.get("a")
    assert found is not None and (found.state, found.prompt, found.erased) == ("erased", "", True)
    assert scores.backlog() == Backlog(waiting=0, failed=0, oldest_at=None)
    assert monitored.erasure.erase(["a"]) == 0


def test_a_given_up_answer_that_is_erased_waits_no_more_and_stays_counted(monitored: Ledger, submission: Make) -> None:
    scores = Evaluations(monitored)
    scores.submit([submission("a")])
    scores.give_up("a", "x")
    monitored.erasure.erase(["a"])
    assert (scores.backlog().failed, scores.failed(9), scores.reopen()) == (0, [], 0)
    assert sum(day.failed for day in Days(monitored).totals(YEAR, Scope())) == 1


def test_all_that_was_received_before_a_moment_is_erased_but_for_answers_of_the_benchmark(
    monitored: Ledger, submission: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "PORTION", 2)
    moments = {id: MOMENT + timedelta(days=number % 3) for number, id in enumerate("abcdefgh")}
    Evaluations(monitored).submit([submission(id, received_at=moment) for id, moment in moments.items()])
    bench = Answer(id="x", origin="bench", case=Case(id="1", prompt="?"), received_at=MOMENT, answered_at=MOMENT)
    Answers(monitored).append([bench])
    assert monitored.erasure.erase_before(MOMENT + timedelta(days=2)) == 6
    assert monitored.erasure.erase_before(MOMENT + timedelta(days=2)) == 0
    erased = {id for id in [*moments, "x"] if (found := Answers(monitored).get(id)) and found.erased}
    assert erased == {id for id, moment in moments.items() if moment < MOMENT + timedelta(days=2)}


def test_judgments_of_the_gate_that_belong_to_no_answer_go_with_time(
    monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    gate = Run(id="g", kind="gate", suite="", fingerprint="g", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.put_panel(gate)
    evaluate(monitored, scored("a", received_at=MOMENT + timedelta(days=9)), [judgment("owned", run_id="g")])
    monitored.append([judgment("m", run_id="m"), judgment("early", run_id="g")])
    monitored.append([judgment("late", run_id="g", created_at=MOMENT + timedelta(days=1))])
    monitored.erasure.erase_before(MOMENT + timedelta(hours=1))
    assert {one.key for one in monitored.attempts(["owned", "m", "early", "late"])} == {"owned", "m", "late"}


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_bytes_are_gone_after_many_changes_of_every_size(
    seed: int, tmp_path: Path, open_ledger: Callable[[Path], Ledger], submission: Make, scored: MakeScore, judgment: MakeJudgment
) -> None:
    """Rows that grew, moved between pages or were replaced by shorter ones leave no copy either."""
    ledger = open_ledger(tmp_path / "l.db")
    ledger.put_panel(
        Run(id="m", kind="monitor", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    )
    chance = random.Random(seed)
    scores = Evaluations(ledger)
    ids = [f"{chance.getrandbits(64):016x}" for _ in range(400)]
    words = {id: (SECRET if number % 4 == 0 else "Ordinary") + str(number) for number, id in enumerate(ids)}

    def written(id: str) -> str:
        return " ".join([words[id]] * chance.choice((1, 5, 60, 700)))

    for start in range(0, len(ids), 20):
        part = ids[start : start + 20]
        scores.submit([submission(id, prompt=written(id), response=written(id)) for id in part])
        for id in part:
            ledger.append([judgment(f"k{id}", run_id="m", raw_text=written(id))])
    for id in chance.sample(ids, len(ids)):
        stored = submission(id, prompt=written(id)) if chance.random() < 0.5 else None
        found = scored(id, prompt=written(id), response=written(id), feedback=written(id))
        assert scores.finish(found, [f"k{id}"], stored)
    secret = [id for id in ids if words[id].startswith(SECRET)]
    erased: list[Sequence[str]] = [secret[:1], secret[1:60], secret[60:]]
    assert [ledger.erasure.erase(part) for part in erased] == [len(part) for part in erased]
    assert tables_with(ledger, SECRET) == []
    ledger.erasure.compact()  # rows that moved between pages may have left copies in unused space
    assert files_with(ledger, SECRET) == []
    assert len(EvaluationLists(ledger).page(Filters(text="ordinary"), limit=999)) == len(ids) - len(secret)


def test_what_the_storage_policy_took_out_is_not_left_in_the_file(
    tmp_path: Path, open_ledger: Callable[[Path], Ledger], submission: Make, scored: MakeScore
) -> None:
    ledger = open_ledger(tmp_path / "l.db")
    ledger.put_panel(
        Run(id="m", kind="monitor", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    )
    for number in range(50):
        Evaluations(ledger).submit([submission(f"a{number}", prompt=SECRET * (1 + number * 10))])
    for number in range(50):
        Evaluations(ledger).finish(scored(f"a{number}"), [], submission(f"a{number}", prompt="[cut]"))
    ledger.erasure.wipe()
    assert files_with(ledger, SECRET) == []
