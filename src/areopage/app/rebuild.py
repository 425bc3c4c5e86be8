"""Compute every stored score and count again from answers, judgments, verdicts and decisions; compare it, or write it.

Each evaluation is computed under the panel that is stored with it. Evaluations are written in portions, each in one transaction:
a process that is killed in between leaves the old or the new values of each, and the next call does the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct, structs

from areopage.bench import RunCase, RunSpec, damaged_rows, outcome_of_run, run_evaluations, view_run
from areopage.cases import Case
from areopage.digest import digest_of_list
from areopage.errors import DamagedRow, StorageError
from areopage.jury import Panel, evaluated_again
from areopage.ledger import (
    Evaluation,
    GoldenRun,
    Judgment,
    Ledger,
    Orphans,
    Run,
    StaleValue,
    StoredOutcome,
    evaluation_differences,
    field_differences,
    readable,
    with_computed,
)
from areopage.monitor import recomputed_round

_CASE = msgspec.json.Decoder(RunCase)

PORTION = 200
OF_ROUNDS = ("asked", "answered", "scored", "mean", "change")

Progress = Callable[[int], None]


class LedgerComparison(Struct, frozen=True, kw_only=True):
    """What a ledger stores against what it comes to.

    Args:
        checked: evaluations that were computed again.
        differing: how many stored values are not the computed ones.
        unreadable: panels that another version stored, with the reason; their evaluations are not computed.
        damaged: rows that cannot be read; what rests on them is not computed.
    """

    checked: int
    differing: int
    orphans: Orphans
    unreadable: dict[str, str]
    damaged: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether all could be computed, and nothing differs."""
        return not self.differing and not self.unreadable and not self.damaged


class Rebuilt(Struct, frozen=True, kw_only=True):
    """What a rebuild did; `unreadable` and `damaged` are as in `LedgerComparison`."""

    computed: int
    written: int
    unreadable: dict[str, str]
    damaged: tuple[str, ...] = ()


def count_stored(ledger: Ledger) -> int:
    """How many evaluations there are to compute again."""
    return ledger.caches.count_evaluated("monitor") + ledger.caches.count_evaluated("bench")


def check_ledger(ledger: Ledger, progress: Progress, differs: Callable[[StaleValue], None]) -> LedgerComparison:
    """Compare what is stored with what it is computed from; nothing is written.

    Args:
        progress: is told how many evaluations are compared.
        differs: is told each stored value that is not the computed one.
    """
    recomputing, differing = _Recomputing(ledger, progress), 0
    evaluations = (difference for portion in recomputing.portions() for change in portion for difference in change.differences)
    rounds = (difference for _, differences in _rounds(ledger) for difference in differences)
    runs = (difference for part in (recomputing.altered, recomputing.outcome_differences()) for difference in part)
    for differences in (evaluations, runs, rounds, ledger.caches.day_differences(), ledger.caches.equal_differences()):
        for difference in differences:
            differs(difference)
            differing += 1
    return LedgerComparison(
        checked=recomputing.done,
        differing=differing,
        orphans=ledger.caches.orphans(),
        unreadable=recomputing.unreadable,
        damaged=tuple(recomputing.damaged),
    )


def rebuild_ledger(ledger: Ledger, progress: Progress) -> Rebuilt:
    """Replace every score and every count with the computed one.

    Args:
        progress: is told how many evaluations are rebuilt.
    """
    recomputing, written = _Recomputing(ledger, progress), 0
    for portion in recomputing.portions():
        wrong = [change for change in portion if change.differences]
        written += ledger.caches.rewrite([(change.stored, change.computed) for change in wrong if change.stored is not None])
        ledger.evaluations.put([change.computed for change in wrong if change.stored is None])
    for run_id, outcome in recomputing.outcomes.items():
        ledger.put_outcome(run_id, outcome)
    for computed, differences in _rounds(ledger):
        if differences:
            ledger.golden_runs.save(computed)
    ledger.caches.rebuild_days()
    ledger.caches.rebuild_equals()
    return Rebuilt(
        computed=recomputing.done, written=written, unreadable=recomputing.unreadable, damaged=tuple(recomputing.damaged)
    )


def store_readings(ledger: Ledger, readings: Sequence[Judgment], actor: str, progress: Progress) -> Rebuilt:
    """Store judgments whose raw texts were read again in place of what is stored of them, then rebuild every score."""
    ledger.audit.note(actor, "reparse", "", f"{len(readings)} judgments")
    ledger.reread(readings)
    return rebuild_ledger(ledger, progress)


def _rounds(ledger: Ledger) -> Iterator[tuple[GoldenRun, list[StaleValue]]]:
    for stored in ledger.golden_runs.list(limit=None):
        if stored.finished_at is not None:
            computed = recomputed_round(ledger, stored)
            yield computed, list(field_differences(stored, computed, OF_ROUNDS, "golden_runs."))


class _Change(Struct, frozen=True):
    """An evaluation as it is stored (None: not at all) and as it is computed."""

    stored: Evaluation | None
    computed: Evaluation
    differences: tuple[StaleValue, ...]


