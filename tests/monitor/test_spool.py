"""The spool: what is written is taken over once, whoever dies when."""

import logging
import os
import resource
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.ledger.tables.records import Answer
from areopage.monitor.hook.spool import Spool
from areopage.monitor.hook.spool_files import drain, rejected_lines, waiting_bytes
from areopage.monitor.hook.submission import submission_of
from servers.forked import Forked

WRITE_FOREVER = """
import sys
from areopage.monitor.hook.spool import Spool
from areopage.monitor.hook.submission import submission_of
spool = Spool(sys.argv[1])
for number in range(1_000_000):
    assert spool.append(submission_of("q", "x" * int(sys.argv[3]), id=f"{sys.argv[2]}-{number}"))
    print(number, flush=True)
"""


class Taken:
    """Stands at the end of a spool, and knows each id once, as the ledger does."""

    def __init__(self) -> None:
        self.by_id: dict[str, Answer] = {}
        self.batches = 0

    def __call__(self, submissions: Sequence[Answer]) -> Sequence[Answer]:
        self.batches += 1
        self.by_id.update({one.id: one for one in submissions})
        return ()


def answer(id: str, text: str = "a") -> Answer:
    return submission_of("q", text, ["d"], id=id, source="bot")


def test_what_is_appended_is_drained_in_order_and_once(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path / "spool"), Taken()
    given_ones = [answer(f"n{number}", "line\nbreak “é” \u2028") for number in range(1200)]
    assert all(spool.append(one) for one in given_ones)
    assert drain(spool.folder, taken).taken == 1200
    assert list(taken.by_id.values()) == given_ones
    assert drain(spool.folder, taken).taken == 0
    spool.append(answer("later"))
    assert (drain(spool.folder, taken).taken, waiting_bytes(spool.folder)) == (1, 0)


def test_a_file_that_its_writer_let_go_is_removed_and_a_file_in_use_stays(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path), Taken()
    spool.append(answer("one"))
    drain(spool.folder, taken)
    assert len(list(tmp_path.glob("*.jsonl"))) == 1
    spool.close()
    drain(spool.folder, taken)
    assert [file.name for file in tmp_path.iterdir()] == ["drain.lock"]


def test_a_large_file_is_rolled(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path, roll_at=5_000), Taken()
    for number in range(100):
        spool.append(answer(f"n{number}", "x" * 1000))
    assert len(list(tmp_path.glob("*.jsonl"))) > 10
    drain(spool.folder, taken)
    assert len(taken.by_id) == 100 and len(list(tmp_path.glob("*.jsonl"))) == 1


def test_a_limit_ends_a_pass_and_the_next_one_goes_on(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path), Taken()
    for number in range(1500):
        spool.append(answer(f"n{number}"))
    passes = [drain(spool.folder, taken, 500).taken for _ in range(4)]
    assert passes == [500, 500, 500, 0] and len(taken.by_id) == 1500


def test_a_delivery_that_fails_is_repeated(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path), Taken()
    spool.append(answer("one"))

    def fail(_: Sequence[Answer]) -> Sequence[Answer]:
        raise RuntimeError("down")

    with pytest.raises(RuntimeError):
        drain(spool.folder, fail)
    assert drain(spool.folder, taken).taken == 1


@pytest.mark.parametrize("size", [10, 300_000])
def test_kill_9_of_a_writer_loses_nothing_that_was_appended(tmp_path: Path, size: int) -> None:
    taken, spool = Taken(), Spool(tmp_path / "spool")
    acknowledged: list[str] = []
    for name in "ab":
        process = Forked(WRITE_FOREVER, spool.folder, name, str(size))
        lines = [process.stdout.readline() for _ in range(10)]
        drain(spool.folder, taken)  # while it writes
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        complete = [line for line in "".join([*lines, rest]).splitlines(keepends=True) if line.endswith("\n")]
        acknowledged += [f"{name}-{line.strip()}" for line in complete]
    while drain(spool.folder, taken).taken:
        pass
    assert set(acknowledged) <= set(taken.by_id)
    assert not list(spool.folder.glob("*.jsonl"))


