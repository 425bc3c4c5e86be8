"""Processes with one ledger keep a server's stated limits together; each has its own traffic, as here."""

import asyncio

import pytest

from areopage.ledger.store import Ledger
from areopage.ledger.write.shares import EndpointShares
from areopage.models.limits import Pacer
from areopage.models.port import Message
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings
from areopage.models.traffic import Traffic
from areopage.work.shared_limits import SharedLimits, server_name
from servers.fake_llm import FakeServer

CALLS = 8
MODEL = ModelReference.parse("openai@lab:fake-a")


def settings_of(server: FakeServer, limit: int = 3) -> ModelSettings:
    return ModelSettings(endpoints={"lab": Endpoint(provider="openai", base_url=server.openai_url, concurrency=limit)})


async def ask(ledger: Ledger, settings: ModelSettings, name: str) -> None:
    """What one process does."""
    traffic = Traffic()
    async with SharedLimits(ledger, traffic):
        model = traffic.open(MODEL, settings)
        try:
            calls = (model.generate([Message("user", f"{name} {number}")], {}) for number in range(CALLS))
            await asyncio.gather(*calls)
        finally:
            await model.aclose()


def test_calls_of_all_processes_stay_within_the_limit_of_their_server(ledger: Ledger, server: FakeServer) -> None:
    server.latency = 0.02

    async def both() -> None:
        await asyncio.gather(*(ask(ledger, settings_of(server), name) for name in ("one", "other")))

    asyncio.run(both())
    assert server.answered == 2 * CALLS
    assert server.most_open <= 3


def test_a_server_whose_slots_others_hold_is_called_once_they_are_silent(
    ledger: Ledger, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = server_name("lab", server.openai_url)
    EndpointShares(ledger).renew(name, "another", limit=3, wanted=9, in_use=0)

    async def waits() -> None:
        asking = asyncio.create_task(ask(ledger, settings_of(server), "me"))
        await asyncio.wait([asking], timeout=0.3)
        assert not server.calls
        monkeypatch.setattr(EndpointShares, "silence", -1.0)
        await asking

    asyncio.run(waits())
    assert server.answered == CALLS


def test_a_process_is_paced_by_its_part_of_the_limits_of_a_minute() -> None:
    pacer = Pacer(requests_per_minute=60)
    assert [pacer.reserve(0, 0.0) for _ in range(3)] == [0.0, 1.0, 2.0]
    pacer.limit_to(0.5)
    assert [pacer.reserve(0, 0.0) for _ in range(3)] == [3.0, 5.0, 7.0]


def test_an_address_of_the_computer_itself_is_another_server_on_each_computer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosted = server_name("lab", "https://lab.example.org/v1")
    own = server_name("gpu", "http://localhost:8000/v1")
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    assert server_name("lab", "https://lab.example.org/v1") == hosted
    assert server_name("gpu", "http://localhost:8000/v1") != own
