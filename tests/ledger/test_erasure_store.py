"""Erasing an answer: nothing of it can be read any more, in no table and in no byte of SQLite's files; all else stays."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from areopage.ledger.tables import metadata
from msgspec.structs import replace
from sqlalchemy import text

from areopage.cases.records import Case
from areopage.ledger.alerts import Alerts
from areopage.ledger.days import Days
from areopage.ledger.erasure import ERASED
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.labels import Labels, ReviewQueue
from areopage.ledger.lists import EvaluationLists
from areopage.ledger.operations import Alert
from areopage.ledger.queries import Filters, Period, Scope
from areopage.ledger.records import Answer, Evaluation, Judgment, Label, ReviewItem, Run, Verdict
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import Scored

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
YEAR = Period(start=date(2026, 1, 1), end=date(2027, 1, 1))
SECRET = "Xylophage"  # stands in every text of the answer to erase
Make = Callable[..., Answer]
MakeScore = Callable[..., Evaluation]
MakeJudgment = Callable[..., Judgment]


def fill(ledger: Ledger, make: Make, scored: MakeScore, judgment: MakeJudgment, id: str, word: str) -> None:
    """An answer with all that can hang on it, a word in each of its texts."""
    said = Verdict(criterion="q", outcome=Scored(score=1.0, explanation=word, evidence=(word,)))
    case = Case(id=id, prompt=f"{word}?", response=word, source="site", metadata={"x": word})
    Evaluations(ledger).add([make(case=case)])
    ledger.append([judgment(f"key-{id}", run_id="m", raw_text=word, repair_text=word, verdicts=(said,))])
    texts = {"question": f"{word}?", "answer": word, "feedback": f"Le {word}.", "reason": word}
    Evaluations(ledger).finish(scored(id, **texts, strengths=(word,), weaknesses=(word,)), [], [f"key-{id}"], None)
    about = {"opened_at": MOMENT, "last_seen_at": MOMENT, "next_attempt_at": MOMENT}
    alert = Alert(rule="answer", subject=id, state="open", title=word, body=word, answer_id=id, **about)  # type: ignore[arg-type]
    Alerts(ledger).open(alert)
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why="asked", created_at=MOMENT)])
    label = Label(answer_id=id, rater="ann", criterion="", score=1.0, note=word, origin="web", created_at=MOMENT)
    Labels(ledger).add([label])


def files_with(ledger: Ledger, word: str) -> list[str]:
    """The files of a SQLite ledger in which a word stands, in any case."""
    path = Path(ledger.place)
    wanted = word.lower().encode()
    return [one.name for one in path.parent.iterdir() if one.name.startswith(path.name) and wanted in one.read_bytes().lower()]


def tables_with(ledger: Ledger, word: str) -> list[str]:
    """The tables in which a word stands."""
    names = [*metadata.tables, "quality_search"]
    with ledger.engine.connect() as connection:
        rows = {name: connection.execute(text(f'SELECT * FROM "{name}"')).all() for name in names}
    return [name for name, found in rows.items() if word.lower() in str(found).lower()]


def test_nothing_of_an_erased_answer_stays(
    monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment
) -> None:
    fill(monitored, submission, scored, judgment, "a", SECRET)
    fill(monitored, submission, scored, judgment, "b", "Ordinary")
    everywhere = ["alerts", "judgments", "labels", "quality_scores", "quality_search", "submissions", "verdicts"]
    assert sorted(tables_with(monitored, SECRET)) == everywhere
    scores, lists = Evaluations(monitored), EvaluationLists(monitored)
    assert scores.erase(["a", "nobody's"]) == 1
    assert tables_with(monitored, SECRET) == []
    if monitored.engine.dialect.name == "sqlite":
        assert files_with(monitored, SECRET) == []
        assert files_with(monitored, "Ordinary") != []
    assert (scores.get("a"), Evaluations(monitored).get("a"), scores.judgments("a")) == (None, None, [])
    assert (ReviewQueue(monitored).item("a"), list(Labels(monitored).of("a"))) == (None, [])
    assert [(alert.title, alert.body, alert.delivery) for alert in Alerts(monitored).list() if alert.subject == "a"] == [
        (ERASED, ERASED, "none")
    ]
    assert lists.page(Filters(text=SECRET)) == []
    assert scores.erase(["a"]) == 0


def test_other_answers_stay_whole(monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment) -> None:
    for id in "ab":
        fill(monitored, submission, scored, judgment, id, f"Word{id}")
    scores = Evaluations(monitored)
    kept = (scores.get("b"), scores.judgments("b"), Evaluations(monitored).get("b"), ReviewQueue(monitored).item("b"))
    scores.erase(["a"])
    assert (scores.get("b"), scores.judgments("b"), Evaluations(monitored).get("b"), ReviewQueue(monitored).item("b")) == kept
    assert [label.note for label in Labels(monitored).of("b")] == ["Wordb"]
    assert [row.id for row in EvaluationLists(monitored).page(Filters(text="wordb"))] == ["b"]
    assert sum(day.scored for day in Days(monitored).totals(YEAR, Scope())) == 2  # counts hold no text


def test_a_judgment_that_another_answer_shares_stays_until_that_one_goes(
    monitored: Ledger, scored: MakeScore, judgment: MakeJudgment
) -> None:
    monitored.append([judgment("k", run_id="m"), judgment("k", run_id="m")])
    scores = Evaluations(monitored)
    for id in "ab":
        scores.finish(scored(id), [], ["k"], None)
    scores.erase(["a"])
    assert len(scores.judgments("b")) == 2
    scores.erase(["b"])
    assert monitored.attempts(["k"]) == []


def test_a_judgment_that_a_bench_paid_for_stays_its_own(monitored: Ledger, scored: MakeScore, judgment: MakeJudgment) -> None:
    run = Run(id="r", suite="s", fingerprint="f", folder="/x", created_at=MOMENT, finished_at=None, spec="{}")
    monitored.create_run(run, [])
    monitored.append([judgment("k", run_id="r"), judgment("k", run_id="m")])
    scores = Evaluations(monitored)
    scores.finish(scored("a"), [], ["k"], None)
    scores.erase(["a"])
    assert [one.run_id for one in monitored.attempts(["k"])] == ["r"]


@pytest.mark.parametrize("state", ["waiting", "queued"])
def test_an_answer_that_is_erased_while_it_is_judged_does_not_come_back(
    monitored: Ledger, submission: Make, scored: MakeScore, judgment: MakeJudgment, state: str
) -> None:
    intake, scores = Evaluations(monitored), Evaluations(monitored)
    intake.add([submission("a", prompt=SECRET, state=state)])
    monitored.append([judgment("k1", run_id="m", raw_text=SECRET)])
    scores.link("a", ["k1", "k2"])
    assert scores.erase(["a"]) == 1
    monitored.append([judgment("k2", run_id="m", raw_text=SECRET)])
    assert not scores.finish(scored("a", answer=SECRET), [], ["k1", "k2"], None)
    intake.retry("a", MOMENT, "late")
    intake.give_up("a", "late")
    assert intake.add([submission("a", prompt=SECRET)]) == [False]
    assert tables_with(monitored, SECRET) == []
    found = intake.get("a")
    assert found is not None and (found.state, found.case.prompt) == ("left_out", "")
    assert scores.older_than(MOMENT + timedelta(days=1), 9) == ["a"]
    assert scores.erase(["a"]) == 1
    assert intake.get("a") is None


def test_the_oldest_submissions_are_named_first(monitored: Ledger, submission: Make) -> None:
    days = {"c": 3, "a": 1, "b": 2}
    Evaluations(monitored).add([submission(id, received_at=MOMENT + timedelta(days=day)) for id, day in days.items()])
    scores = Evaluations(monitored)
    assert scores.older_than(MOMENT + timedelta(days=3), 9) == ["a", "b"]
    assert scores.older_than(MOMENT + timedelta(days=9), 1) == ["a"]


def test_bytes_are_gone_after_many_changes_of_every_size(
    tmp_path: Path, open_ledger: Callable[[Path], Ledger], submission: Make, scored: MakeScore, judgment: MakeJudgment
) -> None:
    """Rows that grew, moved between pages or were replaced by shorter ones leave no copy either."""
    ledger = open_ledger(tmp_path / "l.db")
    ledger.put_panel(
        Run(id="m", kind="monitor", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec="{}")
    )
    chance = random.Random(5)
    intake, scores = Evaluations(ledger), Evaluations(ledger)
    ids = [f"{chance.getrandbits(64):016x}" for _ in range(400)]
    words = {id: (SECRET if number % 4 == 0 else "Ordinary") + str(number) for number, id in enumerate(ids)}

    def written(id: str) -> str:
        return " ".join([words[id]] * chance.choice((1, 5, 60, 700)))

    for start in range(0, len(ids), 20):
        part = ids[start : start + 20]
        intake.add([submission(id, prompt=written(id), response=written(id)) for id in part])
        for id in part:
            ledger.append([judgment(f"k{id}", run_id="m", raw_text=written(id))])
    for id in chance.sample(ids, len(ids)):
        stored = Case(id=id, prompt=written(id)) if chance.random() < 0.5 else None
        scores.finish(scored(id, question=written(id), answer=written(id), feedback=written(id)), [], [f"k{id}"], stored)
    secret = [id for id in ids if words[id].startswith(SECRET)]
    erased: list[Sequence[str]] = [secret[:1], secret[1:60], secret[60:]]
    assert [scores.erase(part) for part in erased] == [len(part) for part in erased]
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
        Evaluations(ledger).add([submission(f"a{number}", prompt=SECRET * (1 + number * 10))])
    for number in range(50):
        Evaluations(ledger).finish(replace(scored(), id=f"a{number}"), [], [], Case(id=f"a{number}", prompt="[cut]"))
    Evaluations(ledger).wipe()
    assert files_with(ledger, SECRET) == []
