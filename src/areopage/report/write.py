"""Put all files of a run into its folder."""

from pathlib import Path

from areopage.bench.results import RunView
from areopage.cases.loader import write_rejected
from areopage.errors import StorageError
from areopage.report.html import write_report
from areopage.report.replacing import replacing
from areopage.report.results_csv import write_results_csv
from areopage.report.results_file import write_results

RESULTS, TABLE, REJECTED, REPORT = "results.json", "results.csv", "rejected.csv", "report.html"


def write_outputs(view: RunView, folder: Path) -> list[Path]:
    """Write results.json, results.csv, rejected.csv and report.html; each file is replaced whole or not at all.

    Args:
        folder: created where it does not exist.

    Returns:
        The files, in this order.

    Raises:
        StorageError: the folder or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise StorageError(f"{folder} cannot be created: {fault.strerror or fault}") from fault
    write_results(view, folder / RESULTS)
    write_results_csv(view, folder / TABLE)
    with replacing(folder / REJECTED) as place:
        write_rejected(view.rejected, place)
    write_report(view, folder / REPORT)
    return [folder / name for name in (RESULTS, TABLE, REJECTED, REPORT)]
