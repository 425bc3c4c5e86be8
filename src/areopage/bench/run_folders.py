"""Where the files of a run are."""

from pathlib import Path

from areopage.errors import StorageError
from areopage.ledger import Run, make_folder


def run_folder(run: Run, out: Path, named: str = "") -> Path:
    """The folder of a run, created if missing; see `folder_of`."""
    folder = folder_of(run, out, named)
    make_folder(folder)
    return folder


def folder_of(run: Run, out: Path, named: str = "") -> Path:
    """The folder that a run's files belong to: the stored one if it is in `out`, else one of the run's name in `out`.

    A ledger may come from another user: what it says does not decide where files are written.

    Args:
        named: how the user named the run; the stored folder is taken if it is this one.
    """
    folder = Path(run.folder).resolve()
    if out.resolve() in folder.parents or Path(named).resolve() == folder:
        return folder
    if run.id in ("", ".", "..") or Path(run.id).name != run.id:
        raise StorageError(f"the ledger is damaged: {run.id!r} is not the id of a run")
    return out.resolve() / run.id
