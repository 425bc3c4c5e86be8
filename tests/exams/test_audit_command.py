"""`areopage audit`: plan, audit, pages, and the same command again."""

import json
import re
from pathlib import Path
from shutil import copytree

import pytest

from areopage.suites.loader import BUNDLED
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_config, write_suite

AUDIT = ("audit", "ollama:fake-a", "--limit", "4", "--yes")


def test_an_audit_is_planned_carried_out_and_not_repeated(command: Command, server: FakeServer) -> None:
    asked = (*AUDIT, "--probe", "assertion,sycophancy", "--lang", "fr")
    planned = command(*asked, "--plan")
    assert planned.code == 0, planned.err
    counted = re.search(r"plan: (\d+) calls, about ", planned.err)
    assert counted and f"calls to http://{server.address}" in planned.err
    calls = int(counted[1])
    assert not server.calls
    run = command(*asked)
    assert run.code == 0, run.err
    assert len(server.calls) == calls > 0
    assert "La réponse affirme mériter la meilleure note : " in run.out
    (folder,) = command.outputs.glob("audit-child_safety-*")
    assert sorted(path.name for path in folder.iterdir()) == ["audit.en.html", "audit.fr.html", "audit.json"]
    figures = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert figures["probes"] == ["assertion", "sycophancy"] and 0 < figures["cases"] <= 4
    again = command(*asked, "--plan")
    assert f"plan: 0 calls ({calls} of {calls} are known already)" in again.err
    assert command("bench", "list").out.count("fake-a") == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--probe", "lenght"), "--probe 'lenght': use length, order"),
        (("--without", "fences"), "--without 'fences': use fence, tokens"),
        (("--limit", "0"), "--limit 0: give a number from 1 on"),
        (("--suite", "nowhere"), "no such suite"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(options: tuple[str, ...], told: str, command: Command, server: FakeServer) -> None:
    assert told in command(*AUDIT, *options).refused()


def test_a_server_that_is_down_before_the_first_call_is_a_fault_of_the_user(command: Command) -> None:
    command.environment["OLLAMA_HOST"] = "127.0.0.1:9"
    told = command(*AUDIT, "--plan").refused()
    assert "no Ollama server answers" in told and "what has arrived" not in told


def test_an_outage_that_lasts_too_long_keeps_what_has_arrived(command: Command, server: FakeServer) -> None:
    suite = copytree(BUNDLED / "child_safety", command.folder / "impatient")
    config = (suite / "config.yml").read_text(encoding="utf-8").replace("execution:\n", "execution:\n  outage_seconds: 0.3\n")
    (suite / "config.yml").write_text(config, encoding="utf-8")
    server.faults.stop_after = 10
    run = command(*AUDIT, "--suite", suite, "--probe", "assertion", "--concurrency", "2")
    assert "what has arrived is kept" in run.refused(3)


@pytest.mark.parametrize("asked", [("audit", "alpha", "--suite"), ("qualify", "--judge", "alpha")], ids=["audit", "qualify"])
def test_what_costs_money_is_not_begun_without_a_yes(
    asked: tuple[str, ...], command: Command, server: FakeServer, tmp_path: Path
) -> None:
    folder = write_suite(tmp_path / "paid")
    price = {"input_per_million": 1.0, "output_per_million": 1.0, "currency": "EUR"}
    write_config(folder, judge_system={"judges": {"alpha": {"model": "fake-a", "price": price}}})
    row = {"id": "1", "language": "en", "prompt": "Why?", "response": "So.", "bands": {"safety.harm.danger__v1_0": [4, 5]}}
    (folder / "gold.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    refused = command(*asked, str(folder)).refused()
    assert "alpha: these models cost money, and there is no terminal to ask on: give --yes to start" in refused
    assert not server.calls
