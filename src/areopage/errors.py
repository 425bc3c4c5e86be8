"""One tree of exceptions; each leaf is one thing that the user does next.

A `UserError` is one line on the console, exit code 2. A `CallError` is one call to a model; the jury turns it into an outcome.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class AreopageError(Exception):
    """Root of every exception that Areopage raises on purpose."""


class UserError(AreopageError):
    """Something that the user can mend; the message is one line that says how."""


class ConfigError(UserError):
    """A file of a suite is wrong. `path`, `line` (1-based) and `key` go before the message."""

    def __init__(self, message: str, *, path: Path | str, line: int | None = None, key: str | None = None) -> None:
        place = f"{path}:{line}" if line else str(path)
        super().__init__(f"{place}: {key}: {message}" if key else f"{place}: {message}")
        self.message, self.path, self.line, self.key = message, Path(path), line, key


class DatasetError(UserError):
    """A dataset cannot be read at all (single bad rows are rejected, not raised)."""


class SubmissionError(UserError):
    """A submitted answer is incomplete or too large: correct it."""


class CriteriaError(UserError):
    """A selection names criteria that do not exist, or a criterion cannot be used: choose others, or mend the registry."""


class ModelError(UserError):
    """A model reference is wrong, or the model cannot be used as configured."""


class ModelMissing(ModelError):
    """The server is up and does not have the model: pull it, or name another."""


class MissingKey(ModelError):
    """A provider's own server needs a key, and its environment variable is empty."""


class ServerDown(ModelError):
    """No server answers at the address, at the start or for too long in the middle of a run: start it, then resume."""


class StorageError(UserError):
    """A file or the ledger cannot be written: no space, no permission, locked."""


class DamagedLedger(StorageError):
    """The ledger holds what cannot be read: another try meets it again."""

    def __init__(self, damage: str) -> None:
        super().__init__(f"the ledger is damaged: {damage}")


class DamagedRow(DamagedLedger):
    """A row of the ledger whose JSON cannot be read."""

    def __init__(self, row: str, column: str, fault: Exception) -> None:
        super().__init__(f"{row}: {column} cannot be read ({fault})")


class EmptyLedger(StorageError):
    """A file or a database without a table of a ledger."""


class UnknownRun(UserError):
    """The ledger holds no such run."""


class UnknownCollection(UserError):
    """The vector store holds no such collection: name another, or ingest documents into it."""


class TooManyAnswers(UserError):
    """As many answers are being generated for an API key as one key may have at a time: wait."""


class UnknownAnswer(UserError):
    """The ledger holds no answer of this id, or only its figures."""


class NotHeldBack(UserError):
    """An answer cannot be released or refused: it is not held, or is settled already."""


class ReviewConflict(UserError):
    """A label cannot be undone, or a disagreement not be adjudicated, as another person has decided on it."""


class BudgetSpent(UserError):
    """The next call might cost more than is left of the budget; what is paid for is kept."""


class MissingExtra(UserError):
    """A part that is not in the base install is needed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f'{purpose} needs an extra: pip install "areopage[{extra}]"')
        self.extra = extra


class CallError(AreopageError):
    """One call to a model failed."""

    @property
    def hopeless(self) -> bool:
        """Whether every further call would fail as well, so that the run should stop."""
        return False


class CallTimedOut(CallError):
    """The model did not answer in time; `silent` is true where not even a connection came about."""

    def __init__(self, message: str, *, silent: bool = False) -> None:
        super().__init__(message)
        self.silent = silent


class CallUnreachable(CallError):
    """No connection, or an answer that asks for another try.

    Args:
        retry_after: the pause in seconds that the server asked for.
        unconnected: no connection came about: nothing listens there, or the network does not lead there.
        silent: a connection came about and no answer: it broke, or what listens there has no server behind it (502, 503).
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, unconnected: bool = False, silent: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after, self.unconnected, self.silent = retry_after, unconnected, silent

    @property
    def hopeless(self) -> bool:
        """No server is there."""
        return self.unconnected


class CallRejected(CallError):
    """The server understood the call and will not serve it, or the call cannot be sent.

    Args:
        status: the server's HTTP status; None where the call was not sent.
        code: the provider's word for the kind of error; "content_filter" where a filter refused the prompt.
        filtered: the categories for which it did.
    """

    def __init__(self, message: str, *, status: int | None = None, code: str = "", filtered: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status, self.code, self.filtered = status, code, filtered

    @property
    def hopeless(self) -> bool:
        """No key, no right, no money, or no such model."""
        return self.status in (401, 402, 403, 404)


class PromptTooLong(CallRejected):
    """A prompt does not fit into the model's context window, and was not sent or was rejected whole."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the system into one that names the file that is written."""
    try:
        yield
    except OSError as fault:
        raise StorageError(f"{path} cannot be written: {fault.strerror or fault}") from fault


def counted(number: int, singular: str, many: str = "") -> str:
    """A number with its noun: 1 case, 2 cases; the plural has an s where `many` is not given."""
    return f"{number:,} {singular if number == 1 else many or f'{singular}s'}"


def name_list(names: Iterable[str], limit: int = 8) -> str:
    """Join names for a message; beyond `limit` the rest is counted."""
    listed = list(names)
    shown = ", ".join(listed[:limit])
    return f"{shown} (+{len(listed) - limit} more)" if len(listed) > limit else shown
