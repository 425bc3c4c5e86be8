"""`areopage serve` and `areopage keys` as their users meet them."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.store import Ledger
from areopage.ledger.write.evaluations import Evaluations
from servers import PATIENCE
from servers.command import Command, Ended, ended
from servers.forked import Forked

RULES = 'monitor:\n  judges: ["rules:answer_quality"]\n  report: {enabled: false}\n'


class Running:
    """A server as a process."""

    def __init__(self, process: Forked) -> None:
        self.process = process
        self.said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+) ", self.said)
        assert found, self.said + (process.stderr.read() if process.poll() is not None else "")
        self.port = int(found.group(1))

    def ask(self, method: str, path: str, content: object = None, key: str = "") -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        try:
            connection.request(method, path, json.dumps(content) if content is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def end(self, *signals: signal.Signals) -> Ended:
        for one in signals or (signal.SIGTERM,):
            self.process.send_signal(one)
        return ended(self.process)


@pytest.fixture
def serve(command: Command) -> Iterator[Callable[..., Running]]:
    """Start servers that are gone after the test; the judge is deterministic."""
    started: list[Forked] = []
    (command.folder / "areopage.yml").write_text(RULES, encoding="utf-8")

    def start(*arguments: str) -> Running:
        started.append(command.begin("serve", "--port", "0", *arguments))
        return Running(started[-1])

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ledger_of(command: Command) -> Ledger:
    return Ledger.open(command.outputs / "ledger.db")


def test_one_process_takes_answers_judges_them_and_stops_when_told(serve: Callable[..., Running]) -> None:
    server = serve()
    assert server.said.startswith("serving http://127.0.0.1:")
    assert server.ask("GET", "/readyz") == (200, {"status": "ok", "reason": ""})
    assert server.ask("POST", "/v1/evaluations", {"id": "a", "prompt": "?", "response": "**Analyse** : oui"})[0] == 202
    end = time.monotonic() + PATIENCE
    while server.ask("GET", "/v1/evaluations/a")[1]["state"] != "evaluated":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert server.ask("GET", "/v1/evaluations/a")[1]["quality_score"]["format"] == 4.0
    stopped = server.end()
    warned, said = stopped.err.splitlines()  # a criterion at its floor is logged as an alert
    assert (stopped.code, stopped.out, said) == (0, "", "stopped: nothing is left to evaluate")
    assert "WARNING areopage.monitor.evaluate: " in warned


@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)])
def test_ctrl_c_and_a_second_signal_end_it_without_a_traceback(
    serve: Callable[..., Running], signals: tuple[signal.Signals, ...]
) -> None:
    stopped = serve().end(*signals)
    assert (stopped.code, stopped.err) == (0, "stopped: nothing is left to evaluate\n")


def test_without_a_worker_what_is_left_is_said_and_kept(serve: Callable[..., Running], command: Command) -> None:
    server = serve("--no-worker")
    server.ask("POST", "/v1/evaluations", {"items": [{"prompt": "?", "response": "!"}] * 3})
    assert server.end().err == "stopped: 3 answers wait to be evaluated; kept in the ledger\n"
    ledger = ledger_of(command)
    assert Evaluations(ledger).backlog().waiting == 3
    ledger.close()


def test_a_request_that_is_under_way_is_finished(serve: Callable[..., Running], command: Command) -> None:
    server = serve("--no-worker")
    body = b'{"id": "late", "prompt": "?", "response": "!"}'
    head = f"POST /v1/evaluations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + b"\r\n\r\n" + body[:10])
        server.ask("GET", "/healthz")  # the request before it has been read by now
        server.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionError):
            while True:  # until nobody is let in any more
                socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE).close()
        connection.sendall(body[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 202 ")
    assert ended(server.process).code == 0
    ledger = ledger_of(command)
    assert Evaluations(ledger).get("late") is not None
    ledger.close()


def test_keys_made_while_it_runs_close_it_to_others(serve: Callable[..., Running], command: Command) -> None:
    server = serve("--no-worker")
    assert server.ask("GET", "/v1/evaluations")[0] == 200
    key = command("keys", "create", "Ada", "--role", "read").out.strip()
    end = time.monotonic() + PATIENCE
    while server.ask("GET", "/v1/evaluations")[0] != 401:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert server.ask("GET", "/v1/evaluations", key=key)[0] == 200


# --- what the user can mend


def test_a_taken_port_is_one_line(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = command("serve", "--port", str(port)).refused()
    assert line == f"cannot listen on 127.0.0.1:{port}: address already in use: choose another --port or --host"


def test_an_address_of_another_computer_is_one_line(command: Command) -> None:
    command("keys", "create", "Ada", "--role", "admin")
    assert command("serve", "--host", "192.0.2.1", "--port", "0").refused().startswith("cannot listen on 192.0.2.1:0: ")
    assert command("serve", "--host", "no.such.host.invalid", "--port", "0").refused().startswith("cannot listen on ")


def test_without_keys_it_listens_to_nobody_else(command: Command, serve: Callable[..., Running]) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        line = command("serve", "--host", host, "--port", "0").refused()
        assert "areopage keys create" in line
    command("keys", "create", "Ada", "--role", "admin")
    process = command.begin("serve", "--port", "0", "--host", "0.0.0.0", "--no-worker")
    assert process.stderr.readline().startswith("serving http://0.0.0.0:")
    process.terminate()
    assert ended(process).code == 0


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("server: {prot: 1}\n", "prot"),
        ("monitor: {suite: nowhere}\n", "nowhere"),
        ('monitor: {judges: ["nowhere:x"]}\n', "nowhere"),
        ('monitor: {judges: ["rules:nowhere"]}\n', "nowhere"),
        ('monitor: {alerts: {urls: ["env:NOT_SET"]}, language: xx}\n', "xx"),
    ],
)
def test_a_wrong_configuration_is_one_line(command: Command, config: str, said: str) -> None:
    (command.folder / "areopage.yml").write_text(config, encoding="utf-8")
    assert said in command.process("serve", "--port", "0").refused()


def test_without_the_extra_it_says_what_to_install(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.cli.server.find_spec", lambda _: None)
    assert command("serve").refused() == 'areopage serve needs an extra: pip install "areopage[server]"'


def test_the_help_of_other_commands_does_not_load_the_server() -> None:
    heavy = ("fastapi", "uvicorn", "sqlalchemy", "dbos", "pydantic")
    code = f"import sys, areopage.cli.main; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- keys


def test_a_key_is_shown_once_and_kept_as_a_hash(command: Command) -> None:
    with ledger_of(command):
        assert command("keys", "list").out.startswith("no keys: ")
    made = command("keys", "create", "Zoë's bot", "--role", "write")
    key = made.out.strip()
    assert key.startswith("areo_") and len(key) > 40
    assert key not in made.err and "not be shown again" in made.err
    assert key.encode() not in b"".join(file.read_bytes() for file in command.outputs.glob("ledger.db*"))
    listed = command("keys", "list").out
    assert key not in listed
    id, role, _, state, name = listed.strip().split(maxsplit=4)
    assert (role, state, name) == ("write", "valid", "Zoë's bot")
    assert command("keys", "revoke", id).out == f"revoked: {id}\n"
    assert "revoked 20" in command("keys", "list").out
    ledger = ledger_of(command)
    assert ApiKeys(ledger).find(key) is None
    assert [(one.action, one.subject) for one in Audit(ledger).list()] == [("key_revoke", id), ("key_create", id)]
    ledger.close()


def test_two_keys_of_one_name_are_refused_on_one_line(command: Command) -> None:
    assert command("keys", "create", "Ada", "--role", "ingest", "--source", "helpdesk").code == 0
    assert "'Ada'" in command("keys", "create", "Ada", "--role", "admin").refused()
    assert command("keys", "list").out.strip().endswith("valid  Ada  (only helpdesk)")


def test_what_a_server_and_its_worker_write_is_for_their_owner_alone(serve: Callable[..., Running], command: Command) -> None:
    before = os.umask(0o022)
    try:
        server = serve()
    finally:
        os.umask(before)
    assert server.ask("POST", "/v1/evaluations", {"id": "a", "prompt": "?", "response": "oui"})[0] == 202
    end = time.monotonic() + PATIENCE
    while server.ask("GET", "/v1/evaluations/a")[1]["state"] != "evaluated":
        assert time.monotonic() < end
        time.sleep(0.05)
    written = {one.name: stat.S_IMODE(one.stat().st_mode) for one in command.outputs.rglob("*")}
    assert {"ledger.db", "ledger.db-wal", "ledger.db.queue.db"} <= written.keys()
    assert [name for name, mode in written.items() if mode & 0o077] == []
    assert stat.S_IMODE(command.outputs.stat().st_mode) == 0o700
    server.end()


def test_mistakes_about_keys_are_one_line(command: Command, tmp_path: Path) -> None:
    assert "use one of ingest, ask, read, write, admin" in command("keys", "create", "Ada", "--role", "root").refused()
    assert "NAME" in command("keys", "create", " ", "--role", "read").refused()
    assert "NAME" in command("keys", "create", "a\nb", "--role", "read").refused()
    assert "there is no ledger" in command("keys", "list").refused()
    command("keys", "create", "Ada", "--role", "read")
    assert "there is no valid key" in command("keys", "revoke", "none").refused()
