"""What the end of a run needs is imported while its calls are out: numbers, pages and tables take a quarter of a second."""

from importlib import import_module
from threading import Thread

from areopage.bench.execution.context import Silent

_NEEDED = ("areopage.report.bench.files", "areopage.cli.bench.run_tables")


class ImportingAhead(Silent):
    """An observer that begins to import with the first phase of a run."""

    def __init__(self) -> None:
        self._thread: Thread | None = None

    def phase(self, name: str, total: int, kept: int) -> None:
        """Begin, unless that was done or no call is to be made."""
        if self._thread is None and total > kept:
            self._thread = Thread(target=_import_all, name="imports")
            self._thread.start()


def _import_all() -> None:
    for name in _NEEDED:
        import_module(name)
