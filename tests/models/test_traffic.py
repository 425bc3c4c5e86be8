"""What the models of one server share."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from areopage.errors import ConfigError
from areopage.models.http import JsonServer
from areopage.models.port import Message
from areopage.models.rate_headers import Allowance
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings
from areopage.models.traffic import Traffic
from areopage.suites.loader import load_suite
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

ASK = (Message("user", "hello"),)
ONE, OTHER = (ModelReference.parse(f"openai@lab:{name}") for name in ("fake-a", "fake-b"))


def settings_of(server: FakeServer, **limits: float) -> ModelSettings:
    return ModelSettings(endpoints={"lab": Endpoint(provider="openai", base_url=server.openai_url, **limits)})  # type: ignore[arg-type]


def check_open(traffic: Traffic, count: int, **limits: float) -> None:
    """Of four calls by two models of a server that holds its answers back, so many are open."""

    async def run(server: FakeServer) -> None:
        settings = settings_of(server, **limits)
        models = [traffic.open(reference, settings) for reference in (ONE, OTHER)]
        server.faults.hold = True
        calls = [asyncio.create_task(model.generate(ASK, {})) for model in models for _ in range(2)]
        while len(server.calls) < count:  # noqa: ASYNC110 - another thread counts
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert len(server.calls) == count
        server.faults.hold = False
        await asyncio.gather(*calls)
        for model in models:
            await model.aclose()

    with FakeServer() as server:
        asyncio.run(run(server))


def test_the_models_of_an_endpoint_share_its_concurrency() -> None:
    check_open(Traffic(), 1, concurrency=1)


def test_no_more_calls_are_open_to_a_server_than_the_caller_wants() -> None:
    check_open(Traffic(at_once=2), 2)


def test_the_models_of_an_endpoint_share_its_requests_a_minute_in_every_event_loop() -> None:
    traffic = Traffic()

    async def moment(server: FakeServer, reference: ModelReference) -> float:
        model = traffic.open(reference, settings_of(server, requests_per_minute=60))
        return model.pacer.reserve(0.0, 0.0)

    with FakeServer() as server:
        assert [asyncio.run(moment(server, reference)) for reference in (ONE, OTHER, ONE)] == [0.0, 1.0, 2.0]


def test_tokens_that_the_server_counts_take_the_place_of_the_estimate() -> None:
    async def run(server: FakeServer) -> float:
        model = Traffic().open(ONE, settings_of(server, tokens_per_minute=60))
        server.prompt_tokens = 500
        completion = await model.generate(ASK, {})
        await model.aclose()
        return model.pacer.reserve(0.0, 0.0) - (500 + (completion.completion_tokens or 0))

    with FakeServer() as server:
        assert asyncio.run(run(server)) > 0.0  # a token a second, from the moment of the call on


def test_what_an_answer_says_of_the_servers_limits_is_told_once() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(1, headers={"X-RateLimit-Remaining-Requests": "2", "X-RateLimit-Reset-Requests": "20ms"})

    async def run() -> None:
        application = web.Application()
        application.router.add_get("/x", answer)
        async with TestServer(application) as served:
            server = JsonServer(str(served.make_url("")))
            await server.get("/x", int)
            assert server.allowances() == (Allowance(kind="requests", left=2, seconds=0.02),)
            assert server.allowances() == ()
            await server.aclose()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("key", "value"), [("concurrency", 0), ("concurrency", 2.5), ("requests_per_minute", 0), ("tokens_per_minute", "many")]
)
def test_a_limit_that_is_none_is_named(tmp_path: Path, key: str, value: object) -> None:
    suite = write_suite(tmp_path, endpoints={"lab": {"base_url": "http://lab/v1", key: value}})
    with pytest.raises(ConfigError, match=rf"config\.yml:\d+: .*endpoints\.lab\.{key}|endpoints\.lab\.{key}"):
        load_suite(str(suite))
