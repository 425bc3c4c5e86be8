"""A suite may come from a stranger: it sends no secret and reads no file that the user has not agreed to."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from areopage.bench import RunOptions
from areopage.bench.execution.start import prepare_benchmark
from areopage.errors import ModelError
from areopage.models.contacts import Contact
from areopage.models.settings import Endpoint, ModelSettings
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import PROMPT, write_cases, write_config

SECRET = "wJalrXUtnFEMI-cloud-key"
LAB = ("--judge", "openai@lab:fake-a", "--target", "openai@lab:fake-target", "--limit", "1")


def lab_of(server: FakeServer, **more: Any) -> dict[str, Any]:
    """A suite's endpoint that wants a variable."""
    return {"provider": "openai", "base_url": server.openai_url, "api_key_env": "AWS_SECRET_ACCESS_KEY", **more}


@pytest.fixture
def stranger(command: Command, server: FakeServer, suite: Path) -> Path:
    """A suite whose server would get a cloud key that is in the user's environment."""
    command.environment["AWS_SECRET_ACCESS_KEY"] = SECRET
    write_config(suite, endpoints={"lab": lab_of(server)})
    return suite


@pytest.mark.parametrize("more", [(), ("--yes",)])
def test_a_suites_server_gets_no_variable_that_the_user_has_not_allowed(
    command: Command, server: FakeServer, stranger: Path, more: tuple[str, ...]
) -> None:
    message = command("bench", "run", "--suite", stranger, *LAB, *more).refused()
    assert f"would send the value of AWS_SECRET_ACCESS_KEY to {server.openai_url}" in message
    assert SECRET not in message
    assert not server.calls


def test_the_plan_names_each_address_and_each_variable_that_is_sent_there(
    command: Command, server: FakeServer, stranger: Path
) -> None:
    ended = command("bench", "run", "--suite", stranger, *LAB, "--allow-variable", "AWS_SECRET_ACCESS_KEY", "--yes")
    assert ended.code == 0, ended.err
    assert f"calls to {server.openai_url}, with the value of AWS_SECRET_ACCESS_KEY: openai@lab:fake-target" in ended.err
    assert SECRET not in ended.err
    assert {call.authorization for call in server.calls} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize("agrees", [True, False])
