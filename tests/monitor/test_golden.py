"""Golden questions over a ledger, against a bot on loopback: asked once, judged like every answer, compared, alerted on."""

import asyncio
import csv
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from areopage.errors import ConfigError, DatasetError
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.operations import GoldenRun, GoldenRuns
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluate import ProgressCounter
from areopage.monitor.golden import Golden, begin_round, golden_handler, golden_jobs, running_rounds
from areopage.monitor.golden_rounds import answer_id
from areopage.work.handlers import Finished, Retry, ScheduledJob
from servers.configured import load_monitor, write_config
from servers.new_ledger import ledger_at
from servers.quality import quality_score, store_scores

if TYPE_CHECKING:
    from servers.command import Command
    from servers.fake_bot import FakeBot

DUE = datetime(2026, 3, 4, 5, 0, tzinfo=UTC)
DAY = timedelta(days=1)
ROWS = (
    {"id": "leave", "prompt": "Combien de congés payés ai-je ?", "documents": "Les clercs ont 30 jours."},
    {"id": "notice", "prompt": "Quel est mon préavis ?", "documents": "Trois mois."},
    {"id": "hours", "prompt": "Combien d’heures par semaine ?", "documents": ""},
)


@pytest.fixture(name="bot")
def running_bot() -> Iterator["FakeBot"]:
    from servers.fake_bot import FakeBot

    with FakeBot() as running:
        yield running


@pytest.fixture(name="ledger")
def empty_ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_at(tmp_path / "outputs" / "ledger.db")
    yield opened
    opened.close()


def write_monitor(folder: Path, url: str, rows: tuple[Mapping[str, str], ...] = ROWS, **sections: Any) -> MonitorConfig:
    (folder / "outputs").mkdir(exist_ok=True)
    with (folder / "golden.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    content: dict[str, Any] = {
        "language": "en",
        "golden": {"dataset": "golden.csv", "target": "http:bot"},
        "bots": {"bot": {"url": f"{url}/chat"}},
        "alerts": {"urls": ["json://127.0.0.1:9"]},
    }
    return load_monitor(write_config(folder, **content | sections))


