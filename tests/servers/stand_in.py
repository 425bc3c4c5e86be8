"""A program `areopage` for shells that starts at once: each of its commands is forked from what has imported the product."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from servers import PATIENCE
from servers.forked import Forked

PROGRAM = """\
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({place!r})
    together = os.fstat(1) == os.fstat(2)
    with connection.makefile("rw", encoding="utf-8") as lines:
        lines.write(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), together]) + "\\n")
        lines.flush()
        code, out, err = json.loads(lines.readline())
sys.stdout.write(out)
sys.stdout.flush()
sys.stderr.write(err)
sys.exit(code)
"""


@contextmanager
def stand_in(program: Path) -> Iterator[None]:
    """While it lasts, a file is a program that does what `areopage` does; it reads nothing from `stdin`."""
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:  # the path of a socket must be short
        place, client = str(Path(folder) / "socket"), Path(folder) / "client.py"
        listening.bind(place)
        listening.listen()
        client.write_text(PROGRAM.format(place=place), encoding="utf-8")
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{client}" "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        thread = threading.Thread(target=_serve, args=(listening,))
        thread.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection, connection.makefile("rw", encoding="utf-8") as lines:
            arguments, folder, environment, together = json.loads(lines.readline())
            forked = Forked("areopage", *arguments, module=True, folder=Path(folder), environment=environment, together=together)
            out, err = forked.communicate(PATIENCE)
            lines.write(json.dumps([forked.returncode, out, err]) + "\n")
