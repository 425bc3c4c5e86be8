"""A server with OpenAI's batch service beside its chat protocol: files, batches, lists in pages, and what goes wrong with them.

In a test: `with BatchServer() as server:`. As a process: `PYTHONPATH=tests python -m servers.batch_server --port 0`.

A batch is paid when it is created: `paid` counts the calls that it answers, by what they ask. Each look at a batch brings it one
state further.
"""

import argparse
import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, web

from servers.fake_answers import Call, answer_text, draw, reply_to
from servers.fake_llm import FakeServer, failure

STATES = ("validating", "in_progress", "in_progress", "finalizing", "completed")
LONGEST_PAGE = 100


@dataclass
class BatchFaults:
    """What goes wrong with batches.

    `creations` are what becomes of the next creations: "ok"; "cut": the batch is created and the connection is cut; "lost": the
    connection is cut and nothing is created; a status: nothing is created; "500 made": 500, and the batch is created. `ends` are
    how the next batches end, "completed" once there are no more; "expired" and "cancelled" after half of the calls. `lines` is
    the share of calls that fail with a 500; `rejected` that with a 400; `no_schema` rejects all calls with a schema. `requests`
    are statuses of the next requests that are no creation. `most_tokens` (characters of a file) makes larger batches fail as too
    much at once. `lag` hides a new batch from so many lists. `texts` is the share of answers that are no JSON.
    `noise` adds to what a batch brings: each line twice, lines of unknown calls, and lines that cannot be read.
    """

    creations: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    lines: float = 0.0
    rejected: float = 0.0
    no_schema: bool = False
    requests: list[int] = field(default_factory=list)
    most_tokens: int = 0
    lag: int = 0
    texts: float = 0.0
    noise: bool = False


@dataclass
class Sent:
    """A batch of the server."""

    id: str
    file_id: str
    metadata: dict[str, str]
    created_at: int
    states: list[str]
    total: int
    completed: int
    failed: int
    output: bytes
    errors: bytes
    unanswered: frozenset[str]
    told: list[dict[str, str]]
    hidden: int = 0

    @property
    def status(self) -> str:
        """The state."""
        return self.states[0]