class _Recomputing:
    """Goes through the evaluations of a ledger once. `done` counts them."""

    def __init__(self, ledger: Ledger, progress: Progress) -> None:
        self._ledger, self._progress = ledger, progress
        self._panels: dict[str, Panel | None] = {}
        self.unreadable: dict[str, str] = {}
        self.outcomes: dict[str, StoredOutcome] = {}
        self.altered: list[StaleValue] = []
        self.damaged: list[str] = []
        self._erased: set[str] = set()
        self.done = 0

    def portions(self) -> Iterator[list[_Change]]:
        """Every evaluation with what it should be, a portion at a time."""
        for portion in self._ledger.streams.evaluated("monitor", on_damage=self._note_damage):
            chosen = [(answer, evaluation) for answer, evaluation in portion if self._panel(evaluation.run_id) is not None]
            yield readable(self._monitored, chosen, self._note_damage) if chosen else []
            self._count(len(portion))
        for run in self._ledger.runs():
            damaged = damaged_rows(self._ledger, run.id)
            self.damaged += damaged
            if damaged:
                continue
            try:
                for changes in self._of_bench(run):
                    yield changes
                    self._count(len(changes))
            except DamagedRow as damage:
                self._note_damage(damage)

    def _of_bench(self, run: Run) -> Iterator[list[_Change]]:
        """The evaluations of a run of the benchmark; none while it is carried out, for its scores are stored at the end."""
        try:
            spec = RunSpec.of(run)
        except StorageError as fault:
            self.unreadable[run.id] = str(fault)
            return
        if spec.dataset_digest and not _are_same_cases(self._ledger.run_cases(run.id), spec.dataset_digest):
            what = "not those that the run began with"
            self.altered.append(StaleValue(subject=run.id, run_id=run.id, field="run_cases", stored="", computed=what))
        parts = self._ledger.streams.evaluated("bench", run.id, self._note_damage)
        stored = {evaluation.id: evaluation for part in parts for _, evaluation in part}
        if not stored and run.finished_at is None:
            return
        view = view_run(run, self._ledger, linked=False)
        self.outcomes[run.id] = outcome_of_run(view)
        self._erased |= {run.id} if view.erased else set()
        made = [evaluation for evaluation, _ in run_evaluations(view)]
        numbered = self._ledger.answers.numbers([evaluation.id for evaluation in made])
        changes = [_of_run(stored.get(evaluation.id), evaluation) for evaluation in made if evaluation.id in numbered]
        for start in range(0, len(changes), PORTION):
            yield changes[start : start + PORTION]

    def outcome_differences(self) -> Iterator[StaleValue]:
        """The outcomes of runs that are not as they were stored; those of which answers are erased may come to another one."""
        for run in self._ledger.runs():
            computed = self.outcomes.get(run.id)
            is_kept = run.outcome is None or run.id not in self._erased
            if computed is not None and computed != run.outcome and is_kept:
                yield StaleValue(subject=run.id, run_id=run.id, field="runs.outcome", stored=run.outcome, computed=computed)

    def _monitored(self, portion: Sequence[tuple[int, Evaluation]]) -> list[_Change]:
        judgments = self._ledger.judgments_under([(answer, evaluation.run_id) for answer, evaluation in portion])
        words = self._ledger.caches.word_differences([evaluation for _, evaluation in portion])
        changes: list[_Change] = []
        for answer, evaluation in portion:
            panel = self._panel(evaluation.run_id)
            if panel is not None:
                made = judgments.get((answer, evaluation.run_id), ())
                again = evaluated_again(panel, evaluation.run_id, Case(id=evaluation.id, prompt=""), made, evaluation.timestamp)
                computed = with_computed(evaluation, again, has_texts=all(judgment.stored == "full" for judgment in made))
                differences = evaluation_differences(evaluation, computed)
                if evaluation.number in words:
                    indexed, wanted = words[evaluation.number]
                    differences.append(
                        StaleValue(
                            subject=evaluation.id, run_id=evaluation.run_id, field="words", stored=indexed, computed=wanted
                        )
                    )
                changes.append(_Change(evaluation, computed, tuple(differences)))
        return changes

    def _panel(self, run_id: str) -> Panel | None:
        if run_id not in self._panels:
            self._panels[run_id] = None
            run = self._ledger.panel(run_id)
            try:
                if run is None:
                    raise StorageError(f"run {run_id}: it is no panel of the monitor")
                self._panels[run_id] = Panel.of(run)
            except StorageError as fault:
                self.unreadable[run_id] = str(fault)
        return self._panels[run_id]

    def _note_damage(self, damage: DamagedRow) -> None:
        self.damaged.append(str(damage))

    def _count(self, more: int) -> None:
        self.done += more
        self._progress(self.done)


def _are_same_cases(texts: Iterable[str], digest: str) -> bool:
    """Whether the cases of a run are those of its specification, which is in the chain.

    Where texts were erased, or signs replaced that no database takes, there is nothing to compare.
    """
    cases: list[RunCase] = []
    for text in texts:
        case = _CASE.decode(text)
        if not case.case.prompt or "\ufffd" in text or "\\u0000" in text:
            return True
        cases.append(case)
    return digest_of_list(cases) == digest


def _of_run(stored: Evaluation | None, computed: Evaluation) -> _Change:
    if stored is None:
        missing = StaleValue(
            subject=computed.id, run_id=computed.run_id, field="evaluation", stored=None, computed=computed.score_global
        )
        return _Change(None, computed, (missing,))
    kept = ("number", "received_at", "prompt", "response", "erased")
    whole = structs.replace(computed, **{name: getattr(stored, name) for name in kept})
    return _Change(stored, whole, tuple(evaluation_differences(stored, whole)))