def test_half_a_line_of_a_dead_writer_is_put_aside_and_counted(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path), Taken()
    spool.append(answer("whole"))
    (file,) = tmp_path.glob("*.jsonl")
    with file.open("ab") as stream:
        stream.write(b'{"case":{"id":"cut","pro')
    assert drain(spool.folder, taken).rejected == 0  # its writer lives: the rest may yet come
    spool.close()
    assert drain(spool.folder, taken).rejected == 1
    assert list(taken.by_id) == ["whole"] and rejected_lines(tmp_path) == 1
    (aside,) = (tmp_path / "rejected").iterdir()
    assert msgspec.json.decode(aside.read_bytes())["line"].endswith('"pro')


COUNTED = msgspec.json.encode(msgspec.structs.replace(answer("a"), prompt_tokens=2**63))
USELESS = [b"\xff\xfe", b"{}", b"[" * 100_000, b'{"case": {"id": "' + b"x" * 200 + b'", "prompt": "q"}}', COUNTED]


@pytest.mark.parametrize("line", USELESS)
def test_a_line_that_cannot_be_used_does_not_hold_up_the_others(tmp_path: Path, line: bytes) -> None:
    spool, taken = Spool(tmp_path), Taken()
    spool.append(answer("before"))
    (file,) = tmp_path.glob("*.jsonl")
    with file.open("ab") as stream:
        stream.write(line + b"\n")
    spool.append(answer("after"))
    drained = drain(spool.folder, taken)
    assert (list(taken.by_id), drained.rejected) == (["before", "after"], 1)


def test_a_full_disk_loses_answers_loudly_and_never_raises(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    spool, taken = Spool(tmp_path), Taken()
    assert spool.append(answer("before"))
    size = sum(file.stat().st_size for file in tmp_path.glob("*.jsonl"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with caplog.at_level(logging.WARNING):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))
        try:
            told = [spool.append(answer(f"lost{number}", "x" * 2000)) for number in range(3)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert told == [False] * 3 and spool.lost == 3
    assert len(caplog.records) == 1 and "cannot be submitted" in caplog.text
    assert spool.append(answer("after"))
    spool.close()
    drain(spool.folder, taken)
    assert list(taken.by_id) == ["before", "after"] and rejected_lines(tmp_path) == 0


def test_a_folder_that_cannot_be_made_is_counted_not_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spool = Spool(tmp_path / "file" / "spool")
    assert not spool.append(answer("one")) and spool.lost == 1


def test_threads_and_forked_processes_write_whole_lines(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path), Taken()
    spool.append(answer("parent-first"))
    child = os.fork()
    if child == 0:
        for number in range(200):
            spool.append(answer(f"child-{number}"))
        os._exit(0)
    threads = [
        threading.Thread(target=lambda name: [spool.append(answer(f"{name}-{n}")) for n in range(100)], args=(name,))
        for name in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.waitpid(child, 0)
    while drain(spool.folder, taken).taken:
        pass
    assert len(taken.by_id) == 1 + 200 + 400
    assert len(list(tmp_path.glob("*.jsonl"))) == 1  # the child's has gone
    spool.append(answer("parent-last"))
    assert drain(spool.folder, taken).taken == 1


def test_two_drainers_take_turns(tmp_path: Path) -> None:
    spool, taken = Spool(tmp_path), Taken()
    spool.append(answer("one"))

    def deliver(_: Sequence[Answer]) -> Sequence[Answer]:
        assert drain(tmp_path, taken).taken == 0
        return ()

    assert drain(spool.folder, deliver).taken == 1


@given(st.lists(st.text(min_size=1).filter(lambda text: text.strip()), min_size=1, max_size=5))
def test_any_text_comes_out_as_it_went_in(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    spool, taken = Spool(tmp_path_factory.mktemp("spool")), Taken()
    given_ones = [submission_of(text, text, [text]) for text in texts]
    assert all(spool.append(one) for one in given_ones)
    drain(spool.folder, taken)
    spool.close()
    assert sorted(taken.by_id) == sorted(one.id for one in given_ones)
    assert [taken.by_id[one.id] for one in given_ones] == given_ones
