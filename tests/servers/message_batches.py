"""A server of Anthropic's Message Batches API beside its Messages API, as documented in autumn 2026, and what goes wrong with it.

In a test: `with MessageBatchServer() as server:`. As a process: `PYTHONPATH=tests python -m servers.message_batches --port 0`.

A batch is paid when it is created. Each look at a batch brings it one state further. Results come in another order than the
calls, and only once the batch has ended.
"""

import argparse
import asyncio
import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from servers.fake_answers import draw
from servers.providers import ProviderServer

PATH = "/v1/messages/batches"
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass
class MessageFaults:
    """What goes wrong with batches.

    `creations` are what becomes of the next creations: "ok"; "cut": the batch is created and the connection is cut; "lost": the
    connection is cut and nothing is created; a status: nothing is created; "500 made": 500, and the batch is created; "late":
    the connection is cut, and the batch is created by the next request. `ends` are how the next batches end, "ended" once there
    are no more; "expired" and "canceled" after half of the calls. `lines` is the share of calls that fail, `rejected` that of
    calls that the API refuses. `requests` are statuses of the next requests that create nothing. `texts` is the share of answers
    that are no JSON.
    """

    creations: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    lines: float = 0.0
    rejected: float = 0.0
    requests: list[int] = field(default_factory=list)
    texts: float = 0.0


@dataclass
class SentMessages:
    """A batch of the server; `looks` is how many looks are left before it has ended."""

    id: str
    created_at: datetime
    results: list[dict[str, Any]]
    looks: int = 2
    canceled: bool = False

    @property
    def keys(self) -> set[str]:
        """The ids of its calls."""
        return {one["custom_id"] for one in self.results}


