"""The server over real sockets: uvicorn in a thread of the test, on a free port of this computer."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple

from areopage.ledger.people.access import ApiKeys
from areopage.ledger.write.operations import Role
from areopage.server.context import ServerContext
from areopage.server.serve import Process, listener_at
from servers import PATIENCE


class Reply(NamedTuple):
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of the API's error."""
        return str(self.json["error"]["code"])


class Live:
    """A running server. Requests go over one connection each; nothing is added that a test does not name."""

    def __init__(self, context: ServerContext, port: int) -> None:
        self.context, self.port = context, port

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def key(self, role: Role = "admin", name: str = "") -> dict[str, str]:
        """The header of a new key; without a name it gets one of its own."""
        keys = ApiKeys(self.context.ledger)
        taken = {key.name for key in keys.list()}
        free = next(one for one in (role, *(f"{role}-{number}" for number in range(2, 100))) if one not in taken)
        return {"Authorization": f"Bearer {keys.create(name or free, role)[1]}"}

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One request, its headers as they are."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        return self.ask("GET", path, None, headers)

    def post(self, path: str, content: object, headers: Mapping[str, str] | None = None) -> Reply:
        """Send JSON; bytes go as they are."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.ask("POST", path, body, {"Content-Type": "application/json", **(headers or {})})

    def raw(self, data: bytes) -> bytes:
        """Send bytes, and read until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            received = b""
            while part := connection.recv(65536):
                received += part
            return received


@contextmanager
def live(context: ServerContext) -> Iterator[Live]:
    """Serve a context until the end of the block; there is no worker."""
    serving = threading.Event()
    with listener_at("127.0.0.1", 0) as listener:
        process = Process(context, listener, None, serving.set)
        thread = threading.Thread(target=process.run)
        thread.start()
        try:
            assert serving.wait(PATIENCE)
            yield Live(context, listener.getsockname()[1])
        finally:
            process.stop()
            thread.join(PATIENCE)
