"""The files of deploy/: units that systemd accepts, services that fit together, commands and options that exist."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.app.config import load_config
from areopage.ledger.store import Ledger
from areopage.ledger.write.operations import Workers
from servers import PATIENCE
from servers.examples import command_of
from servers.monitored import wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
ENTRYPOINT = DEPLOY / "entrypoint.sh"
UNITS = sorted(DEPLOY.glob("*.service"))
INSTALLED = "/opt/areopage/bin/areopage"


def compose() -> dict[str, Any]:
    text = (DEPLOY / "compose.yml").read_text(encoding="utf-8")
    return msgspec.yaml.decode(text)  # type: ignore[no-any-return]


@pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])
def test_a_unit_starts_a_command_that_exists(unit: Path) -> None:
    (started,) = re.findall(r"^ExecStart=(.+)$", unit.read_text(), re.MULTILINE)
    program, *words = shlex.split(started.replace("%i", "01"))
    assert program == INSTALLED
    assert command_of(words) == ("worker" if "worker" in unit.name else "serve")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])
def test_systemd_accepts_a_unit(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace(INSTALLED, sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert unit.stem.replace("@", "@i") not in done.stderr, done.stderr
    assert "Unknown key" not in done.stderr


def test_a_worker_has_time_to_finish_its_calls_before_it_is_killed() -> None:
    unit = (DEPLOY / "areopage-worker@.service").read_text()
    (grace,), (stop,) = re.findall(r"--grace (\d+)", unit), re.findall(r"TimeoutStopSec=(\d+)", unit)
    assert int(grace) < int(stop)
    worker = compose()["services"]["worker"]
    assert float(worker["command"][worker["command"].index("--grace") + 1]) < float(worker["stop_grace_period"].rstrip("s"))


def test_the_services_of_compose_fit_together() -> None:
    file = compose()
    services = file["services"]
    assert set(services) == {"db", "server", "worker"}
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        named = [str(volume).partition(":")[0] for volume in service["volumes"]]
        assert {name for name in named if "/" not in name} <= set(file["volumes"])
        assert all((DEPLOY / name).exists() for name in named if name.startswith("./"))
    for name in ("server", "worker"):
        assert command_of(services[name]["command"]).split()[0] in ("serve", "worker")
        assert (DEPLOY / services[name]["build"]["context"] / services[name]["build"]["dockerfile"]).is_file()
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
    (secret,) = file["secrets"]
    assert services["db"]["environment"]["POSTGRES_PASSWORD_FILE"] == f"/run/secrets/{secret}"
    assert services["worker"]["environment"]["PGPASSWORD_FILE"] == f"/run/secrets/{secret}"
    assert all(service["secrets"] == [secret] for service in services.values())
    assert all("healthcheck" in services[name] for name in ("db", "server"))


@pytest.mark.parametrize("name", ["server", "worker"])
def test_a_container_runs_without_rights_and_writes_in_its_volume_and_temporary_folder_alone(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and "no-new-privileges:true" in service["security_opt"]
    assert service["tmpfs"] == ["/tmp"] and "privileged" not in service and "user" not in service
    writable = [volume for volume in service["volumes"] if not volume.endswith(":ro")]
    assert writable == ["state:/var/lib/areopage"]
    (home,) = re.findall(r"--home-dir (\S+)", DOCKERFILE.read_text())
    assert writable[0].endswith(f":{home}"), "a new volume takes the owner of the image's folder"


def test_the_image_is_built_in_two_stages_and_its_user_is_a_number() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE.read_text(), flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    last = stages[1]
    assert re.findall(r"^USER (.+)$", last, re.MULTILINE) == ["10001:10001"]
    assert not re.search(r"\b(pip|apt-get|gcc|curl)\b", last), "nothing is installed or built in the last stage"
    assert "--from=build" in last and 'ENTRYPOINT ["areopage-entrypoint"]' in last


def test_the_build_sees_only_what_the_image_is_made_of() -> None:
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", DOCKERFILE.read_text(), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    ignored = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    assert ignored[1] == "*" and {line[1:] for line in ignored if line.startswith("!")} == names
    assert all((DEPLOY.parent / name).exists() for name in names)


def test_hadolint_accepts_the_dockerfile() -> None:
    program = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([program, "--no-color", DOCKERFILE], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def run_entrypoint(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the entrypoint with a program `areopage` that prints its arguments and secrets."""
    program = folder / "areopage"
    program.write_text('#!/bin/sh\necho "$@" "${PGPASSWORD:-}" "${OPENAI_API_KEY:-}" "${SSL_CERT:-}"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"} | variables
    command = ["sh", str(ENTRYPOINT), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_the_entrypoint_reads_secrets_from_files(tmp_path: Path) -> None:
    (tmp_path / "password").write_text('it\'s $(a) "password"\n')
    files = {"PGPASSWORD_FILE": str(tmp_path / "password"), "SSL_CERT_FILE": str(tmp_path / "password")}
    done = run_entrypoint(tmp_path, "serve", "--no-worker", OPENAI_API_KEY="key", **files)
    assert done.stdout == 'serve --no-worker it\'s $(a) "password" key \n', done.stderr


def test_the_entrypoint_names_a_secret_that_it_cannot_read(tmp_path: Path) -> None:
    done = run_entrypoint(tmp_path, "serve", OPENAI_API_KEY_FILE="/run/secrets/openai")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("areopage: OPENAI_API_KEY_FILE names /run/secrets/openai, which user ")


@pytest.mark.long
def test_server_and_worker_start_as_in_the_containers_and_are_healthy(postgres_ledger: str, tmp_path: Path) -> None:
    config = (DEPLOY / "areopage.yml").read_text()
    port = free_port()
    for old, new in (
        ("postgresql://areopage@db/areopage", postgres_ledger.replace("postgresql+psycopg:", "postgresql:")),
        ("port: 8600", f"port: {port}"),
        ("host: 0.0.0.0", "host: 127.0.0.1"),
        ("/var/lib/areopage", str(tmp_path)),
    ):
        assert old in config
        config = config.replace(old, new)
    (tmp_path / "areopage.yml").write_text(config)
    (tmp_path / "areopage").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m areopage "$@"\n')
    (tmp_path / "areopage").chmod(0o755)
    (tmp_path / "password").write_text("unused")
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "AREOPAGE_CONFIG": str(tmp_path / "areopage.yml"),
        "PGPASSWORD_FILE": str(tmp_path / "password"),
    }
    services = compose()["services"]
    check = [word.replace("8600", str(port)) for word in services["server"]["healthcheck"]["test"][1:]]
    check[0] = sys.executable
    with ExitStack() as stack:
        started = []
        for name in ("server", "worker"):
            command = ["sh", str(ENTRYPOINT), *services[name]["command"]]
            process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
            stack.callback(process.kill)
            started.append(process)
        wait_until(lambda: subprocess.run(check, capture_output=True, timeout=PATIENCE, check=False).returncode == 0)
        assert ready(port)
        with Ledger.open(postgres_ledger) as ledger:
            wait_until(lambda: len(Workers(ledger).list()) == 1)
        for process in started:
            process.terminate()
        ended = [(process.communicate(timeout=PATIENCE)[1], process.returncode) for process in started]
    assert [code for _, code in ended] == [0, 0], ended


def ready(port: int) -> bool:
    """Whether the server says that it is ready, its worker in the other process included."""
    with suppress(urllib.error.URLError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=PATIENCE) as answer:
        return bool(answer.status == 200)
    return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_the_commands_in_the_files_heads_exist() -> None:
    found = re.findall(r"exec server areopage-entrypoint (.+)$", (DEPLOY / "compose.yml").read_text(), re.MULTILINE)
    assert [command_of(shlex.split(words)) for words in found] == ["keys create"]


def test_the_configuration_of_compose_is_read() -> None:
    config = load_config(DEPLOY / "areopage.yml")
    assert config.ledger == "postgresql://areopage@db/areopage"
    assert config.section.endpoints["lab"].concurrency == 4


@pytest.mark.skipif("compose" not in os.environ.get("AREOPAGE_REQUIRE", ""), reason="needs docker compose")
def test_docker_compose_accepts_the_file() -> None:
    command = ["docker", "compose", "--file", str(DEPLOY / "compose.yml"), "config", "--quiet"]
    subprocess.run(command, timeout=PATIENCE, check=True)