@dataclass
class MessageBatchServer(ProviderServer):
    """The server; `page` is the most that its lists hold, `held` whether batches go no further."""

    provider: str = "anthropic"
    message_faults: MessageFaults = field(default_factory=MessageFaults)
    page: int = 2
    held: bool = False
    service: bool = True
    batches: list[SentMessages] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    paid: Counter[str] = field(default_factory=Counter)
    requests: list[str] = field(default_factory=list)
    late: list[dict[str, Any]] = field(default_factory=list)

    @property
    def paid_twice(self) -> int:
        """How many calls were paid more than once, by what they ask."""
        return sum(count - 1 for count in self.paid.values())

    def stranger(self, calls: int) -> SentMessages:
        """A batch of another program in the same workspace."""
        results = [{"custom_id": f"their-{number}", "result": {"type": "expired"}} for number in range(calls)]
        batch = SentMessages(f"msgbatch_their{len(self.batches)}", datetime.now(UTC), results)
        self.batches.append(batch)
        return batch

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if not request.path.startswith(PATH):
            return await super()._handle(request)
        if not self.service:
            return self._error(404, "Not found", "not_found_error")
        if self.api_key and not self._has_key(request):
            return self._error(401, "invalid x-api-key", "authentication_error")
        self.requests.append(f"{request.method} {request.path}")
        if (request.method, request.path) == ("POST", PATH):
            return await self._create(request)
        while self.late:
            await self._made(self.late.pop())
        if self.message_faults.requests and (status := self.message_faults.requests.pop(0)) != 200:
            return self._error(status, "Overloaded", "overloaded_error", {"retry-after": "0.01"} if status == 429 else None)
        return self._batch(request)

    def _batch(self, request: web.Request) -> web.StreamResponse:
        if request.path == PATH:
            return self._page(request)
        id, _, rest = request.path.removeprefix(f"{PATH}/").partition("/")
        found = next((one for one in self.batches if one.id == id), None)
        if found is None:
            return self._error(404, f"batch {id}", "not_found_error")
        if request.method == "DELETE":
            if found.looks:
                return self._error(409, "the batch is in progress", "invalid_request_error")
            self.batches.remove(found)
            self.deleted.append(id)
            return web.json_response({"id": id, "type": "message_batch_deleted"})
        if rest == "cancel":
            found.canceled, found.looks = True, min(found.looks, 1)
        elif rest == "results":
            if found.looks:
                return self._error(404, "results are not available", "not_found_error")
            return web.Response(body=_lines(found.results), content_type="application/binary")
        elif found.looks and not self.held:
            found.looks -= 1
        return web.json_response(self._told(found))

    async def _create(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())
        fault = self.message_faults.creations.pop(0) if self.message_faults.creations else "ok"
        if fault.isdigit():
            return self._error(int(fault), "Overloaded", "overloaded_error", {"retry-after": "0.01"} if fault == "429" else None)
        if fault == "late":
            self.late.append(asked)
        if fault in ("lost", "late"):
            return self._cut(request)
        batch = await self._made(asked)
        if fault == "cut":
            return self._cut(request)
        return self._error(500, "Internal error", "api_error") if fault == "500 made" else web.json_response(self._told(batch))

    def _cut(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def _made(self, asked: dict[str, Any]) -> SentMessages:
        batch = await asyncio.to_thread(self._carried_out, asked)
        self.batches.append(batch)
        return batch

    def _carried_out(self, asked: dict[str, Any]) -> SentMessages:
        """A batch with all that it will bring; what it answers is paid."""
        assert asked.keys() == {"requests"}
        calls = asked["requests"]
        ids = [call["custom_id"] for call in calls]
        assert len(set(ids)) == len(ids), "a custom_id comes twice"
        assert all(CALL_ID.fullmatch(id) for id in ids), "an id is too long, or has a character that it may not have"
        end = self.message_faults.ends.pop(0) if self.message_faults.ends else "ended"
        begun = len(calls) if end == "ended" else len(calls) // 2
        results = [{"custom_id": call["custom_id"], "result": self._result(call["params"])} for call in calls[:begun]]
        for call, one in zip(calls, results, strict=False):
            if one["result"]["type"] == "succeeded":
                self.paid[json.dumps(call["params"], sort_keys=True)] += 1
        results += [{"custom_id": call["custom_id"], "result": {"type": end}} for call in calls[begun:]]
        results.sort(key=lambda one: hashlib.sha256(one["custom_id"].encode()).digest())
        number = 1 + len(self.batches) + len(self.deleted)
        return SentMessages(f"msgbatch_{number}", datetime.now(UTC), results, canceled=end == "canceled")

    def _result(self, params: dict[str, Any]) -> dict[str, Any]:
        faults, raw = self.message_faults, json.dumps(params).encode()
        refusal = self._refusal(params, params["model"])
        if refusal is not None:
            assert isinstance(refusal.body, bytes)
            return {"type": "errored", "error": json.loads(refusal.body)}
        if draw(raw, 0, "rejected") < faults.rejected:
            told = {"type": "invalid_request_error", "message": "this call is refused"}
            return {"type": "errored", "error": {"type": "error", "error": told, "request_id": "req_1"}}
        if draw(raw, len(self.batches) + len(self.deleted), "failure") < faults.lines:
            return {"type": "errored", "error": {"type": "error", "error": {"type": "api_error", "message": "Internal"}}}
        call = self._noted(params, params["model"])
        self.calls.remove(call)
        text, end = self._ended(call)
        if draw(raw, 0, "text") < faults.texts:
            text = "I would give it a good score."
        return {"type": "succeeded", "message": self.reply(call, text, end)}

    def _told(self, batch: SentMessages) -> dict[str, Any]:
        kinds = Counter(one["result"]["type"] for one in batch.results)
        ended = not batch.looks
        counts = {name: kinds[name] if ended else 0 for name in ("succeeded", "errored", "canceled", "expired")}
        moment = batch.created_at.isoformat().replace("+00:00", "Z")
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if batch.canceled else "in_progress",
            "request_counts": {"processing": 0 if ended else len(batch.results), **counts},
            "created_at": moment,
            "expires_at": (batch.created_at + timedelta(days=1)).isoformat(),
            "ended_at": moment if ended else None,
            "cancel_initiated_at": moment if batch.canceled else None,
            "archived_at": None,
            "results_url": f"https://elsewhere.example{PATH}/{batch.id}/results" if ended else None,
        }

    def _page(self, request: web.Request) -> web.StreamResponse:
        """A page of the list, the newest first; a batch goes on at each look at the list, too."""
        if not self.held:
            for one in self.batches:
                one.looks = max(0, one.looks - 1)
        items = [self._told(one) for one in reversed(self.batches)]
        after, limit = request.query.get("after_id", ""), int(request.query.get("limit", "20"))
        start = next((at + 1 for at, one in enumerate(items) if one["id"] == after), 0)
        shown = items[start : start + min(limit, self.page)]
        last = shown[-1]["id"] if shown else None
        return web.json_response({"data": shown, "has_more": start + len(shown) < len(items), "last_id": last})


def _lines(results: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in results)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve as a process of its own; the address is printed first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    server = MessageBatchServer(port=parser.parse_args(arguments).port)
    server.start()
    print(f"http://{server.address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
