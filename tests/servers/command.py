"""The command `areopage`: as a process of its own, or quicker, in the test's own process."""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import areopage
from areopage.ledger.store import Ledger
from areopage.scoring.exams.records import ExamState
from servers import PATIENCE
from servers.forked import Forked
from servers.new_ledger import copied_ledgers, copied_queues
from servers.qualified import qualify_panel, qualify_run

with warnings.catch_warnings():
    # typer, on its import, uses names that newer versions of click warn of
    warnings.simplefilter("ignore", DeprecationWarning)
    from areopage.cli.main import main

__all__ = ["Command", "Ended", "main"]

SOURCE = Path(areopage.__file__).parents[1]
# What the developer's shell says must not reach the command under test.
NOT_HANDED_ON = ("OLLAMA_HOST", "OPENAI_BASE_URL", "OPENAI_API_KEY", "AREOPAGE_LEDGER", "HTTP_PROXY", "http_proxy", "COLUMNS")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def verdict(self) -> str:
        """The verdict of a run in its report on the console, with what it means and its floors, on one line."""
        titles = ("Release verdict: ", "Verdict de mise en service : ")
        (found,) = (part for part in self.out.split("\n\n") if part.startswith(titles))
        title, *lines = found.splitlines()
        return f"{title.partition(':')[2].strip()}. {' '.join(line.strip() for line in lines)}"

    def refused(self, code: int = 2) -> str:
        """The one line with which the command says why it cannot go on; the last one if notes went before.

        Args:
            code: 2 where the user must mend something, 3 where an outage stopped a run half way.

        Raises:
            AssertionError: it ended in another way.
        """
        assert self.code == code, f"exit {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err, self.err
        lines = [line for line in self.err.splitlines() if line.startswith("areopage: ")]
        assert len(lines) == 1, self.err
        assert self.err.endswith(lines[0] + "\n"), self.err
        return lines[0].removeprefix("areopage: ")


@dataclass
class Command:
    """The command with the folder it runs in, the server it finds, and `outputs/` as its place for runs."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def outputs(self) -> Path:
        """Where runs and their ledger go."""
        return self.folder / "outputs"

    def qualify(
        self, run: str = "latest", state: ExamState = "qualified", *, checked: bool = True, judges: Sequence[str] = ()
    ) -> None:
        """Store that the judges of a run took the exam on all of its criteria; see `servers.qualified`."""
        qualify_run(self.outputs / "ledger.db", run, state, checked=checked, judges=judges)

    def qualify_suite(self, suite: Path | str, state: ExamState = "qualified", **wishes: Any) -> None:
        """Store that the judges of a suite took the exam, in every language of the suite, before a run asks them.

        Args:
            wishes: of the runs to come; see `RunOptions`.
        """
        from areopage.bench.execution.start import prepare_benchmark
        from areopage.bench.options import RunOptions
        from areopage.suites.loader import load_suite

        languages = load_suite(str(suite)).config.languages
        with (
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, self.full_environment(), clear=True),
            Ledger.open(self.environment.get("AREOPAGE_LEDGER", self.outputs / "ledger.db")) as ledger,
        ):
            for language in languages:
                prepared = prepare_benchmark(str(suite), RunOptions(language=language, **wishes))
                qualify_panel(ledger, prepared.spec, state)

    def full_environment(self) -> Mapping[str, str]:
        """The process's environment."""
        bare = {name: value for name, value in os.environ.items() if name not in NOT_HANDED_ON}
        return {**bare, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1", **self.environment}

    def start(self, *arguments: str | Path, interpreter: Sequence[str] = ("-m", "areopage")) -> subprocess.Popen[str]:
        """Start it with an interpreter of its own, and leave it running."""
        return subprocess.Popen(
            [sys.executable, *interpreter, *map(str, arguments)],
            cwd=self.folder,
            env=dict(self.full_environment()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def begin(self, *arguments: str | Path) -> Forked:
        """Start it as a process that has imported all it needs, and leave it running."""
        return Forked("areopage", *arguments, module=True, folder=self.folder, environment=self.full_environment())

    def process(self, *arguments: str | Path) -> Ended:
        """Run it to its end as such a process."""
        return ended(self.begin(*arguments))

    def __call__(self, *arguments: str | Path, together: bool = False) -> Ended:
        """Run it to its end in this process, which saves the start of an interpreter; an unforeseen exception is raised.

        Args:
            together: `out` has what it writes to `stderr`, too, in the order in which it writes.
        """
        out = io.StringIO()
        err = out if together else io.StringIO()
        mask = os.umask(0o022)
        with (
            copied_queues(),
            copied_ledgers(),
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, self.full_environment(), clear=True),
            mock.patch.object(sys, "argv", ["areopage", *map(str, arguments)]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code
            finally:
                os.umask(mask)
        assert isinstance(code, int)
        return Ended(code, out.getvalue(), "" if together else err.getvalue())

    def run_folders(self) -> list[Path]:
        """The folders of runs, the oldest first; a name tells the second only, the first line of its log tells more."""
        logs = self.outputs.glob("*/run.log")
        return [log.parent for log in sorted(logs, key=lambda log: log.read_text(encoding="utf-8").partition(" ")[0])]

    def results(self, folder: Path | None = None) -> dict[str, Any]:
        """The `results.json` of a folder; without one, of the only run."""
        if folder is None:
            (folder,) = self.run_folders()
        found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        return found


def ended(process: subprocess.Popen[str] | Forked) -> Ended:
    """Wait for a process."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the command hangs\n{out}\n{err}") from None
    assert process.returncode is not None
    return Ended(process.returncode, out, err)


def passes_of(results: dict[str, Any]) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    """The passes of a `results.json` by (case, criterion, judge, pass)."""
    return {
        (record["metadata"]["id"], criterion, judge, one["pass_index"]): one
        for record in results["records"]
        for criterion, detail in record["detailed_criteria"].items()
        for judge, said in detail["judges"].items()
        for one in said["passes"]
    }


def scores_of(results: dict[str, Any]) -> Any:
    """All that a run found, and nothing of when, where and how fast."""
    run = results["run"]
    verdicts = {place: (one["outcome"], one["given_score"]) for place, one in passes_of(results).items()}
    records = [
        (record["metadata"]["id"], record["metadata"]["response"], record["final_aggregate_score"], record["category_scores"])
        for record in results["records"]
    ]
    return run["final_aggregate_score"], run["category_scores"], run["subcategory_scores"], records, verdicts
