"""The guard against code in the queue's tables: a pickled row is refused.

dbos reads a row by the row's own column `serialization`; `py_pickle` is honoured under any configured serializer. The one
place where dbos unpickles is replaced here. It is no public interface: the guard holds for the versions that it was tested with.
"""

from importlib.metadata import version
from typing import Any, NoReturn

from areopage.errors import StorageError, UserError

TESTED = "3.4"
"""The versions of dbos, by their beginning."""


class PickledRow(StorageError):
    """A row of the queue's tables is pickled."""


def install() -> None:
    """Let no pickle be read by dbos in this process."""
    installed = version("dbos")
    if not is_tested(installed):
        raise UserError(f"dbos {installed} is installed, which areopage does not support: pip install 'dbos>={TESTED},<3.5'")
    from dbos import _serialization

    _serialization.DefaultSerializer.deserialize = _refuse  # type: ignore[assignment,method-assign]


def is_tested(installed: str) -> bool:
    """Whether the guard was tested with a version of dbos."""
    return installed == TESTED or installed.startswith(f"{TESTED}.")


def _refuse(self: Any, serialized_data: str) -> NoReturn:
    raise PickledRow("the row is pickled, which is refused: only plain JSON is read")
