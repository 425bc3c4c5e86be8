"""As many calls at once as a server has slots, where it tells and the user does not."""

import asyncio
from pathlib import Path

import pytest

from areopage.bench.execution.start import prepare_benchmark
from areopage.bench.options import RunOptions
from areopage.models.openai import open_model
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from servers.fake_llm import FakeServer
from servers.small_suite import write_cases, write_suite


@pytest.mark.parametrize(("slots", "told"), [(3, 3), (0, None), (-1, None), (5000, None)])
def test_the_slots_of_a_server_are_found_where_it_tells(slots: int, told: int | None) -> None:
    async def run(server: FakeServer) -> tuple[int | None, int | None]:
        model = open_model(
            ModelReference.parse("openai:fake-a"), ModelSettings(environment={"OPENAI_BASE_URL": server.openai_url})
        )
        found = await model.check()
        await model.aclose()
        return found.slots, model.max_concurrency

    with FakeServer(slots=slots) as server:
        assert asyncio.run(run(server)) == (told, told)


@pytest.mark.parametrize(("slots", "given", "made"), [(3, None, 3), (16, None, 16), (3, 7, 7), (0, None, 4)])
def test_a_run_follows_the_slots_unless_the_user_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slots: int, given: int | None, made: int
) -> None:
    suite = write_suite(tmp_path / "suite")
    dataset = write_cases(tmp_path / "answered.csv", [{"prompt": "Why?", "response": "Because."}])
    with FakeServer(slots=slots) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        wishes = RunOptions(datasets=(dataset,), judges=("x=openai:fake-a",), concurrency=given)
        assert prepare_benchmark(str(suite), wishes).spec.concurrency == made


def test_a_server_that_does_not_tell_leaves_the_configured_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = write_suite(tmp_path / "suite")
    dataset = write_cases(tmp_path / "answered.csv", [{"prompt": "Why?", "response": "Because."}])
    with FakeServer(slots=2) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        wishes = RunOptions(datasets=(dataset,), judges=("x=openai:fake-a", "y=ollama:fake-b"))
        assert prepare_benchmark(str(suite), wishes).spec.concurrency == 4
