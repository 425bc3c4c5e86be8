"""`--min-coverage`: too little judged is exit code 3, with the report written; the four limits of a call are the user's."""

from pathlib import Path

import pytest
import yaml

from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import prepare_run
from areopage.errors import ConfigError
from areopage.models.settings import Timeouts
from areopage.suites.config_file import SharedSections
from areopage.suites.loader import load_suite
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_config


def test_under_the_least_coverage_a_run_is_inconclusive_and_its_report_is_written(
    command: Command, server: FakeServer, suite: Path
) -> None:
    verdict = {"score": 5, "explanation": "It is kind.", "evidence_extracts": []}
    server.judge = lambda call: "no verdict" if "warmth" in call.system and call.model == "fake-a" else verdict
    run = ("bench", "run", "--suite", suite, "--yes", "--passes", "1")
    ended = command(*run)  # one judge of two fails on one criterion of four: 35 of 40
    assert ended.code == 3, ended.err
    assert "inconclusive: coverage 87.5% is below 95% (--min-coverage)" in ended.err
    (folder,) = command.run_folders()
    assert (folder / "report.html").is_file() and (folder / "results.json").is_file()
    calls = len(server.verdict_calls)
    enough = command(*run, "--min-coverage", "0.85")
    assert enough.code == 0, enough.err
    assert len(server.verdict_calls) == calls
    assert "--min-coverage" in command(*run, "--min-coverage", "1.5").err


def test_the_four_limits_of_a_call_are_set_in_the_suite_and_over_it_in_the_configuration(suite: Path) -> None:
    def timeouts(**shared: float) -> Timeouts:
        own = SharedSections.model_validate({"timeouts": shared})
        return prepare_run(load_suite(str(suite)).with_shared(own), RunOptions()).spec.settings.timeouts

    write_config(suite, execution={"pool_timeout": 1, "connect_timeout": 2, "read_timeout": 3, "call_timeout": 4})
    assert timeouts() == Timeouts(pool=1, connect=2, read=3, total=4)
    assert timeouts(pool=10, connect=20, read=30, total=40) == Timeouts(pool=10, connect=20, read=30, total=40)
    assert timeouts(total=40) == Timeouts(pool=1, connect=2, read=40, total=40)
    write_config(suite, execution={"call_timeout": 4})
    assert timeouts() == Timeouts(pool=60, connect=5, read=4, total=4)


def test_a_limit_that_is_none_is_refused_with_its_line(command: Command, suite: Path, tmp_path: Path) -> None:
    (command.folder / "areopage.yml").write_text(yaml.safe_dump({"timeouts": {"pool": 0}}), encoding="utf-8")
    message = command("bench", "plan", suite).refused()
    assert "areopage.yml:2: timeouts.pool:" in message and "greater than 0" in message
    (command.folder / "areopage.yml").write_text(yaml.safe_dump({"timeouts": {"conect": 1}}), encoding="utf-8")
    assert "use one of connect, pool, read, total" in command("bench", "plan", suite).refused()
    write_config(suite, execution={"read_timeout": -1})
    with pytest.raises(ConfigError, match=r"execution\.read_timeout"):
        load_suite(str(suite))
