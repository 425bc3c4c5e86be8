"""A judge's calls through a batch service: each is paid once, whatever happens, and judgments are those of direct calls."""

import csv
import re
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest

from areopage.bench.execution import batch_creation, batch_phase
from areopage.bench.execution.batch_creation import BatchPace
from areopage.bench.fleet.progress import progress_of
from areopage.bench.planning.budget import spent_by
from areopage.bench.spec import RunSpec
from areopage.ledger.store import Ledger
from areopage.ledger.write.fleet import Fleet
from areopage.ledger.write.sent_batches import SentBatches
from areopage.ledger.write.shares import BudgetParts
from servers.batch_kills import KILLS
from servers.batch_runs import CALLS, CASES, PRICE, begin, run_of, suite_of, wait_for
from servers.batch_server import BatchServer, Sent
from servers.command import Command, ended, scores_of
from servers.forked import kill_with_children
from servers.small_suite import write_cases, write_config

pytestmark = pytest.mark.usefixtures("quick_batches")


@pytest.fixture
def server() -> Iterator[BatchServer]:
    server = BatchServer()
    with server:
        yield server


@pytest.fixture
def command(tmp_path: Path, server: BatchServer) -> Command:
    return Command(tmp_path, {"OPENAI_BASE_URL": server.openai_url})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return suite_of(tmp_path, "openai:fake-a")


def costs(command: Command) -> list[float]:
    """What the judgments of each run cost, the newest run first."""
    with Ledger.open(command.outputs / "ledger.db") as ledger, ledger.engine.connect() as connection:
        query = "SELECT run_id, sum(cost) FROM judgments GROUP BY run_id"
        sums = {row[0]: row[1] for row in connection.exec_driver_sql(query)}
        return [sums[run.id] for run in ledger.runs()]


def prompts_at(server: BatchServer) -> list[str]:
    """The files with prompts that the provider holds."""
    return [name for name, _ in server.files.values() if name.startswith("areopage-")]


def test_a_batch_brings_the_same_scores_as_direct_calls_at_half_the_cost(
    command: Command, server: BatchServer, suite: Path
) -> None:
    batched = command(*run_of(suite, "--batch"))
    assert batched.code == 0, batched.err
    assert "within 24 hours at 0.5 of the price" in batched.err
    assert "the target" not in batched.err  # the responses come with the cases
    assert "alpha: batch batch_1 completed, 48 of 48 calls completed" in batched.err
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1)
    direct = command(*run_of(suite, "--fresh"))
    assert direct.code == 0, direct.err
    assert len(server.calls) == CALLS
    one, other = command.run_folders()
    assert scores_of(command.results(one)) == scores_of(command.results(other))
    whole, halved = costs(command)
    assert halved == pytest.approx(whole / 2)
    shown = command("bench", "show", one.name)
    assert "batch_1 completed, 48 of 48" in shown.out
    assert not prompts_at(server)


def test_what_a_batch_cost_is_the_same_on_the_console_in_reports_and_in_the_league(
    command: Command, server: BatchServer, suite: Path
) -> None:
    write_cases(suite / "data" / "cases.csv", [{"prompt": f"Why is number {number} odd?"} for number in range(CASES)])
    done = command(*run_of(suite, "--batch", "--target", "openai:fake-target", "--target", "openai:fake-b"))
    assert done.code == 0, done.err
    shown = [float(amount) for amount in re.findall(r"alpha: 48/48, .* tokens, ([0-9.]+) USD", done.err)]
    (league,) = command.outputs.glob("*/league.csv")
    with league.open(encoding="utf-8", newline="") as file:
        tables = {row["run"]: float(row["judge_cost"]) for row in csv.DictReader(file)}
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        for run, paid in zip(ledger.runs(), costs(command), strict=True):
            Fleet(ledger).ask(run.id, {"alpha": CALLS}, datetime.now(UTC))
            progress = progress_of(ledger, run.id, RunSpec.of(run), datetime.now(UTC))
            assert progress is not None
            spent = spent_by(run, RunSpec.of(run), ledger)["USD"]
            (judge,) = [
                one for one in command.results(command.outputs / run.id)["run"]["metadata"]["costs"] if one["role"] == "judge"
            ]
            assert [spent, judge["cost"], tables[run.id], progress.costs["USD"]] == pytest.approx([paid] * 4)
    assert sorted(shown) == pytest.approx(sorted(costs(command)), abs=1e-4)


