"""The files of deploy/: units that systemd accepts, services that fit together, commands and options that exist."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.app.config import load_config
from servers import PATIENCE
from servers.examples import command_of

DEPLOY = Path(__file__).parents[2] / "deploy"
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
    assert services["db"]["environment"]["POSTGRES_PASSWORD"] == services["worker"]["environment"]["PGPASSWORD"]


def test_the_commands_in_the_files_heads_exist() -> None:
    found = re.findall(r"exec server areopage (.+)$", (DEPLOY / "compose.yml").read_text(), re.MULTILINE)
    assert [command_of(shlex.split(words)) for words in found] == ["keys create"]


def test_the_configuration_of_compose_is_read() -> None:
    config = load_config(DEPLOY / "areopage.yml")
    assert config.ledger == "postgresql://areopage@db/areopage"
    assert config.section.endpoints["lab"].concurrency == 4


@pytest.mark.skipif("compose" not in os.environ.get("AREOPAGE_REQUIRE", ""), reason="needs docker compose")
def test_docker_compose_accepts_the_file() -> None:
    environment = os.environ | {"POSTGRES_PASSWORD": "x"}
    command = ["docker", "compose", "--file", str(DEPLOY / "compose.yml"), "config", "--quiet"]
    subprocess.run(command, env=environment, timeout=PATIENCE, check=True)