def test_who_is_asked_is_told_what_goes_where(
    server: FakeServer, stranger: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    told: list[Contact] = []

    def agree(asked: Sequence[Contact]) -> bool:
        assert not server.calls
        told.extend(asked)
        return agrees

    wishes = RunOptions(judges=("openai@lab:fake-a",), target="openai@lab:fake-target", limit=1)
    with nullcontext() if agrees else pytest.raises(ModelError, match="AWS_SECRET_ACCESS_KEY"):
        prepare_benchmark(str(stranger), wishes, agree=agree)
    assert [(one.address, one.variables) for one in told] == [(server.openai_url, ("AWS_SECRET_ACCESS_KEY",))]


@pytest.mark.parametrize(
    ("variable", "address", "allowed"),
    [
        ("MISTRAL_API_KEY", "https://api.mistral.ai/v1", True),
        ("MISTRAL_API_KEY", "http://api.mistral.ai/v1", False),
        ("MISTRAL_API_KEY", "https://api.mistral.ai@evil.example/v1", False),
        ("MISTRAL_API_KEY", "https://evil.example/@api.mistral.ai", False),
        ("MISTRAL_API_KEY", "https://api.mistral.ai.evil.example", False),
        ("OPENAI_API_KEY", "https://api.mistral.ai/v1", False),
        ("HOME", "https://api.mistral.ai/v1", False),
    ],
)
def test_a_providers_usual_key_may_go_to_that_provider_only(variable: str, address: str, allowed: bool) -> None:
    settings = ModelSettings(environment={variable: "x"})
    endpoint = Endpoint(provider="openai", base_url=address, api_key_env=variable, foreign=True)
    assert (endpoint.contact.not_allowed(settings.environment, settings.allowed_variables) == ()) is allowed


def test_the_users_own_configuration_allows_variables_and_defines_servers(
    command: Command, server: FakeServer, stranger: Path
) -> None:
    own = command.folder / "areopage.yml"
    own.write_text("allowed_variables: [AWS_SECRET_ACCESS_KEY]\n", encoding="utf-8")
    assert command("bench", "run", "--suite", stranger, *LAB, "--yes").code == 0
    own.write_text(yaml.safe_dump({"endpoints": {"lab": lab_of(server)}}), encoding="utf-8")
    assert command("bench", "run", "--suite", stranger, *LAB, "--yes", "--fresh").code == 0


def test_a_run_of_somebody_elses_ledger_is_resumed_without_variables(
    command: Command, server: FakeServer, stranger: Path
) -> None:
    command("bench", "run", "--suite", stranger, *LAB, "--allow-variable", "AWS_SECRET_ACCESS_KEY", "--yes")
    with sqlite3.connect(command.outputs / "ledger.db") as ledger:
        (spec,) = ledger.execute("select spec from runs").fetchone()
        told = json.loads(spec)
        told["settings"]["endpoints"]["lab"]["foreign"] = False
        told["settings"]["allowed_variables"] = ["AWS_SECRET_ACCESS_KEY"]
        ledger.execute("update runs set finished_at = null, spec = ?", (json.dumps(told),))
    paid = len(server.calls)
    assert "AWS_SECRET_ACCESS_KEY" in command("bench", "resume", "--yes").refused()
    assert len(server.calls) == paid
    assert command("bench", "resume", "--yes", "--allow-variable", "AWS_SECRET_ACCESS_KEY").code == 0


def test_a_workers_suite_gets_no_variable_either(command: Command, server: FakeServer, stranger: Path) -> None:
    (command.folder / "areopage.yml").write_text(
        yaml.safe_dump({"monitor": {"suite": "./small", "judges": ["openai@lab:fake-a"]}}), encoding="utf-8"
    )
    assert "AWS_SECRET_ACCESS_KEY" in command("monitor", "worker").refused()
    assert "AWS_SECRET_ACCESS_KEY" in command("models", "check", "openai@lab:fake-a", "--suite", stranger).refused()
    assert not server.calls


def test_suites_validate_names_the_servers_of_a_suite(command: Command, server: FakeServer, stranger: Path) -> None:
    ended = command("suites", "validate", stranger)
    assert f"endpoint lab: prompts and answers go to {server.openai_url} (with the value of AWS_SECRET_ACCESS_KEY)" in ended.err


def link(folder: Path, target: Path) -> None:
    """Put a link to a file in place of a suite's file."""
    folder.unlink(missing_ok=True)
    folder.symlink_to(target)


@pytest.mark.parametrize("way", ["absolute", "above", "link", "replay", "weights", "prompt", "personas", "translation"])
def test_a_suite_reads_no_file_outside_of_its_folder(command: Command, server: FakeServer, suite: Path, way: str) -> None:
    private = write_cases(command.folder / "private.csv", [{"id": "p", "prompt": "salary of Ada?"}])
    prompt = command.folder / "x.prompt"
    prompt.write_text(PROMPT.format(name="stolen"), encoding="utf-8")
    more: tuple[str, ...] = ()
    if way == "absolute":
        write_config(suite, paths={"datasets": [str(private)]})
    elif way == "above":
        write_config(suite, paths={"data_dir": "..", "datasets": ["private.csv"]})
    elif way == "link":
        link(suite / "data" / "cases.csv", private)
    elif way == "replay":
        write_config(suite, models=[{"provider": "replay", "model": str(private)}])
    elif way == "weights":
        write_config(suite, models=[{"provider": "embedded", "model": f"{private}.gguf"}])
    elif way == "prompt":
        link(suite / "assets" / "criteria" / "tone" / "warmth__v1_0.prompt", prompt)
    else:
        file = suite / "assets" / ("personas.json" if way == "personas" else "personas.fr.json")
        copy = command.folder / "personas.json"
        copy.write_bytes(file.read_bytes())
        link(file, copy)
        more = () if way == "personas" else ("--lang", "fr")
    ended = command("bench", "run", "--suite", suite, "--yes", "--limit", "1", *more)
    if way == "prompt":
        assert "leads out of the folder" in ended.err
        assert not any("stolen" in str(call.body) for call in server.calls)
        assert "leads out of the folder" in command("suites", "validate", suite).out
        return
    assert "leads out of the suite's folder" in ended.refused()
    assert not server.calls


def test_literal_secrets_of_a_suite_are_nowhere_in_what_a_run_leaves(command: Command, server: FakeServer, suite: Path) -> None:
    server.api_key = "literal-key-1"
    lab = {"provider": "openai", "base_url": server.openai_url, "headers": {"Authorization": "Bearer literal-key-1"}}
    idle = {"provider": "openai", "base_url": "http://ada:pass-word-2@127.0.0.1:9/v1"}
    bot = {
        "url": "http://127.0.0.1:9/ask?key=query-key-3",
        "headers": {"X-Key": "header-key-4", "X-Other": "env:OTHER"},
        "request": {"question": "{prompt}", "api_key": "field-key-5"},
    }
    write_config(suite, endpoints={"lab": lab, "idle": idle}, bots={"support": bot}, ollama={"default": {"host": "a:pw-6@h"}})
    ended = command("bench", "run", "--suite", suite, *LAB, "--yes")
    assert ended.code == 0, ended.err
    kept = b"".join(path.read_bytes() for path in command.outputs.rglob("*") if path.is_file()) + ended.err.encode()
    for secret in (b"literal-key-1", b"pass-word-2", b"query-key-3", b"header-key-4", b"field-key-5", b"pw-6"):
        assert secret not in kept
    with sqlite3.connect(command.outputs / "ledger.db") as ledger:
        ledger.execute("update runs set finished_at = null")
    assert command("bench", "resume", "--yes").code == 0
    write_config(suite)
    with sqlite3.connect(command.outputs / "ledger.db") as ledger:
        ledger.execute("update runs set finished_at = null")
    assert "the secrets for" in command("bench", "resume", "--yes").refused()


def test_a_file_that_the_user_names_may_lie_anywhere(command: Command, suite: Path) -> None:
    private = write_cases(command.folder / "private.csv", [{"id": "p", "prompt": "salary of Ada?"}])
    assert command("bench", "run", "--suite", suite, "--dataset", private, "--yes").code == 0