@dataclass
class BatchServer(FakeServer):
    """The server; `page` is the most that its lists hold, `service` whether it has batches, `looks` how long a state lasts."""

    batch_faults: BatchFaults = field(default_factory=BatchFaults)
    page: int = 2
    service: bool = True
    looks: int = 1
    # whether batches go no further
    held: bool = False
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    batches: list[Sent] = field(default_factory=list)
    paid: Counter[str] = field(default_factory=Counter)
    requests: list[str] = field(default_factory=list)

    @property
    def open_batches(self) -> list[Sent]:
        """The batches that have not ended."""
        return [one for one in self.batches if one.status not in ("completed", "failed", "expired", "cancelled")]

    @property
    def paid_twice(self) -> int:
        """How many calls were paid more than once."""
        return sum(count - 1 for count in self.paid.values())

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/v1")
        if not path.startswith(("/files", "/batches")):
            return await super()._handle(request)
        if not self.service:
            return failure(404, "unknown path")
        self.requests.append(f"{request.method} {path}")
        if (request.method, path) == ("POST", "/batches"):
            return await self._create(request)
        if self.batch_faults.requests and (status := self.batch_faults.requests.pop(0)) != 200:
            return failure(status, "the fake server fails", {"Retry-After": "0.01"} if status == 429 else None)
        if path.startswith("/files"):
            return await self._file(request, path)
        return self._batch(request, path)

    # --- files

    async def _file(self, request: web.Request, path: str) -> web.StreamResponse:
        if request.method == "POST":
            return await self._upload(request)
        if path == "/files":
            return self._page(request, [{"id": id, "filename": name} for id, (name, _) in reversed(self.files.items())])
        id, _, rest = path.removeprefix("/files/").partition("/")
        if id not in self.files:
            return failure(404, f"no file {id}")
        if request.method == "DELETE":
            del self.files[id]
            return web.json_response({"id": id, "deleted": True})
        if rest == "content":
            return web.Response(body=self.files[id][1], content_type="application/octet-stream")
        return failure(404, "unknown path")

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        reader, purpose, name, content = await request.multipart(), "", "", b""
        async for part in reader:
            assert isinstance(part, BodyPartReader)
            if part.name == "purpose":
                purpose = (await part.read()).decode()
            elif part.name == "file":
                name, content = part.filename or "", bytes(await part.read())
        if purpose != "batch" or not name:
            return failure(400, "a file for batches has the purpose 'batch' and a name")
        return web.json_response({"id": self._keep(name, content), "object": "file", "filename": name, "purpose": purpose})

    def _keep(self, name: str, content: bytes) -> str:
        id = f"file-{hashlib.sha256(f'{name} {len(self.requests)} {len(self.files)}'.encode()).hexdigest()[:16]}"
        self.files[id] = (name, content)
        return id

    # --- batches

    def _batch(self, request: web.Request, path: str) -> web.StreamResponse:
        if path == "/batches":
            shown = [one for one in reversed(self.batches) if not one.hidden]
            for one in self.batches:
                one.hidden = max(0, one.hidden - 1)
            return self._page(request, [self._told(one) for one in shown])
        id, _, rest = path.removeprefix("/batches/").partition("/")
        found = next((one for one in self.batches if one.id == id), None)
        if found is None:
            return failure(404, f"no batch {id}")
        if rest == "cancel":
            if found in self.open_batches:
                found.states[:] = ["cancelling", "cancelled"]
        elif len(found.states) > 1 and not self.held:
            del found.states[0]
        return web.json_response(self._told(found))

    async def _create(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())
        fault = self.batch_faults.creations.pop(0) if self.batch_faults.creations else "ok"
        if fault.isdigit():
            return failure(int(fault), "the fake server fails", {"Retry-After": "0.01"} if fault == "429" else None)
        if fault == "lost":
            return self._cut(request)
        if asked["input_file_id"] not in self.files:
            return failure(400, f"no file {asked['input_file_id']}")
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        batch = await asyncio.to_thread(self._carried_out, asked)
        self.batches.append(batch)
        if fault == "cut":
            return self._cut(request)
        return failure(500, "the fake server fails") if fault == "500 made" else web.json_response(self._told(batch))

    def _cut(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def _carried_out(self, asked: dict[str, Any]) -> Sent:
        """A batch with all that it will bring; what it answers is paid."""
        faults = self.batch_faults
        _, content = self.files[asked["input_file_id"]]
        lines = [json.loads(line) for line in content.splitlines()]
        keys = [line["custom_id"] for line in lines]
        assert len(set(keys)) == len(keys), "a custom_id comes twice"
        assert len({line["body"]["model"] for line in lines}) == 1, "a batch is for one model"
        end = faults.ends.pop(0) if faults.ends else "completed"
        told: list[dict[str, str]] = []
        if faults.most_tokens and len(content) > faults.most_tokens:
            end, told = "failed", [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]
        elif end == "failed":
            told = [{"code": "invalid_json_line", "message": "This line is not parseable as valid JSON."}]
        begun = 0 if end == "failed" else len(lines) // 2 if end in ("expired", "cancelled") else len(lines)
        output: list[dict[str, Any]] = []
        errors: list[dict[str, Any]] = []
        for line in sorted(lines[:begun], key=lambda line: hashlib.sha256(line["custom_id"].encode()).digest()):
            reply = self._reply(line)
            (output if reply["response"]["status_code"] == 200 else errors).append(reply)
        self.paid.update(reply["custom_id"] for reply in output)
        for line in lines[begun:] if end != "failed" else []:
            error = {"code": f"batch_{end}", "message": "This request could not be executed before the batch ended."}
            errors.append({"id": "batch_req_0", "custom_id": line["custom_id"], "response": None, "error": error})
        states = [state for state in STATES[:-1] for _ in range(self.looks)]
        return Sent(
            id=f"batch_{len(self.batches) + 1}",
            file_id=asked["input_file_id"],
            metadata=asked.get("metadata") or {},
            created_at=int(time.time()),
            states=["validating", "failed"] if end == "failed" else [*states, end],
            total=len(lines),
            completed=len(output),
            failed=len(errors),
            output=_lines(output) + (_noise(output) if faults.noise else b""),
            errors=_lines(errors),
            unanswered=frozenset(reply["custom_id"] for reply in errors),
            told=told,
            hidden=faults.lag,
        )

    def _reply(self, line: dict[str, Any]) -> dict[str, Any]:
        body, faults = line["body"], self.batch_faults
        raw = json.dumps(body).encode()
        nth = 1 + sum(line["custom_id"] in one.unanswered for one in self.batches)
        status, answer = 200, {}
        if (faults.no_schema and "response_format" in body) or draw(raw, 0, "rejected") < faults.rejected:
            status, answer = 400, {"error": {"message": "this call is refused"}}
        elif draw(raw, nth, "failure") < faults.lines:
            status, answer = 500, {"error": {"message": "this call failed"}}
        else:
            call = Call(
                path="/v1/chat/completions",
                model=body["model"],
                messages=tuple((message["role"], message["content"]) for message in body["messages"]),
                options={key: value for key, value in body.items() if key not in ("messages", "response_format")},
                asks_verdict="response_format" in body or faults.no_schema,
                authorization="",
                body=raw,
                fault="prose" if draw(raw, 0, "text") < faults.texts else "",
            )
            own = self.judge(call) if self.judge and call.asks_verdict and not call.fault else None
            text, finish_reason = answer_text(call) if own is None else (own if isinstance(own, str) else json.dumps(own), "stop")
            counted = max(1, sum(len(content) for _, content in call.messages) // 4)
            answer = reply_to(call, text, finish_reason, counted)
        response = {"status_code": status, "request_id": "req_1", "body": answer}
        return {"id": "batch_req_1", "custom_id": line["custom_id"], "response": response, "error": None}

    def _told(self, batch: Sent) -> dict[str, Any]:
        ended = batch not in self.open_batches
        if ended and batch.status != "failed" and not any(name.startswith(batch.id) for name, _ in self.files.values()):
            self._keep(f"{batch.id}_output", batch.output)
            self._keep(f"{batch.id}_error", batch.errors)
        files = {name: id for id, (name, _) in self.files.items()}
        done = batch.completed if ended else batch.completed // 2 if batch.status == "in_progress" else 0
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": {"object": "list", "data": batch.told} if batch.told and ended else None,
            "input_file_id": batch.file_id,
            "completion_window": "24h",
            "status": batch.status,
            "output_file_id": files.get(f"{batch.id}_output") if batch.output else None,
            "error_file_id": files.get(f"{batch.id}_error") if batch.errors else None,
            "created_at": batch.created_at,
            "request_counts": {"total": batch.total, "completed": done, "failed": batch.failed if ended else 0},
            "metadata": batch.metadata,
        }

    def _page(self, request: web.Request, items: list[dict[str, Any]]) -> web.StreamResponse:
        after, limit = request.query.get("after", ""), int(request.query.get("limit", "20"))
        start = next((at + 1 for at, one in enumerate(items) if one["id"] == after), 0)
        size = min(limit, self.page, LONGEST_PAGE)
        shown = items[start : start + size]
        return web.json_response({"object": "list", "data": shown, "has_more": start + size < len(items)})


def _lines(replies: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(reply).encode() + b"\n" for reply in replies)


def _noise(replies: list[dict[str, Any]]) -> bytes:
    odd = [
        {"custom_id": "unknown", "response": None, "error": "?"},
        {"custom_id": 7},
        {"response": []},
        [],
        {"custom_id": "\0=cmd|"},
    ]
    return _lines([*odd, *replies]) + b'\xff\xfe{\n\n{"custom_id": "' + b"x" * 100_000 + b"\n" + b"[" * 5_000 + b"\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve as a process of its own; the address is printed first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args(arguments)
    server = BatchServer(port=given.port)
    server.start()
    print(f"http://{server.address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
