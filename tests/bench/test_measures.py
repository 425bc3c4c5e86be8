"""What earlier calls tell about a model: bytes for each token, the length of answers, seconds."""

from pathlib import Path

import pytest
from msgspec import structs

from areopage.bench.execution.start import run_benchmark
from areopage.bench.options import RunOptions
from areopage.bench.planning.measures import with_measures
from areopage.bench.planning.prepare import prepare_run
from areopage.ledger.store import Ledger
from areopage.models.window import Gauge
from areopage.suites.loader import load_suite
from servers.fake_llm import FakeServer


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.address)


def test_bytes_for_each_token_are_measured_from_the_prompts_of_stored_calls(
    tmp_path: Path, server: FakeServer, suite: Path
) -> None:
    server.latency = 0.01
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        spec = prepare_run(load_suite(str(suite)), RunOptions()).spec
        gauges = {"ollama:fake-a": Gauge(), "ollama:other": Gauge(stated=100)}
        bare = with_measures(structs.replace(spec, gauges=gauges), ledger)
        assert bare.gauges == gauges  # nothing is known yet
        run_benchmark(str(suite), ledger=ledger, out=tmp_path)
        found = with_measures(bare, ledger).gauges
        gauge = found["ollama:fake-a"]
        # the server counts a token for every four characters of a message, and most texts are ASCII
        assert gauge.calls >= 40 and gauge.bytes_per_token == pytest.approx(4.0, rel=0.02)
        assert found["ollama:other"] == Gauge(stated=100)
        pace = ledger.spending.pace_of("ollama:fake-a")
        assert pace is not None and pace.calls == 40 and pace.seconds >= 0.01 and pace.answer_tokens
        target = ledger.spending.pace_of("ollama:fake-target")
        assert target is not None and target.calls == 5
        assert ledger.spending.pace_of("ollama:other") is None
