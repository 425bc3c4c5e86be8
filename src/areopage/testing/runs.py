"""A sample as a benchmark run: judged by a suite's jury, stored in the ledger, compared with the run that is kept."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock
from msgspec import Struct

from areopage.app import find_config, open_ledger
from areopage.bench import RunOptions, RunView, run_benchmark
from areopage.cases import Case
from areopage.digest import digest_of
from areopage.errors import BudgetSpent, ServerDown, StorageError, UnknownRun
from areopage.extensions import required
from areopage.ledger import Ledger, Run, make_folder
from areopage.report import replacing
from areopage.suites import Suite, load_suite
from areopage.testing.claims import SampleClaim
from areopage.testing.decisions import ClaimDecision, decide_share, together
from areopage.testing.samples import AnswerSample, cases_of, sample_lines

BASELINES, SAMPLES, RUNS = "baselines.json", "samples", "runs"
_LONGEST_NAME = 60


class RunsFolder(Struct, frozen=True, kw_only=True):
    """Where the runs of tests are: their folder holds the ledger, unless `areopage.yml` or AREOPAGE_LEDGER names one."""

    folder: Path

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """The ledger, made where it is missing.

        Raises:
            UserError: it cannot be used.
        """
        self._make()
        config = find_config()
        named = config if config.shared.ledger else config.on_ledger(str(self.folder / "ledger.db"))
        with open_ledger(named, create=True) as opened:
            yield opened

    def _make(self) -> None:
        """Make the folder, which holds answers and stays out of version control."""
        make_folder(self.folder)
        ignored = self.folder / ".gitignore"
        if not ignored.exists():
            with replacing(ignored) as path:
                path.write_text("*\n", encoding="utf-8")

    def baselines(self) -> dict[str, str]:
        """The id of the run that is kept for each test.

        Raises:
            StorageError: the file is damaged.
        """
        path = self.folder / BASELINES
        if not path.exists():
            return {}
        try:
            runs = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as fault:
            raise StorageError(f"{path}: not the file of baselines: remove it, and keep new ones") from fault
        return {str(name): str(run) for name, run in runs.items()} if isinstance(runs, dict) else {}

    def keep(self, test: str, run: str) -> None:
        """Keep a run as the baseline of a test; several processes may do so at the same time.

        Raises:
            StorageError: the file cannot be written.
        """
        self._make()
        with FileLock(self.folder / f"{BASELINES}.lock"):
            kept = self.baselines() | {test: run}
            with replacing(self.folder / BASELINES) as path:
                path.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def sample_of(claim: SampleClaim) -> AnswerSample:
    """An empty sample with the cases of a claim; they are read when they are asked for."""
    return AnswerSample(lambda: cases_of(_suite_of(claim), claim.datasets, claim.language))


def decide(claim: SampleClaim, sample: AnswerSample, test: str, place: RunsFolder, *, keep: bool = False) -> ClaimDecision:
    """Judge the answers of a test and decide on its claim; what the ledger holds is not asked again.

    Args:
        test: the name of the test; its baseline is kept under it.
        keep: keep the run as the test's baseline, unless the share of passing answers is too low.

    Raises:
        UserError: the suite or a judge cannot be used. A server that is down decides nothing, and raises nothing.
    """
    if not sample.answered:
        why = "no answer was given: call areopage_sample.ask(target) or .add(prompt, response)"
        if sample.unanswered:
            why = f"each of {len(sample.unanswered)} answers is empty: nothing can be judged"
        return ClaimDecision(verdict="fail" if not sample.unanswered else "undecided", lines=(why,))
    with place.ledger() as ledger:
        try:
            view = _judged(claim, sample.answered, test, place, ledger)
        except (ServerDown, BudgetSpent) as fault:
            return ClaimDecision(verdict="undecided", lines=(f"the judges could not be asked: {' '.join(str(fault).split())}",))
        decisions: list[ClaimDecision] = []
        if claim.at_least is not None:
            decisions.append(decide_share(view, claim.at_least, claim.own_confidence, unanswered=len(sample.unanswered)))
        if claim.baseline and not keep:
            baseline: Run | None = None
            if kept_run := place.baselines().get(test):
                with suppress(UnknownRun):  # the ledger may no longer have it
                    baseline = ledger.run(kept_run)
            decisions.append(required("claims", "regression", "a baseline")(ledger, baseline, view.run, claim.own_confidence))
    if claim.baseline and keep:
        kept = ClaimDecision(verdict="pass", lines=(f"kept as the baseline: run {view.run.id}",), run=view.run.id)
        if not any(decision.verdict == "fail" for decision in decisions):
            place.keep(test, view.run.id)
            decisions.append(kept)
    return together(decisions)


def decide_answer(claim: SampleClaim, case: Case, test: str, place: RunsFolder) -> ClaimDecision:
    """Judge one answer: it fails if it fails a criterion and no judge says otherwise.

    Raises:
        UserError: the suite or a judge cannot be used. A server that is down decides nothing, and raises nothing.
    """
    with place.ledger() as ledger:
        try:
            view = _judged(claim, [case], test, place, ledger)
        except (ServerDown, BudgetSpent) as fault:
            return ClaimDecision(verdict="undecided", lines=(f"the judges could not be asked: {' '.join(str(fault).split())}",))
        return decide_share(view, 1.0, claim.confidence, disputed_count=False)


def _judged(claim: SampleClaim, answered: Sequence[Case], test: str, place: RunsFolder, ledger: Ledger) -> RunView:
    """The run of a sample. Its dataset stays beside the ledger, so that the run can be looked at and judged again."""
    make_folder(place.folder / SAMPLES)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", test).strip("-")[-_LONGEST_NAME:]
    path = place.folder / SAMPLES / f"{plain}-{digest_of(test)[:8]}.jsonl"
    with replacing(path) as written:
        written.write_bytes(sample_lines(answered))
    options = RunOptions(
        datasets=(path,),
        judges=claim.judges,
        criteria=", ".join(claim.criteria) or None,
        passes=claim.passes,
        language=claim.language,
        limit=-1,
        responses_only=True,
    )
    return run_benchmark(_suite_of(claim), options, ledger=ledger, out=place.folder / RUNS)


def _suite_of(claim: SampleClaim) -> Suite:
    return load_suite(claim.suite).with_shared(find_config().shared)
