"""The command as a process: what it imports to show help, whom it calls, how it ends."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import areopage
from areopage.cli.main import LazyGroup, app
from areopage.text.terminals import visible
from servers import PATIENCE
from servers.command import Command, ended
from servers.fake_llm import FakeServer
from servers.forked import Forked

HEAVY = ("aiohttp", "sqlalchemy", "numpy", "pydantic", "jinja2", "alembic", "yaml", "rich.progress", "xllamacpp")
MODULES_BEFORE_CALLS = 700
"""A run has imported fewer modules than these before its first call, those of the standard library and of tests included."""
IMPORTS = """
import atexit, json, sys
from areopage.cli.process import command
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["areopage", *sys.argv[1:]]
command()
"""
# An audit hook cannot be taken off again, and sees what C code does, too.
AUDITED = """
import json, os, runpy, sys
log = open(os.environ["AUDIT_LOG"], "a", buffering=1)
LOOK_UPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
def hook(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        arguments = arguments[1:]  # the first one is the socket
    elif event not in (*LOOK_UPS, "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"):
        return
    log.write(json.dumps([event, repr(arguments)]) + "\\n")
sys.addaudithook(hook)
sys.argv = ["areopage", *sys.argv[1:]]
runpy.run_module("areopage", run_name="__main__")
"""


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("bench", "--help"), ("bench", "run", "--help"), ("models", "check", "--help")],
)
def test_help_imports_nothing_heavy(command: Command, arguments: tuple[str, ...]) -> None:
    done = ended(command.start(*arguments, interpreter=("-c", IMPORTS)))
    assert done.code == 0, done.err
    assert "areopage" in done.out
    loaded = set(json.loads(done.err.splitlines()[-1]))
    assert not loaded & set(HEAVY)


def test_a_run_starts_without_what_its_first_call_does_not_need(command: Command) -> None:
    """The queue, templates, numbers, tables and patterns of texts that are stored or shown are imported while calls are out."""
    late = (
        "dbos",
        "aiohttp",
        "psycopg",
        "sqlalchemy.orm",
        "sqlalchemy.dialects.postgresql",
        "json_repair",
        "jinja2",
        "alembic",
        "numpy",
        "rich",
        "statistics",
        "filelock",
        "areopage.text.personal",
        "areopage.text.declining",
        "areopage.monitor.config",
        "areopage.checking.config",
        "areopage.bench.execution.batch_phase",
        "areopage.bench.results.run_view",
        "areopage.bench.fleet.progress",
        "areopage.scoring.folding",
        "areopage.report.elements",
    )
    script = f"""
import sys, areopage.cli.bench.commands, areopage.cli.bench.run, areopage.models.openai
print([name for name in {late} if name in sys.modules], len(sys.modules) // {MODULES_BEFORE_CALLS})
"""
    done = ended(command.start(interpreter=("-c", script)))
    assert (done.code, done.out.strip()) == (0, "[] 0"), done.err


def test_a_run_imports_nothing_that_it_does_not_use(command: Command, suite: Path) -> None:
    """Neither what other commands and displays need, nor a search of all that is installed; dbos brings its databases."""
    unused = (
        "alembic",
        "rich.progress",
        "rich.live",
        "rich._emoji_codes",
        "filelock",
        "areopage.monitor.config",
        "areopage.checking.config",
        "areopage.app.sections",
        "areopage.bench.adaptive_passes",
        "areopage.bench.execution.batch_phase",
        "areopage.cli.progress.live_display",
    )
    script = f"""
import importlib.metadata, sys
def searched(**group):
    raise AssertionError(f"what is installed is searched for {{group}}")
importlib.metadata.entry_points = searched
{IMPORTS}
"""
    done = ended(command.start("bench", "run", "--suite", suite, interpreter=("-c", script)))
    assert done.code == 0, done.err
    assert sorted(set(json.loads(done.err.splitlines()[-1])) & set(unused)) == []


def test_a_process_of_the_command_ends_without_taking_the_interpreter_apart(command: Command) -> None:
    """What waits for its end is done all the same, and threads are waited for."""
    begin = """
import atexit, sys, threading, time
class Held:
    def __del__(self):
        print("taken apart")
sys.held = Held()
atexit.register(print, "at exit")
"""
    thread = """
def late():
    time.sleep(0.2)
    print("late")
threading.Thread(target=late).start()
"""
    end = """
from areopage.cli.process import command
sys.argv = ["areopage", *sys.argv[1:]]
command()
"""
    known, unknown = ("suites", "show", "child_safety"), ("suites", "show", "no_such_suite")
    done = ended(command.start(*known, interpreter=("-c", begin + end)))
    assert (done.code, done.out.splitlines()[-1]) == (0, "at exit"), done.err
    assert ended(command.start(*unknown, interpreter=("-c", begin + end))).code == 2
    done = ended(command.start(*known, interpreter=("-c", begin + thread + end)))
    assert done.code == 0, done.err
    assert [line for line in done.out.splitlines() if line in ("late", "at exit")] == ["late", "at exit"]


def leaves(group: LazyGroup) -> Iterator[tuple[str, str]]:
    """The help of each command, as its group lists it and as it has it itself."""
    for below in group.groups.values():
        assert isinstance(below, LazyGroup)
        yield from leaves(below)
    context = click.Context(group)
    for name, (_, line) in group.places.items():
        command = group.get_command(context, name)
        assert command is not None
        yield line, " ".join((command.help or "").split())


def test_each_command_can_be_loaded_and_is_listed_with_the_beginning_of_its_help() -> None:
    listed = list(leaves(app))
    assert len(listed) > 40
    assert [pair for pair in listed if not pair[1].startswith(pair[0].removesuffix("."))] == []


def test_the_version_is_the_packages(command: Command) -> None:
    assert ended(command.start("--version")).out == f"areopage {areopage.__version__}\n"


def test_a_whole_run_contacts_nobody_but_the_configured_server(command: Command, server: FakeServer, suite: Path) -> None:
    log = command.folder / "audit.log"
    command.environment["AUDIT_LOG"] = str(log)
    del command.environment["OPENAI_BASE_URL"]
    done = [ended(command.start("bench", "run", "--suite", suite, interpreter=("-c", AUDITED)))]
    rescoring = Forked(AUDITED, "bench", "rescore", "--texts", folder=command.folder, environment=command.full_environment())
    done.append(ended(rescoring))
    assert [one.code for one in done] == [0, 0], done
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    contacted = {arguments for event, arguments in events if event in ("socket.connect", "socket.sendto", "socket.sendmsg")}
    assert contacted == {f"(('127.0.0.1', {server.port}),)"}
    looked_up = {arguments for event, arguments in events if event.startswith("socket.get")}
    assert all(arguments.startswith(("('127.0.0.1',", "(b'127.0.0.1',")) for arguments in looked_up)
    started = [arguments for event, arguments in events if not event.startswith("socket.")]
    # a library asks `file` whether the interpreter is a 32-bit program
    assert all(arguments.startswith("('file', ['file', '-b', ") for arguments in started), started


def test_openais_own_server_is_refused_without_a_key_before_its_name_is_looked_up(command: Command, suite: Path) -> None:
    log = command.folder / "audit.log"
    command.environment["AUDIT_LOG"] = str(log)
    del command.environment["OPENAI_BASE_URL"]
    models = ("--target", "openai:gpt-5", "--judge", "openai:gpt-5-mini")
    arguments = ("bench", "run", "--suite", suite, *models)
    done = ended(Forked(AUDITED, *arguments, folder=command.folder, environment=command.full_environment()))
    assert "requires an API key: set the environment variable OPENAI_API_KEY" in done.refused()
    assert log.read_text(encoding="utf-8") == ""


def test_ctrl_c_while_the_models_are_checked_ends_with_130_and_no_traceback(command: Command, suite: Path) -> None:
    with FakeServer() as server:
        server.deaf = True
        command.environment["OLLAMA_HOST"] = server.address
        process = command.begin("bench", "run", "--suite", suite)
        while not server.lookups:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in err


CTRL_C_WHILE_IMPORTED = """
import signal, sys
class Stopping:
    def find_spec(self, name, path, target=None):
        if name == "areopage.cli.main":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Stopping())
from areopage.cli.process import command
command()
"""


def test_ctrl_c_while_the_package_is_imported_ends_without_a_word(command: Command) -> None:
    stopped = ended(command.start("--version", interpreter=("-c", CTRL_C_WHILE_IMPORTED)))
    assert (stopped.code, stopped.out, stopped.err) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize(
    "arguments", [("criteria", "list"), ("--help",), ("bench", "--help"), ("--version",), ("bench", "list")], ids=" ".join
)
def test_an_output_that_nobody_reads_ends_quietly(command: Command, arguments: tuple[str, ...], seeded_file: str) -> None:
    if arguments == ("bench", "list"):  # a table
        arguments = (*arguments, "--ledger", seeded_file)
    process = command.start(*arguments)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert process.returncode == 130, "it is no verdict: 1 would say that something failed"


def test_a_terminal_that_has_no_character_of_a_text_shows_a_mark_and_the_command_ends_as_it_would(command: Command) -> None:
    command.environment["PYTHONIOENCODING"] = "latin-1"
    arguments = [sys.executable, "-m", "areopage", "criteria", "list", "--lang", "fr"]
    shown = subprocess.run(arguments, capture_output=True, env=dict(command.full_environment()), timeout=PATIENCE, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "d\\u2019autres" in shown.stdout.decode("latin-1")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_cannot_be_written_is_said_to_be_the_output(command: Command) -> None:
    arguments = [sys.executable, "-m", "areopage", "criteria", "list"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            arguments, stdout=full, stderr=subprocess.PIPE, env=dict(command.full_environment()), timeout=PATIENCE, check=False
        )
    assert done.returncode == 2
    assert done.stderr.decode() == "areopage: the output cannot be written: No space left on device\n"


def on_a_terminal(command: Command, *arguments: str | Path, answer: str) -> tuple[int, str]:
    """Run the command on a terminal of 80 columns; `answer` is typed when it asks whether to go on."""
    main, side = pty.openpty()
    environment = {**command.full_environment(), "TERM": "xterm", "COLUMNS": "80", "LINES": "40"}
    process = Forked(
        "areopage", *arguments, module=True, folder=command.folder, environment=environment, terminal=os.ttyname(side)
    )
    killer = threading.Timer(PATIENCE, process.kill)
    killer.start()
    seen = b""
    asked = False
    try:
        while True:
            if b"Go on?" in seen and not asked:
                os.write(main, answer.encode())
                asked = True
            if select.select([main], [], [], 0.05)[0]:
                seen += os.read(main, 65536)
            elif process.poll() is not None:
                break
    finally:
        killer.cancel()
        os.close(main)
        os.close(side)
    process.communicate()
    return process.wait(), seen.decode("utf-8", "replace")


def test_on_a_terminal_the_plan_is_put_to_the_user_first(command: Command, server: FakeServer, suite: Path) -> None:
    code, seen = on_a_terminal(command, "bench", "run", "--suite", suite, answer="n\n")
    assert code == 130
    assert "plan: 85 calls" in seen
    assert not server.calls
    assert not command.run_folders()


def test_on_a_terminal_a_run_shows_how_it_goes_on(command: Command, server: FakeServer, suite: Path) -> None:
    code, seen = on_a_terminal(command, "bench", "run", "--suite", suite, answer="y\n")
    assert code == 0, seen
    assert "40/40" in seen
    assert "40 ok" in seen
    assert "Final score: " in seen
    assert "plainness" in seen


@pytest.mark.parametrize("group", ["bench", "criteria", "suites", "models"])
def test_a_group_without_a_command_shows_its_help(command: Command, group: str) -> None:
    done = command(group)
    assert "Usage:" in done.out + done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments", [("bench", "run", "--passes", "0"), ("bench", "run", "--nonsense"), ("suites", "show", "a" * 5000), ("nothing",)]
)
def test_a_mistyped_command_is_one_line_and_exit_code_2(arguments: tuple[str, ...], command: Command) -> None:
    done = command.process(*arguments)
    assert done.code == 2
    assert done.err.startswith("areopage: ") and done.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--budget", "--timeout", "--min-coverage"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e400"])
def test_a_number_that_is_none_is_refused_before_a_run_is_stored(command: Command, suite: Path, option: str, number: str) -> None:
    message = command("bench", "run", "--suite", suite, option, number).refused()
    assert option in message
    assert not command.outputs.exists()


@pytest.mark.parametrize(
    ("arguments", "meant"), [(("montior",), "monitor"), (("bench", "runn"), "run"), (("review", "lable"), "label")]
)
def test_a_mistyped_command_names_the_one_that_was_meant(arguments: tuple[str, ...], meant: str, command: Command) -> None:
    done = command(*arguments)
    assert done.code == 2
    assert f"Did you mean {meant}?" in done.err


def test_spaces_of_any_kind_are_printed_as_spaces_and_control_characters_as_marks() -> None:
    assert visible("23\u00a0November, 14\u202fh\x1b[0m") == "23 November, 14 h\ufffd[0m"