def test_direct_calls_and_batches_share_what_the_ledger_holds(command: Command, server: BatchServer, suite: Path) -> None:
    assert command(*run_of(suite, "--criteria", "safety")).code == 0
    assert command(*run_of(suite, "--batch")).code == 0
    assert (len(server.calls), sum(server.paid.values())) == (CALLS // 2, CALLS // 2)
    assert command(*run_of(suite)).code == 0
    assert (len(server.calls), sum(server.paid.values())) == (CALLS // 2, CALLS // 2)


@pytest.mark.parametrize("fault", ["cut", "lost", "500", "429", "500 made"])
def test_a_creation_that_fails_or_is_cut_creates_one_batch(
    command: Command, server: BatchServer, suite: Path, fault: str
) -> None:
    named = {"areopage": "0" * 32}
    others = [Sent(f"other_{n}", "file-other", named, 0, ["completed"], 1, 1, 0, b"", b"", frozenset(), []) for n in range(5)]
    server.batches += others
    server.batch_faults.creations = [fault]
    server.batch_faults.requests = [200, 500, 429, 500, 200, 500]
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1 + len(others))


def test_calls_that_a_batch_did_not_answer_are_sent_again_and_in_the_end_made_directly(
    command: Command, server: BatchServer, suite: Path
) -> None:
    server.batch_faults.ends = ["expired", "expired", "expired"]
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert "batch_1 expired, 24 of 48 calls completed, 24 failed" in done.err
    assert len(server.batches) == 3
    assert (len(server.paid), server.paid_twice, len(server.calls)) == (42, 0, 6)
    assert "Coverage: 100% – " in done.out


def test_failed_and_rejected_lines_are_no_scores(command: Command, server: BatchServer, suite: Path) -> None:
    server.batch_faults.lines, server.batch_faults.rejected = 0.3, 0.1
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert server.paid_twice == 0
    assert len(server.paid) + len(server.calls) == CALLS
    assert 0 < len(server.calls) < CALLS // 3
    assert "Coverage: 100% – " in done.out


def test_a_server_that_knows_no_schema_gets_the_batch_without(command: Command, server: BatchServer, suite: Path) -> None:
    server.batch_faults.no_schema = True
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.batches), len(server.paid), server.paid_twice, len(server.calls)) == (2, CALLS, 0, 0)


def test_answers_that_cannot_be_read_are_repaired_by_direct_calls(command: Command, server: BatchServer, suite: Path) -> None:
    server.batch_faults.texts = 0.3
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.paid), server.paid_twice) == (CALLS, 0)
    assert 0 < len(server.calls) < CALLS // 2
    assert "Coverage: 100% – " in done.out


def test_too_much_at_once_is_sent_in_smaller_batches_one_after_the_other(
    command: Command, server: BatchServer, suite: Path
) -> None:
    done = command(*run_of(suite, "--batch", "--criteria", "safety"))
    (size,) = [len(one.output) for one in server.batches]
    server.batch_faults.most_tokens = 2 * size // 3
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.paid), server.paid_twice, len(server.calls)) == (CALLS, 0, 0)


def test_what_a_batch_brings_beside_its_answers_is_ignored(command: Command, server: BatchServer, suite: Path) -> None:
    server.batch_faults.noise = True
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.paid), server.paid_twice, len(server.batches), len(server.calls)) == (CALLS, 0, 1, 0)
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        assert list(ledger.judgment_counts().values()) == [CALLS]


def test_a_batch_holds_no_more_calls_than_a_budget_allows(
    command: Command, server: BatchServer, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BudgetParts, "silence", 2.0)  # the part of the killed process returns soon
    limited = {"alpha": {"model": "openai:fake-a", "price": PRICE, "options": {"max_tokens": 100}}}
    write_config(suite, judge_system={"judges": limited, "evaluation": {"n_passes": 2}}, models=[])
    stopped = command(*run_of(suite, "--batch", "--budget", "0.006"))
    assert stopped.code == 4, stopped.err
    assert "the budget of 0.006 USD is spent" in stopped.err
    first = len(server.paid)
    assert 0 < first < CALLS
    assert costs(command)[0] <= 0.006
    server.held = True
    process = begin(command, *run_of(suite, "--batch", "--budget", "0.009"))
    wait_for("another batch", lambda: len(server.open_batches) > 0)
    process.kill()
    process.communicate()
    out = len(server.paid) - first
    assert out > 0
    server.held = False
    stopped = command(*run_of(suite, "--budget", "0.009"))  # the batch that is out is counted before direct calls
    assert stopped.code == 4, stopped.err
    assert costs(command)[0] <= 0.009
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert server.paid_twice == 0


def test_a_prompt_that_does_not_fit_into_the_window_is_in_no_batch(command: Command, server: BatchServer, suite: Path) -> None:
    write_config(suite, judge_system={"judges": {"alpha": {"model": "openai:fake-a", "options": {"num_ctx": 20}}}}, models=[])
    done = command(*run_of(suite, "--batch"))
    assert done.code == 3, done.err
    assert "num_ctx" in done.out + done.err
    assert (len(server.batches), len(server.calls)) == (0, 0)


