"""Processes that begin with the product already imported: they can be killed like any other, and cost no start.

They are forked from a server that multiprocessing keeps. What a start itself does, or the end of an interpreter, is tested
with interpreters of their own.
"""

import atexit
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import IO
from unittest import mock

import click

from areopage.cli.main import LazyGroup

TESTS = Path(__file__).parents[1]


@cache
def _context() -> ForkServerContext:
    from areopage.cli.main import app

    context = multiprocessing.get_context("forkserver")
    # what cannot be imported here is left out
    modules = [*sorted(set(_modules_of(app))), "dbos", "fastapi", "psycopg", "uvicorn"]
    context.set_forkserver_preload(["__main__", *modules, "servers.warmed"])
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    with mock.patch.dict(os.environ, {"PYTHONPATH": path}):  # the server finds modules by it alone
        forkserver.ensure_running()
    return context


def _modules_of(group: click.Group) -> Iterator[str]:
    assert isinstance(group, LazyGroup)
    yield from (place.partition(":")[0] for place, _ in group.places.values())
    for below in group.groups.values():
        yield from _modules_of(below)


class Forked:
    """A process that runs a Python text or module, with what a `subprocess.Popen` of text has."""

    def __init__(
        self,
        code: str,
        *arguments: str | Path,
        module: bool = False,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        terminal: str = "",
        together: bool = False,
    ) -> None:
        """Args:
        code: the text, or the name of a module.
        environment: all of it; None: that of this process.
        terminal: the path of one that it reads from and writes to, instead of `stdout` and `stderr`.
        together: what it writes to `stderr` is in `stdout`.
        """
        context = _context()
        reading, writing = zip(*(context.Pipe(duplex=False) for _ in range(2)), strict=True)
        self._process = context.Process(
            target=_run,
            args=(
                code,
                [str(one) for one in arguments],
                module,
                folder or Path.cwd(),
                dict(environment or os.environ),
                terminal,
                writing[0],
                writing[0 if together else 1],
            ),
            daemon=True,
        )
        self._process.start()
        for connection in writing:
            connection.close()
        self.stdout, self.stderr = (_text_of(connection) for connection in reading)
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; -9 after kill -9; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended.

        Raises:
            TimeoutExpired: it still runs.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("forked", timeout or 0.0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it wrote and had not been read, once it has ended.

        Raises:
            TimeoutExpired: it still runs.
        """
        said = ["", ""]

        def read(number: int, stream: IO[str]) -> None:
            if not stream.closed:
                with stream:
                    said[number] = stream.read()

        readers = [threading.Thread(target=read, args=place, daemon=True) for place in enumerate((self.stdout, self.stderr))]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join()
        return said[0], said[1]

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()


def _text_of(connection: Connection) -> IO[str]:
    with connection:
        return os.fdopen(os.dup(connection.fileno()), encoding="utf-8")


def _run(
    code: str,
    arguments: list[str],
    module: bool,
    folder: Path,
    environment: dict[str, str],
    terminal: str,
    out: Connection,
    err: Connection,
) -> None:
    with Path(terminal or os.devnull).open("r+b", buffering=0) as place:
        for number, file in enumerate((place, place if terminal else out, place if terminal else err)):
            os.dup2(file.fileno(), number)
    for one in {out.fileno(): out, err.fileno(): err}.values():
        one.close()
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [code if module else "-c", *arguments]
    try:
        if module:
            runpy.run_module(code, run_name="__main__", alter_sys=True)
        else:
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    finally:
        atexit._run_exitfuncs()


Process = subprocess.Popen[str] | Forked


def kill_with_children(process: Process) -> None:
    """End a process and those that it started, at once."""
    if process.poll() is None:
        children = children_of(process.pid)
        process.kill()
        for child in children:
            os.kill(child, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(one) for one in listed.read_text().split()] if listed.exists() else []