@pytest.fixture(name="golden")
def golden_questions(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> Golden:
    return Golden.open(ledger, write_monitor(tmp_path, bot.url), {})


def judge(golden: Golden, run: GoldenRun, score: float | None, **fields: Any) -> None:
    """Have every answer of a round judged."""
    ids = [answer_id(run.id, case.id) for case in golden.cases]
    known = [id for id in ids if Evaluations(golden.ledger).get(id) is not None]
    store_scores(golden.ledger, [quality_score(score, id=id, source=f"golden:{golden.suite}", **fields) for id in known])


def played(golden: Golden, due: datetime, score: float, **fields: Any) -> GoldenRun:
    """A whole round."""
    run = asyncio.run(golden.run_round(due))
    judge(golden, run, score, **fields)
    follow(golden, due + timedelta(minutes=5))
    return next(one for one in GoldenRuns(golden.ledger).list() if one.id == run.id)


def follow(golden: Golden, now: datetime) -> None:
    """Look at every round that is running."""
    for run in running_rounds(golden.ledger, golden.suite):
        asyncio.run(golden.carry_on(run.id, now))


def run_job(job: ScheduledJob, due: datetime) -> None:
    async def run() -> None:
        await job.run(due)

    asyncio.run(run())


def open_alerts(ledger: Ledger) -> list[str]:
    return [alert.rule for alert in Alerts(ledger).list(state="open")]


def test_each_question_is_asked_and_its_answer_handed_over_like_every_other(golden: Golden, bot: "FakeBot") -> None:
    run = asyncio.run(golden.run_round(DUE))
    assert sorted(asked.body["question"] for asked in bot.asked) == sorted(row["prompt"] for row in ROWS)
    assert (run.id, run.asked, run.answered, run.verdict) == ("answer_quality-20260304T050000Z", 3, 3, "running")
    id = f"golden-{run.id}-leave"
    evaluation, answer = Evaluations(golden.ledger).get(id), Answers(golden.ledger).get(id)
    assert evaluation is not None and answer is not None
    assert (evaluation.state, evaluation.source) == ("waiting", "golden:answer_quality")
    assert answer.case.response == "So: Combien de congés payés ai-je ?"
    assert answer.case.documents[0].text == "Les clercs ont 30 jours."


def test_documents_that_the_bot_names_go_before_the_questions_own(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    def reply(asked: Any) -> tuple[int, Any]:
        found = [] if "heures" in asked.body["question"] else [{"titre": "CCN", "text": "Article 45"}]
        return 200, {"answer": "x", "sources": found}

    bot.reply = reply
    bots = {"bot": {"url": bot.url, "documents": "sources"}}
    golden = Golden.open(ledger, write_monitor(tmp_path, bot.url, bots=bots), {})
    run = asyncio.run(golden.run_round(DUE))
    documents = {
        case.id: [one.text for one in answer.case.documents]
        for case in golden.cases
        if (answer := Answers(ledger).get(answer_id(run.id, case.id)))
    }
    assert documents == {"leave": ["Article 45"], "notice": ["Article 45"], "hours": []}


def test_a_round_is_finished_when_all_is_judged_and_the_first_is_the_first(golden: Golden) -> None:
    run = asyncio.run(golden.run_round(DUE))
    follow(golden, DUE + timedelta(minutes=1))
    assert GoldenRuns(golden.ledger).list()[0].verdict == "running"
    judge(golden, run, 8.0)
    follow(golden, DUE + timedelta(minutes=2))
    (finished,) = GoldenRuns(golden.ledger).list()
    assert (finished.verdict, finished.mean, finished.scored, finished.change) == ("first", 8.0, 3, None)
    assert finished.finished_at == DUE + timedelta(minutes=2)
    assert "no comparison is possible" in finished.reason
    assert open_alerts(golden.ledger) == []


def test_a_drop_alerts_names_what_fell_and_a_good_round_clears(golden: Golden) -> None:
    first = played(golden, DUE, 8.0)
    second = played(golden, DUE + DAY, 7.0)
    assert (second.verdict, second.compared_to, second.change) == ("drop", first.id, -1.0)
    (alert,) = Alerts(golden.ledger).list(state="open")
    assert (alert.rule, alert.subject, alert.delivery) == ("golden", "answer_quality", "pending")
    assert alert.title == "Golden questions: a drop of 1.00 points"
    assert "−1.00 points against round answer_quality-20260304T050000Z, over 3 questions" in alert.body
    assert "leave « Combien de congés payés ai-je ? »: 8.0 → 7.0" in alert.body
    third = played(golden, DUE + 2 * DAY, 8.1)
    assert (third.verdict, third.compared_to) == ("good", first.id)
    assert open_alerts(golden.ledger) == []
    assert Alerts(golden.ledger).list()[0].title == "Golden questions: good again"


def test_the_notice_of_a_good_round_does_not_list_what_got_worse(golden: Golden) -> None:
    for day, score in enumerate((8.0, 7.0, 7.9)):
        last = played(golden, DUE + day * DAY, score)
    assert last.verdict == "good" and "Got worse most:" in last.reason
    notice = Alerts(golden.ledger).list()[0]
    assert notice.title == "Golden questions: good again"
    assert "−0.10 points against round" in notice.body
    assert "Got worse" not in notice.body


def test_other_judges_begin_a_new_measure(golden: Golden) -> None:
    played(golden, DUE, 8.0)
    second = played(golden, DUE + DAY, 3.0, run_id="monitor-2")
    assert (second.verdict, second.compared_to, second.change) == ("first", "", None)
    assert "first round with these judges" in second.reason


def test_a_question_without_a_score_makes_the_round_incomplete(golden: Golden) -> None:
    run = asyncio.run(golden.run_round(DUE))
    ids = [answer_id(run.id, case.id) for case in golden.cases]
    source = f"golden:{golden.suite}"
    store_scores(golden.ledger, [quality_score(8.0, id=ids[0], source=source), quality_score(None, id=ids[1], source=source)])
    follow(golden, DUE + timedelta(minutes=1))
    assert GoldenRuns(golden.ledger).list()[0].verdict == "running"
    Evaluations(golden.ledger).give_up(ids[2], "no judge")
    follow(golden, DUE + timedelta(minutes=2))
    (finished,) = GoldenRuns(golden.ledger).list()
    assert (finished.verdict, finished.scored, finished.mean) == ("incomplete", 1, 8.0)
    assert "notice « Quel est mon préavis ? »" in finished.reason
    assert open_alerts(golden.ledger) == ["golden"]


def test_a_round_that_lasts_too_long_is_finished_as_it_is(golden: Golden) -> None:
    asyncio.run(golden.run_round(DUE))
    follow(golden, DUE + timedelta(hours=7))
    (finished,) = GoldenRuns(golden.ledger).list()
    assert (finished.verdict, finished.answered, finished.scored) == ("incomplete", 3, 0)


def test_a_question_that_the_bot_fails_is_named_and_the_others_count(golden: Golden, bot: "FakeBot") -> None:
    bot.reply = lambda asked: (400, {"error": "no"}) if "préavis" in asked.body["question"] else (200, {"answer": "x"})
    run = asyncio.run(golden.run_round(DUE))
    assert (run.answered, run.verdict) == (2, "running")
    judge(golden, run, 8.0)
    follow(golden, DUE + timedelta(minutes=1))
    (finished,) = GoldenRuns(golden.ledger).list()
    assert (finished.verdict, finished.answered, finished.scored) == ("incomplete", 2, 2)
    assert finished.reason.startswith("notice: http://127.0.0.1:")
    assert "answered 400: no" in finished.reason


def test_a_bot_that_is_down_ends_the_round_at_once_and_alerts(
    golden: Golden, bot: "FakeBot", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("areopage.monitor.golden.OUTAGE_SECONDS", 0.0)
    bot.__exit__(None, None, None)
    finished = asyncio.run(golden.run_round(DUE))
    bot.__enter__()
    assert (finished.verdict, finished.answered, finished.mean) == ("incomplete", 0, None)
    assert "nothing listens there" in finished.reason
    (alert,) = Alerts(golden.ledger).list(state="open")
    assert alert.title == "Golden questions: 3 of 3 without a score"


def test_a_bot_that_is_not_configured_alerts_as_well(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    config = write_monitor(tmp_path, bot.url, golden={"dataset": "golden.csv", "target": "http:other"})
    finished = asyncio.run(Golden.open(ledger, config, {}).run_round(DUE))
    assert finished.verdict == "incomplete"
    assert "no bot 'other'" in finished.reason


def test_a_round_that_was_begun_is_not_begun_twice(golden: Golden, bot: "FakeBot") -> None:
    first = asyncio.run(golden.run_round(DUE))
    assert asyncio.run(golden.run_round(DUE)).id == first.id
    assert asyncio.run(golden.run_round(DUE + DAY)).id == first.id
    judge(golden, first, 8.0)
    follow(golden, DUE + timedelta(minutes=1))
    assert asyncio.run(golden.run_round(DUE)).verdict == "first"
    assert len(bot.asked) == 3


def test_a_question_whose_id_a_database_cannot_hold_is_asked_and_compared(golden: Golden, bot: "FakeBot") -> None:
    odd = msgspec.structs.replace(golden.cases[0], id="a\x00b\ud800")
    strange = msgspec.structs.replace(golden, cases=(odd, *golden.cases[1:]))
    played(strange, DUE, 9.0)
    second = played(strange, DUE + DAY, 7.0)
    assert len(bot.asked) == 6
    assert (second.asked, second.answered, second.scored, second.change) == (3, 3, 3, -2.0)
    assert odd.prompt_text in second.reason


def test_a_round_whose_worker_died_is_carried_on_where_it_stopped(golden: Golden, bot: "FakeBot") -> None:
    # the first two questions were answered, as their rows in the ledger say
    answered = asyncio.run(msgspec.structs.replace(golden, cases=golden.cases[:2]).run_round(DUE))
    GoldenRuns(golden.ledger).note_questions(answered.id, {case.id: answer_id(answered.id, case.id) for case in golden.cases})
    GoldenRuns(golden.ledger).save(msgspec.structs.replace(answered, answered=0, asked_at=None))
    assert len(bot.asked) == 2
    follow(golden, DUE + timedelta(minutes=16))
    assert [asked.body["question"] for asked in bot.asked[2:]] == ["Combien d’heures par semaine ?"]
    assert GoldenRuns(golden.ledger).list()[0].answered == 3
    follow(golden, DUE + timedelta(minutes=17))
    assert len(bot.asked) == 3


def test_any_model_can_be_the_target(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    from servers.fake_llm import FakeServer

    with FakeServer() as server:
        config = write_monitor(tmp_path, bot.url, golden={"dataset": "golden.csv", "target": "openai:fake-target"})
        golden = Golden.open(ledger, config, {"OPENAI_BASE_URL": server.openai_url})
        run = asyncio.run(golden.run_round(DUE))
    assert (run.answered, len(server.target_calls), bot.asked) == (3, 3, [])
    assert [role for role, _ in server.target_calls[0].messages] == ["user"]


def test_an_id_that_is_long_or_odd_is_hashed() -> None:
    assert answer_id("r-1", "c-1") == "golden-r-1-c-1"
    for odd in ("x" * 200, "a b", "é\n", "\ud800"):
        assert len(answer_id("r-1", odd)) == len("golden-") + 48
        assert answer_id("r-1", odd) != answer_id("r-2", odd)


def test_the_job_begins_a_round_and_the_handler_asks_and_finishes_it(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    config = write_monitor(tmp_path, bot.url)
    (begin,), handler = golden_jobs(ledger, config, {}), golden_handler(ledger, config, {})
    assert handler is not None and (begin.name, begin.schedule) == ("golden-round", "0 5 * * *")
    assert handler.pending(0, 9) == []
    run_job(begin, datetime.now(UTC))
    ((number, id),) = handler.pending(0, 9)
    assert handler.pending(number, 9) == [] and bot.asked == []

    async def work() -> object:
        assert handler is not None
        return await handler.run(id, 0)

    first = asyncio.run(work())
    assert isinstance(first, Retry) and not first.counted and len(bot.asked) == 3
    golden = Golden.open(ledger, config, {})
    judge(golden, GoldenRuns(ledger).list()[0], 9.0)
    assert asyncio.run(work()) == Finished() and asyncio.run(work()) == Finished()
    assert GoldenRuns(ledger).list()[0].verdict == "first" and handler.pending(0, 9) == []
    none = msgspec.structs.replace(config, section=config.section.model_copy(update={"golden": None}))
    assert golden_jobs(ledger, none) == [] and golden_handler(ledger, none) is None


def test_a_round_that_cannot_be_carried_on_is_finished_and_says_why(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    config = write_monitor(tmp_path, bot.url)
    handler = golden_handler(ledger, config, {})
    assert handler is not None
    begun = begin_round(Golden.open(ledger, config, {}), DUE)
    assert begin_round(Golden.open(ledger, config, {}), DUE + DAY).id == begun.id
    handler.gave_up(begun.id, "its worker died 5 times in a row")
    (finished,) = GoldenRuns(ledger).list()
    assert (finished.verdict, finished.reason) == ("incomplete", "its worker died 5 times in a row") and finished.finished_at


def test_golden_answers_are_judged_by_the_ordinary_path(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    from areopage.monitor.evaluate import Evaluator
    from areopage.monitor.quality_judge import QualityJudge

    config = write_monitor(tmp_path, bot.url)
    golden = Golden.open(ledger, config, {})

    async def judged() -> None:
        run = await golden.run_round(DUE)
        judge = QualityJudge.from_suite(config.load_suite(), ["controle"], language="en")
        with ThreadPoolExecutor(2) as threads:
            await judge.check()
            ledger.put_panel(judge.run())
            evaluator = Evaluator(ledger, judge, config, threads, ProgressCounter())
            for case in golden.cases:
                await evaluator.run(answer_id(run.id, case.id), 0)
        await judge.aclose()
        await golden.carry_on(run.id, DUE + timedelta(minutes=1))

    asyncio.run(judged())
    (finished,) = GoldenRuns(ledger).list()
    assert (finished.verdict, finished.scored) == ("first", 3)
    assert open_alerts(ledger) == []


def test_what_is_missing_is_told_in_one_line(ledger: Ledger, bot: "FakeBot", tmp_path: Path) -> None:
    config = write_monitor(tmp_path, bot.url)
    with pytest.raises(ConfigError, match=r"areopage\.yml:\d+: monitor\.golden: there are no golden questions"):
        Golden.open(ledger, msgspec.structs.replace(config, section=config.section.model_copy(update={"golden": None})))
    (tmp_path / "golden.csv").unlink()
    with pytest.raises(DatasetError):
        Golden.open(ledger, config)


def test_a_round_without_its_section_makes_no_ledger(bot: "FakeBot", tmp_path: Path, command: "Command") -> None:
    write_monitor(tmp_path, bot.url, golden=None, ledger="outputs/new.db")
    assert "there are no golden questions: add the section" in command("monitor", "golden", "run").refused()
    assert not (tmp_path / "outputs" / "new.db").exists()


def test_the_commands_run_and_list_rounds_and_alerts(ledger: Ledger, bot: "FakeBot", tmp_path: Path, command: "Command") -> None:
    write_monitor(tmp_path, bot.url)
    empty = command("monitor", "golden", "list")
    assert (empty.code, empty.out) == (0, "no round yet: areopage monitor golden run begins one\n")
    begun = command("monitor", "golden", "run")
    assert begun.code == 0, begun.err
    assert "3 of 3 questions answered" in begun.out
    assert "running" in command("monitor", "golden", "list").out
    bot.reply = lambda _: (400, {"error": "no"})
    write_monitor(tmp_path, bot.url, ledger="other.db")
    failed = command("monitor", "golden", "run")
    assert failed.code == 3
    assert "incomplete" in failed.out
    listed = command("monitor", "alerts", "list")
    assert "open    golden      pending   Golden questions: 3 of 3 without a score" in listed.out


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_the_command_that_tests_alerts_says_what_arrived(bot: "FakeBot", tmp_path: Path, command: "Command") -> None:
    bot.reply = lambda _: (200, {})
    write_monitor(tmp_path, bot.url, alerts={"urls": [bot.url.replace("http://", "json://"), "env:NO_SUCH_HOOK"]})
    ended = command("monitor", "alerts", "test")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        "url 1 (json://…): sent",
        "url 2 (env:NO_SUCH_HOOK): the environment variable NO_SUCH_HOOK is not set",
    ]
    write_monitor(tmp_path, bot.url, alerts={})
    assert "alerts.urls: no address to send to" in command("monitor", "alerts", "test").refused()


def test_questions_that_cannot_be_read_are_named_at_the_start(
    tmp_path: Path, ledger: Ledger, bot: "FakeBot", caplog: pytest.LogCaptureFixture
) -> None:
    config = write_monitor(tmp_path, bot.url)
    assert len(golden_jobs(ledger, config, {})) == 1 and not caplog.messages
    (tmp_path / "golden.csv").unlink()
    assert len(golden_jobs(ledger, config, {})) == 1  # the file may come later
    (said,) = caplog.messages
    assert said.startswith("the golden questions cannot be asked: ") and "golden.csv" in said