def test_a_judge_of_the_suite_may_keep_to_direct_calls_or_to_batches(command: Command, server: BatchServer, suite: Path) -> None:
    judges = {"alpha": {"model": "openai:fake-a", "batch": True}, "beta": {"model": "openai:fake-b", "batch": False}}
    write_config(suite, judge_system={"judges": judges, "evaluation": {"n_passes": 1}}, models=[])
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.paid), len(server.calls)) == (CALLS // 2, CALLS // 2)
    done = command(*run_of(suite, "--fresh"))
    assert (len(server.paid), len(server.calls)) == (CALLS, CALLS)


def test_judges_in_batches_wait_for_the_target_and_others_do_not_wait_for_them(
    command: Command, server: BatchServer, suite: Path
) -> None:
    judges = {"alpha": {"model": "openai:fake-a", "batch": True}, "beta": {"model": "openai:fake-b"}}
    write_config(suite, judge_system={"judges": judges, "evaluation": {"n_passes": 1}}, models=[])
    write_cases(suite / "data" / "cases.csv", [{"prompt": f"Why is number {number} odd?"} for number in range(CASES)])
    server.held = True
    process = begin(command, *run_of(suite, "--target", "openai:fake-target"))
    wait_for("the answers and the judgments of beta", lambda: len(server.calls) == CASES + CALLS // 2)
    wait_for("the batch of alpha", lambda: len(server.paid) == CALLS // 2)
    server.held = False
    done = ended(process)
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
    assert (len(server.calls), len(server.paid), server.paid_twice) == (CASES + CALLS // 2, CALLS // 2, 0)


def test_several_targets_are_judged_in_batches(command: Command, server: BatchServer, suite: Path) -> None:
    write_cases(suite / "data" / "cases.csv", [{"prompt": f"Why is number {number} odd?"} for number in range(CASES)])
    done = command(*run_of(suite, "--batch", "--target", "openai:fake-target", "--target", "openai:fake-b"))
    assert done.code == 0, done.err
    assert "calls to the targets, and those that repair a judge's answer, are direct, at the full price" in done.err
    assert (len(server.calls), len(server.paid), server.paid_twice) == (2 * CASES, 2 * CALLS, 0)


def test_a_full_disk_stops_the_run_with_a_line_that_says_where_to_make_room(
    command: Command, server: BatchServer, suite: Path
) -> None:
    with mock.patch.object(batch_phase, "TemporaryFile", lambda: Path("/dev/full").open("r+b")):
        message = command(*run_of(suite, "--batch")).refused(3)
    assert "No space left on device" in message
    assert "make room in " in message
    assert "go on with: areopage bench resume" in message
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.paid), server.paid_twice, len(server.batches)) == (CALLS, 0, 1)


def test_large_batches_are_split(command: Command, server: BatchServer, suite: Path) -> None:
    with mock.patch.object(batch_creation, "PACE", BatchPace(first=0.005, longest=0.02, settles=0.01, calls=10)):
        done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert [one.total for one in server.batches] == [10, 10, 10, 10, 8]
    assert (len(server.paid), server.paid_twice) == (CALLS, 0)


def test_a_batch_that_the_provider_does_not_begin_stops_the_run_with_its_reason(
    command: Command, server: BatchServer, suite: Path
) -> None:
    server.batch_faults.ends = ["failed"]
    message = command(*run_of(suite, "--batch")).refused()
    assert "did not begin batch batch_1 of judge alpha: This line is not parseable" in message
    assert command(*run_of(suite, "--batch")).code == 0
    assert (len(server.paid), server.paid_twice) == (CALLS, 0)


def test_a_judge_without_a_batch_service_is_refused_by_name(command: Command, server: BatchServer, suite: Path) -> None:
    server.service = False
    message = command(*run_of(suite, "--batch")).refused()
    assert "judge alpha (openai:fake-a)" in message
    assert "has no batch service" in message
    message = command(*run_of(suite, "--batch", "--judge", "beta=ollama:fake-b")).refused()
    assert "judge beta (ollama:fake-b): ollama has no batch service" in message
    assert not server.calls


@pytest.mark.long
def test_a_run_that_is_killed_between_all_steps_pays_for_each_call_once(
    command: Command, server: BatchServer, suite: Path
) -> None:
    for kill in KILLS:
        process = begin(command, *run_of(suite, "--batch"), killed=kill)
        assert ended(process).code == -signal.SIGKILL, kill
        assert server.paid_twice == 0, kill
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1)
    assert not prompts_at(server)


@pytest.mark.parametrize("kill", ["ended after", "discarded before"])
def test_prompts_that_a_killed_run_left_at_the_provider_are_deleted_when_it_goes_on(
    command: Command, server: BatchServer, suite: Path, kill: str
) -> None:
    assert ended(begin(command, *run_of(suite, "--batch"), killed=kill)).code == -signal.SIGKILL
    assert bool(prompts_at(server)) == (kill == "ended after")
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert not prompts_at(server)
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1)


