"""The server: API, pages and their guards, put together."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles

from areopage import __version__
from areopage.server.access import access_to
from areopage.server.context import ServerContext
from areopage.server.errors import handle_errors
from areopage.server.headers import SecurityHeaders
from areopage.server.limits import BodyLimit, KnownHosts

STATIC = Path(__file__).parent / "static"
Hook = Callable[[], Awaitable[None]]


def create_app(context: ServerContext, *, on_start: Sequence[Hook] = (), on_stop: Sequence[Hook] = ()) -> FastAPI:
    """The application of one server.

    Args:
        on_start: awaited in order before the first request.
        on_stop: awaited in order after the last request.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for start in on_start:
            await start()
        yield
        for stop in on_stop:
            await stop()

    # the bundled pages of FastAPI's documentation load scripts from other sites: the schema alone is served
    app = FastAPI(
        title="Areopage",
        version=__version__,
        summary="Quality of answers in production",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.context = context
    app.state.access = access_to(context)
    handle_errors(app)
    add_guards(app, context)
    for name in ("session", "monitor", "review", "agreement"):
        module = f"areopage.server.pages.{name}"
        if find_spec(module):
            app.include_router(import_module(module).router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def add_guards(app: FastAPI, context: ServerContext) -> None:
    """What every request passes; the last one added comes first."""
    server = context.config.section.server
    if server.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in server.origins],
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    app.add_middleware(BodyLimit, most=server.max_body)
    app.add_middleware(KnownHosts, addresses=app.state.access.addresses)
    app.add_middleware(SecurityHeaders)
