"""A judge's calls through Anthropic's batch service: each is paid once, though a batch has no file and no name of ours."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from areopage.ledger.store import Ledger
from servers.batch_kills import KILLS_WITHOUT_FILES
from servers.batch_runs import CALLS, begin, run_of, suite_of, wait_for
from servers.command import Command, ended, scores_of
from servers.message_batches import MessageBatchServer

KEY = "sk-ant-nobody-may-see-this"
SERVICE = "AnthropicBatches"

pytestmark = pytest.mark.usefixtures("quick_batches")


@pytest.fixture
def server() -> Iterator[MessageBatchServer]:
    server = MessageBatchServer(api_key=KEY)
    with server:
        yield server


@pytest.fixture
def command(tmp_path: Path, server: MessageBatchServer) -> Command:
    return Command(tmp_path, {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return suite_of(tmp_path, "anthropic:fake-a")


def paid(server: MessageBatchServer) -> tuple[int, int, int]:
    """The direct calls, the calls that batches were paid for, and those that were paid twice."""
    return len(server.calls), len(server.paid), server.paid_twice


def test_a_batch_brings_the_same_scores_as_direct_calls_at_half_the_cost(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    batched = command(*run_of(suite, "--batch"))
    assert batched.code == 0, batched.err
    assert "alpha: batch msgbatch_1 completed, 48 of 48 calls completed" in batched.err
    assert paid(server) == (0, CALLS, 0)
    assert server.deleted == ["msgbatch_1"]  # the prompts are gone
    server.kept.clear()
    direct = command(*run_of(suite, "--fresh"))
    assert direct.code == 0, direct.err
    one, other = command.run_folders()
    assert scores_of(command.results(one)) == scores_of(command.results(other))
    with Ledger.open(command.outputs / "ledger.db") as ledger, ledger.engine.connect() as connection:
        sums = [row[0] for row in connection.exec_driver_sql("SELECT sum(cost) FROM judgments GROUP BY run_id")]
    assert min(sums) == pytest.approx(max(sums) / 2)


@pytest.mark.parametrize("fault", ["cut", "lost", "500", "529", "429", "500 made", "late"])
def test_a_creation_that_fails_is_cut_or_comes_late_creates_one_batch(
    command: Command, server: MessageBatchServer, suite: Path, fault: str
) -> None:
    for _ in range(3):
        server.stranger(CALLS)
    server.stranger(CALLS - 1)
    server.message_faults.creations = [fault]
    server.message_faults.requests = [200, 500, 429, 529, 200]
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert paid(server) == (0, CALLS, 0)
    assert not any("their" in id for id in server.deleted)


def test_a_batch_of_another_program_is_neither_taken_nor_cancelled_nor_deleted(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    their = server.stranger(CALLS)
    process = begin(command, *run_of(suite, "--batch"), killed="asked after", service=SERVICE)
    assert ended(process).code == -signal.SIGKILL
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert paid(server) == (0, CALLS, 0)
    assert (their in server.batches, their.canceled) == (True, False)


@pytest.mark.long
def test_a_run_that_is_killed_between_all_steps_pays_for_each_call_once(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    for kill in KILLS_WITHOUT_FILES:
        process = begin(command, *run_of(suite, "--batch"), killed=kill, service=SERVICE)
        assert ended(process).code == -signal.SIGKILL, kill
        assert server.paid_twice == 0, kill
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
    assert paid(server) == (0, CALLS, 0)
    assert server.deleted == ["msgbatch_1"]


def test_prompts_that_a_killed_run_left_at_the_provider_are_deleted_when_it_goes_on(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    process = begin(command, *run_of(suite, "--batch"), killed="ended after", service=SERVICE)
    assert ended(process).code == -signal.SIGKILL
    assert server.deleted == []
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert server.deleted == ["msgbatch_1"]
    assert paid(server) == (0, CALLS, 0)


def test_calls_that_expired_or_failed_are_sent_again_and_results_come_in_any_order(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    server.message_faults.ends = ["expired"]
    server.message_faults.lines = 0.2
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert "batch msgbatch_1 expired" in done.err
    assert "Coverage: 100% – " in done.out
    direct, batched, twice = paid(server)
    assert (direct + batched, twice) == (CALLS, 0)
    assert batched > CALLS * 3 // 4


def test_answers_that_cannot_be_read_are_repaired_and_rejected_calls_are_made_directly(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    server.message_faults.texts, server.message_faults.rejected = 0.2, 0.1
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
    assert server.paid_twice == 0
    assert 0 < len(server.calls) < CALLS // 2


@pytest.mark.parametrize(
    ("untaken", "modes"), [(("temperature",), ("json_schema", "none")), ((), ("tool", "none")), ((), ("none",))]
)
def test_what_a_model_does_not_take_is_learnt_and_the_calls_stay_in_batches(
    command: Command, server: MessageBatchServer, suite: Path, untaken: tuple[str, ...], modes: tuple[str, ...]
) -> None:
    server.quirks.untaken, server.quirks.modes = untaken, modes
    done = command(*run_of(suite, "--batch"))
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
    assert len(server.calls) == 0


def test_ctrl_c_leaves_the_batch_with_the_provider_and_it_can_be_cancelled(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    server.held = True
    process = begin(command, *run_of(suite, "--batch"))
    wait_for("two looks at the batch", lambda: server.requests.count("GET /v1/messages/batches/msgbatch_1") > 1)
    process.send_signal(signal.SIGINT)
    stopped = ended(process)
    assert stopped.code == 130, stopped.err
    assert "1 batch of 48 calls goes on at the provider" in stopped.err
    shown = command("bench", "batches", command.run_folders()[0].name, "--cancel")
    assert "msgbatch_1 cancelling" in shown.out, shown.out + shown.err
    server.held = False
    done = command(*run_of(suite))
    assert done.code == 0, done.err
    assert paid(server) == (0, CALLS, 0)


def test_a_server_without_the_service_is_refused_before_any_call(
    command: Command, server: MessageBatchServer, suite: Path
) -> None:
    server.service = False
    assert "has no batch service" in command(*run_of(suite, "--batch")).refused()
    assert server.calls == []


def test_the_key_is_in_no_file_and_in_no_message(command: Command, server: MessageBatchServer, suite: Path) -> None:
    server.message_faults.requests = [200, 500, 401]
    first = command(*run_of(suite, "--batch"))
    second = command(*run_of(suite, "--batch"))
    assert second.code == 0, second.err
    assert KEY not in first.out + first.err + second.out + second.err
    files = [path for path in command.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