def test_a_creation_that_arrives_late_creates_nothing(command: Command, server: BatchServer, suite: Path) -> None:
    process = begin(command, *run_of(suite, "--batch"), killed="asked after")
    assert ended(process).code == -signal.SIGKILL
    ((late, _),) = server.files.items()  # the request of the killed process is still on its way
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert late not in server.files
    assert (len(server.paid), server.paid_twice, len(server.batches)) == (CALLS, 0, 1)


def test_a_batch_that_the_list_shows_late_is_found(command: Command, server: BatchServer, suite: Path) -> None:
    server.batch_faults.creations, server.batch_faults.lag = ["cut"], 1
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert (len(server.paid), server.paid_twice, len(server.batches)) == (CALLS, 0, 1)


def test_ctrl_c_leaves_the_batch_with_the_provider_and_the_same_command_stores_it(
    command: Command, server: BatchServer, suite: Path
) -> None:
    server.held = True
    process = begin(command, *run_of(suite, "--batch"))
    wait_for("two looks at the batch", lambda: server.requests.count("GET /batches/batch_1") > 1)
    process.send_signal(signal.SIGINT)
    stopped = ended(process)
    assert stopped.code == 130, stopped.err
    assert "1 batch of 48 calls goes on at the provider" in stopped.err
    assert "areopage bench batches" in stopped.err
    server.held = False
    done = command(*run_of(suite))  # without --batch: what is out is waited for all the same
    assert done.code == 0, done.err
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1)


def test_batches_are_listed_and_cancelled(command: Command, server: BatchServer, suite: Path) -> None:
    server.held = True
    process = begin(command, *run_of(suite, "--batch"))
    wait_for("two looks at the batch", lambda: server.requests.count("GET /batches/batch_1") > 1)
    process.kill()
    process.communicate()
    assert "batch_1 validating" in command("bench", "batches").out
    cancelled = command("bench", "batches", "--cancel")
    assert cancelled.code == 0, cancelled.err
    assert "batch_1 cancelling" in cancelled.out
    server.held = False
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert server.paid_twice == 0


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, command: Command) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(command.folder / "shared.db")
    else:
        yield request.getfixturevalue("postgres_ledger")


def test_two_processes_of_one_run_send_each_call_once(command: Command, server: BatchServer, suite: Path, ledger: str) -> None:
    server.looks = 4
    processes = [begin(command, *run_of(suite, "--batch", "--ledger", ledger)) for _ in range(2)]
    ends = [ended(process) for process in processes]
    assert [end.code for end in ends] == [0, 0], "".join(end.err for end in ends)
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1)


@pytest.mark.long
def test_workers_send_each_call_of_a_run_in_one_batch_also_where_one_of_them_is_killed(
    command: Command, server: BatchServer, suite: Path, postgres_ledger: str
) -> None:
    server.held = True
    workers = [command.begin("worker", "--ledger", postgres_ledger, "--out", "w0")]
    try:
        follower = begin(command, *run_of(suite, "--batch", "--fleet", "--budget", "1.00", "--ledger", postgres_ledger))
        wait_for("a look at the batch", lambda: "GET /batches/batch_1" in server.requests)
        workers.append(command.begin("worker", "--ledger", postgres_ledger, "--out", "w1"))
        kill_with_children(workers[0])  # it alone has driven the batch
        server.held = False
        end = ended(follower)
    finally:
        for worker in workers:
            kill_with_children(worker)
            worker.communicate()
    assert end.code == 0, end.err
    assert "Coverage: 100% – " in end.out
    assert (len(server.calls), len(server.paid), server.paid_twice, len(server.batches)) == (0, CALLS, 0, 1)


def test_the_ledger_holds_no_prompt_of_a_batch(command: Command, server: BatchServer, suite: Path) -> None:
    assert command(*run_of(suite, "--batch")).code == 0
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        (run,) = ledger.runs()
        (batch,) = SentBatches(ledger).of_run(run.id)
    assert (batch.batch_id, batch.status, batch.completed, batch.keys) == ("batch_1", "completed", CALLS, ())
    assert re.fullmatch(r"[0-9a-f]{32}", batch.token)
