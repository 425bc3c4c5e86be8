"""Verify a ledger: its hash chains, and every stored score and count against what it is computed from."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.app.rebuild import LedgerComparison, Progress, check_ledger
from areopage.bench import RunSpec, RunView, record_results, run_result, view_run
from areopage.cases import Case
from areopage.errors import DamagedRow, StorageError, UnknownRun, UserError
from areopage.jury import Panel, reparsed
from areopage.ledger import ChainCheck, Head, Judgment, Ledger, Run, StaleValue, chunks, readable
from areopage.scoring import Release, Scored, Verdict

_RUN = ("final_aggregate_score", "category_scores", "subcategory_scores", "detailed_criteria")
_RECORD = ("final_aggregate_score", "category_scores", "subcategory_scores", "detailed_criteria")
_METADATA = ("complete", "failures", "coverage")
_PASSED_OVER = {
    *("explanations", "evidence", "reason", "explanation", "evidence_extracts", "raw_response", "repair_response"),
    *("standing", "mapped", "calibrated"),
}
"""Texts, which may be erased, and what later exams and calibrations say."""
MOST_NAMED = 20
"""How many figures of a file are named that differ."""
_HEAD = re.compile(r"(\d{1,9})-(\d{1,18})-([0-9a-f]{64})")
_IN_REPORT = re.compile(rf"(?:<code>|`)({_HEAD.pattern})(?:</code>|`)")
"""A head as reports show it. Texts of answers cannot look like it: reports escape their `<` and backticks."""


class _KeptMetadata(Struct, frozen=True):
    ledger_heads: tuple[str, ...] = ()


class _KeptRun(Struct, frozen=True):
    metadata: _KeptMetadata = _KeptMetadata()


class _KeptFile(_KeptMetadata, frozen=True):
    run: _KeptRun = _KeptRun()


class Verification(Struct, frozen=True, kw_only=True):
    """What a verification found: by the chains, by computing scores and counts again, and in the file that was kept.

    Args:
        figures: figures of a results.json that was kept that are not those of the ledger; None: none was compared.
        misread: judgments whose scores, read again, are not those of their raw texts.
        unread: judgments whose scores were read again and could not be compared with their raw texts.
    """

    chains: ChainCheck
    scores: LedgerComparison
    misread: int
    unread: int
    figures: int | None = None

    @property
    def intact(self) -> bool:
        """Whether nothing was altered."""
        faults = (self.chains.faults, self.scores.differing, self.scores.damaged, self.misread, self.figures)
        return not any(faults)

    @property
    def empty(self) -> bool:
        """Whether there was nothing to verify."""
        return not self.chains.links and not self.chains.rows and not self.chains.faults

    @property
    def whole(self) -> bool:
        """Whether everything could be compared."""
        return not self.scores.unreadable and not self.unread


def check_rereadings(ledger: Ledger, numbers: Sequence[int], tell: Callable[[str], None]) -> tuple[int, int]:
    """How many of some judgments have other verdicts than their raw texts, each of which is told; how many cannot be compared."""
    panels, faults, left = _Panels(ledger), 0, 0
    damaged: list[DamagedRow] = []

    def read(numbers: Sequence[int]) -> list[tuple[int, Judgment, Case | None]]:
        judgments = ledger.judgments_numbered(numbers)
        cases = ledger.answers.cases_of([judgment.key for judgment in judgments.values()])
        return [(number, judgment, cases.get(judgment.key)) for number, judgment in judgments.items()]

    for part in chunks(numbers):
        for number, judgment, case in readable(read, part, damaged.append):
            panel = panels.of(judgment.run_id)
            outcomes = [verdict.outcome for verdict in judgment.verdicts]
            # no raw text holds a score that was computed from log-probabilities
            if panel is None or any(isinstance(outcome, Scored) and outcome.mass is not None for outcome in outcomes):
                left += 1
            elif not _is_as_read(judgment, panel, case):
                faults += 1
                tell(f"judgments {number}: altered (its scores are not those of its raw text)")
    return faults, left + len(damaged)


class _Panels:
    """The panels of a ledger, each read once; None where another version stored it."""

    def __init__(self, ledger: Ledger) -> None:
        self._runs: dict[str, Run] = {run.id: run for kind in ("monitor", "gate") for run in ledger.panels(kind)}
        self._runs |= {run.id: run for run in ledger.runs()}
        self._panels: dict[str, Panel | None] = {}

    def of(self, run_id: str) -> Panel | None:
        if run_id not in self._panels:
            run = self._runs.get(run_id)
            try:
                self._panels[run_id] = None if run is None else RunSpec.of(run) if run.kind == "bench" else Panel.of(run)
            except StorageError:
                self._panels[run_id] = None
        return self._panels[run_id]


def _is_as_read(judgment: Judgment, panel: Panel, case: Case | None) -> bool:
    criteria = panel.criteria_by_id()
    if (
        judgment.stored != "full"
        or not judgment.raw_text
        or any(verdict.criterion not in criteria for verdict in judgment.verdicts)
    ):
        return False
    return reparsed(judgment, panel, case or Case(id="", prompt="")).outcomes == judgment.outcomes


def verify_ledger(
    ledger: Ledger,
    kept: tuple[Head, ...],
    progress: Progress,
    tell: Callable[[str], None],
    differs: Callable[[StaleValue], None],
    results: Mapping[str, Any] | None = None,
) -> Verification:
    """Verify a ledger; nothing is written.

    Args:
        kept: heads that a report names; see `kept_heads`.
        progress: is told how many evaluations are compared.
        tell, differs: are told what was altered: rows and links, and computed values.
        results: the content of a results.json that was kept; its figures are compared too.

    Raises:
        StorageError: the ledger cannot be read.
    """
    chains = ledger.chains.check(kept, lambda fault: tell(str(fault)))
    misread, unread = check_rereadings(ledger, chains.reread, tell)
    differences = None if results is None else figure_differences(ledger, results)
    figures = None if differences is None else 0
    for figures, difference in enumerate(differences or (), 1):
        if figures <= MOST_NAMED:
            tell(f"the file's {difference}")
    return Verification(
        chains=chains,
        scores=check_ledger(ledger, progress, differs),
        misread=misread,
        unread=unread + chains.reread_and_erased,
        figures=figures,
    )


def kept_heads(path: Path) -> tuple[Head, ...]:
    """Read the heads that a file names: `results.json` or a report of any format.

    Raises:
        UserError: the file cannot be read, or names none.
    """
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}") from None
    try:
        named = msgspec.json.decode(content, type=_KeptFile)
        texts = [*named.ledger_heads, *named.run.metadata.ledger_heads]
    except msgspec.MsgspecError:
        texts = [match[0] for match in _IN_REPORT.findall(content.decode("utf-8", "replace"))]
    heads = {Head(int(match[1]), int(match[2]), match[3]) for text in texts if (match := _HEAD.fullmatch(text))}
    if not heads:
        raise UserError(f"{path} names no head of a ledger: give a results.json or a report of bench, monitor or gate")
    return tuple(sorted(heads))


def results_in(path: Path) -> dict[str, Any] | None:
    """The content of a results.json; None for any other file."""
    try:
        content = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None
    return content if isinstance(content, dict) and content.get("schema") == "areopage/results/1" else None


def figure_differences(ledger: Ledger, results: Mapping[str, Any]) -> Iterator[str] | None:
    """Name the figures of a results.json that are not those that the ledger comes to; None where they cannot be compared.

    Compared are the release verdict, the scores of run and cases, and failures. Texts and what depends on later exams, labels and
    runs are not. Files of `bench rescore` hold other scores on purpose.
    """
    metadata = _member(results, "run", "metadata")
    run_id = _member(metadata, "run_id")
    if not isinstance(run_id, str) or _member(metadata, "variant"):
        return None
    try:
        run = next(run for run in ledger.runs() if run.id == run_id)
    except (StopIteration, UnknownRun):
        return iter([f"run {run_id}: the ledger does not hold it"])
    try:
        return _differences(view_run(run, ledger), results)
    except DamagedRow as damage:
        return iter([f"run {run_id}: {damage}"])


def _differences(view: RunView, results: Mapping[str, Any]) -> Iterator[str]:
    verdicts = _verdicts(view)
    verdict = _member(results, "release", "verdict") or "none"
    if verdict not in verdicts:
        yield f"release.verdict: {verdict}; the ledger: {' or '.join(verdicts)}"
    run = _as_json(run_result(view))
    yield from _compared("run", _picked(results.get("run"), _RUN), _picked(run, _RUN))
    metadata = _picked(_member(results, "run", "metadata"), _METADATA)
    yield from _compared("run.metadata", metadata, _picked(run["metadata"], _METADATA))
    records = results.get("records")
    pairs = zip_longest(records if isinstance(records, list) else (), record_results(view))
    for number, (stored, record) in enumerate(pairs):
        computed = None if record is None else _picked(_as_json(record), _RECORD)
        yield from _compared(f"records[{number}]", _picked(stored, _RECORD), computed)


def _verdicts(view: RunView) -> tuple[str, ...]:
    """The verdicts that a file of the run can hold: that of now, and those of before or after exams of its judges.

    Before its judges were examined a run was INCONCLUSIVE. Where a judge was never examined, no file ever held a verdict that
    rests on its exam.
    """
    release, by_scores = view.release, view.scores_release
    if release is None or by_scores is None:
        return ("none",)
    if by_scores.verdict not in Release.PASSES:
        return (release.verdict,)
    examined = all(standing.state != "never_examined" for standing in view.standings)
    accepts = view.spec.release is not None and view.spec.release.unexamined == "accept"
    passed: tuple[Verdict, ...] = ("PASS", Release.PROVISIONAL) if examined else ()
    passed += (Release.UNEXAMINED,) if accepts else ()
    if by_scores.verdict in Release.WITH_UNREAD.values():
        passed = tuple(Release.WITH_UNREAD[verdict] for verdict in passed)
    others: tuple[Verdict, ...] = ("INCONCLUSIVE", *passed)
    return tuple(dict.fromkeys((release.verdict, *others)))


def _as_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _picked(value: Any, names: Sequence[str]) -> Any:
    return {name: value.get(name) for name in names} if isinstance(value, dict) else None


def _member(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _compared(place: str, stored: Any, computed: Any) -> Iterator[str]:
    if isinstance(computed, dict) and isinstance(stored, dict):
        for name in dict.fromkeys((*computed, *stored)):
            if name in _PASSED_OVER:
                continue
            yield from _compared(f"{place}.{name}", stored.get(name), computed.get(name))
    elif isinstance(computed, list) and isinstance(stored, list):
        for number, (mine, theirs) in enumerate(zip_longest(stored, computed)):
            yield from _compared(f"{place}[{number}]", mine, theirs)
    elif stored != computed:
        yield f"{place}: {_shown(stored)}; the ledger: {_shown(computed)}"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)[:60]
