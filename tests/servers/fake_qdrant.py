"""A small server of Qdrant's REST calls, as far as the product uses them, over the engine of the client's local mode.

It may be told to refuse a key, to answer with an error, or to be of a version that keeps no metadata of collections.
"""

import asyncio
import json
import threading
import warnings
from typing import Any

from aiohttp import web

from servers import PATIENCE


class FakeQdrant:
    """The server, in a thread of its own on a free port; use as `with`."""

    def __init__(self, *, api_key: str = "", keeps_metadata: bool = True) -> None:
        self.api_key, self.keeps_metadata = api_key, keeps_metadata
        self.status = 0
        self.calls: list[str] = []
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "FakeQdrant":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _start(self) -> None:
        from qdrant_client import AsyncQdrantClient

        self._client = AsyncQdrantClient(location=":memory:")
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/collections", self._serve)
        app.router.add_route("*", "/collections/{name}", self._serve)
        app.router.add_route("*", "/collections/{name}/{action:.+}", self._serve)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    async def _stop(self) -> None:
        await self._runner.cleanup()
        await self._client.close()

    async def _serve(self, request: web.Request) -> web.Response:
        name, action = request.match_info.get("name", ""), request.match_info.get("action", "")
        self.calls.append(f"{request.method} {request.path}")
        if self.api_key and request.headers.get("api-key") != self.api_key:
            return web.json_response({"status": {"error": "Must provide an API key"}}, status=401)
        if self.status:
            return web.json_response({"status": {"error": "told to fail"}}, status=self.status)
        there = [item.name for item in (await self._client.get_collections()).collections]
        if name and name not in there and (request.method, action) != ("PUT", ""):
            error = {"error": f"Not found: Collection `{name}` doesn't exist!"}
            return web.json_response({"status": error}, status=404)
        body = await request.json() if request.can_read_body else {}
        result = (
            await self._collections(request.method, name, body, there)
            if not action
            else await self._points(name, action, request.method, body)
        )
        return web.Response(text=json.dumps({"result": result, "status": "ok", "time": 0.001}), content_type="application/json")

    async def _collections(self, method: str, name: str, body: dict[str, Any], there: list[str]) -> Any:
        from qdrant_client.http import models

        if not name:
            return {"collections": [{"name": one} for one in there]}
        if not self.keeps_metadata:
            body.pop("metadata", None)
        if method == "GET":
            return (await self._client.get_collection(name)).model_dump(mode="json")
        if method == "PUT":
            wanted = models.CreateCollection(**body)
            return await self._client.create_collection(name, vectors_config=wanted.vectors, metadata=wanted.metadata)
        if method == "PATCH":
            return await self._client.update_collection(name, metadata=body.get("metadata"))
        return await self._client.delete_collection(name)

    async def _points(self, name: str, action: str, method: str, body: dict[str, Any]) -> Any:
        from qdrant_client.http import models

        done = {"operation_id": 1, "status": "completed"}
        if action == "points/query":
            vector = body["query"]["nearest"] if isinstance(body["query"], dict) else body["query"]
            condition = models.Filter(**body["filter"]) if body.get("filter") else None
            found = await self._client.query_points(
                name, query=vector, query_filter=condition, limit=body["limit"], with_payload=True
            )
            return found.model_dump(mode="json")
        if action == "points/scroll":
            scroll = models.ScrollRequest(**body)
            points, offset = await self._client.scroll(
                name,
                limit=scroll.limit or 10,
                offset=scroll.offset,
                with_payload=scroll.with_payload if scroll.with_payload is not None else True,
                with_vectors=bool(scroll.with_vector),
            )
            return {"points": [point.model_dump(mode="json") for point in points], "next_page_offset": offset}
        if action == "points/count":
            return {"count": (await self._client.count(name)).count}
        if action == "points/delete":
            await self._client.delete(name, points_selector=models.PointIdsList(**body))
        elif action == "points/payload":
            await self._client.overwrite_payload(name, payload=body["payload"], points=body["points"])
        elif action == "points" and method == "PUT":
            await self._client.upsert(name, points=models.PointsList(**body).points)
        elif action == "index":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
        else:
            raise web.HTTPNotImplemented(text=action)
        return done
