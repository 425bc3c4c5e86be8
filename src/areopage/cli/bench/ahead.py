"""What the end of a run needs is prepared while its calls are out: the import of numbers, pages and tables, and templates."""

from importlib import import_module
from threading import Thread

from areopage.bench.execution.context import Silent

_NEEDED = (
    "areopage.bench.results.evaluations",
    "areopage.bench.results.history",
    "areopage.report.bench.files",
    "areopage.cli.bench.run_tables",
    "areopage.text.declining",
    "numpy.ma",  # which numpy imports when it first looks for different values
)


class PreparingTheEnd(Silent):
    """An observer that begins to prepare with the first phase of a run."""

    def __init__(self, language: str) -> None:
        """Args:
        language: of the report.
        """
        self._language = language
        self._thread: Thread | None = None

    def phase(self, name: str, total: int, kept: int) -> None:
        """Begin, unless that was done or no call is to be made."""
        if self._thread is None and total > kept:
            self._thread = Thread(target=_prepare, args=[self._language], name="end of the run")
            self._thread.start()


def _prepare(language: str) -> None:
    for name in _NEEDED:
        import_module(name)
    from areopage.report.elements import report_locale
    from areopage.report.render import compile_page

    compile_page(report_locale(language))
