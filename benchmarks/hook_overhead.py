"""What the background hook adds to an answer: an ASGI application and a function, with and without it, in turns.

No network: the application is called directly. Times are in milliseconds per answer; `added` is the difference of the quantiles
of the two series, which take turns so that both meet the same machine. One JSON line.
"""

import argparse
import asyncio
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from areopage.monitor.hook.endpoints import AsgiMessage, AsgiReceive, AsgiSend, QualityHook
from areopage.monitor.hook.functions import monitored
from areopage.monitor.hook.spool import Spool

ANSWER = "Analyse : vous achetez un logement. Principe : dix jours. Règle : article L271-1 du CCH. Sources : CCH. " * 15
DOCUMENTS = [{"titre": f"Document {n}", "texte": "L’acquéreur non professionnel peut se rétracter. " * 20} for n in range(5)]
REQUEST = json.dumps({"prompt": "Quel est le délai de rétractation ?"}).encode()
RESPONSE = json.dumps({"response": ANSWER, "documents": DOCUMENTS}).encode()


async def application(scope: Any, receive: AsgiReceive, send: AsgiSend) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    for start in range(0, len(RESPONSE), 4096):
        more = start + 4096 < len(RESPONSE)
        await send({"type": "http.response.body", "body": RESPONSE[start : start + 4096], "more_body": more})


async def ask(app: Callable[..., Awaitable[None]]) -> float:
    async def receive() -> AsgiMessage:
        return {"type": "http.request", "body": REQUEST, "more_body": False}

    async def send(message: AsgiMessage) -> None: ...

    began = time.perf_counter()
    await app({"type": "http", "path": "/chat", "method": "POST", "headers": []}, receive, send)
    return time.perf_counter() - began


def reply(prompt: str, documents: list[dict[str, str]]) -> str:
    return ANSWER


def call(function: Callable[..., str]) -> float:
    began = time.perf_counter()
    function("Quel est le délai de rétractation ?", DOCUMENTS)
    return time.perf_counter() - began


def compared(without: list[float], hooked: list[float]) -> dict[str, dict[str, float]]:
    def quantiles(times: list[float]) -> dict[str, float]:
        cuts = statistics.quantiles(times, n=1000)
        return {"p50": cuts[499] * 1e3, "p99": cuts[989] * 1e3, "p99.9": cuts[998] * 1e3}

    bare, with_hook = quantiles(without), quantiles(hooked)
    rows = {"without": bare, "with": with_hook, "added": {name: with_hook[name] - bare[name] for name in bare}}
    return {row: {name: round(value, 4) for name, value in found.items()} for row, found in rows.items()}


async def measure_middleware(spool: Spool, requests: int) -> dict[str, Any]:
    hook = QualityHook(application, spool, path="/chat")
    without, hooked = [], []
    for _ in range(requests):
        without.append(await ask(application))
        hooked.append(await ask(hook))
    assert hook.counts == {"recorded": requests}
    return compared(without, hooked)


def measure_decorator(spool: Spool, requests: int) -> dict[str, Any]:
    hooked_reply = monitored(spool)(reply)
    without, hooked = [], []
    for _ in range(requests):
        without.append(call(reply))
        hooked.append(call(hooked_reply))
    return compared(without, hooked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    given = parser.parse_args()
    gc.freeze()
    with tempfile.TemporaryDirectory() as scratch:
        spool = Spool(Path(scratch) / "spool")
        asyncio.run(measure_middleware(spool, 500))
        found = {
            "benchmark": "hook_overhead",
            "requests": given.requests,
            "response_bytes": len(RESPONSE),
            "middleware_ms": asyncio.run(measure_middleware(spool, given.requests)),
            "decorator_ms": measure_decorator(spool, given.requests),
            "lost": spool.lost,
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
