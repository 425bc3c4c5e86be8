"""What a list of runs says of each."""

from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from areopage.bench.figures.release import listed_verdict
from areopage.bench.results.coverage import JudgedTurns, RunCoverage, run_coverage, selected_judgments
from areopage.bench.spec import RunCase, RunSpec, read_rows
from areopage.criteria import BY_REPLY
from areopage.errors import StorageError
from areopage.ledger import Ledger, ReusedAnswers, Run, RunUse
from areopage.scoring import Verdict


class RunSummary(Struct, frozen=True, kw_only=True):
    """What a list of runs says of one.

    Args:
        spec: None if another version of areopage wrote the run.
        coverage: None without stored scores, or where a case cannot be read.
        damaged: the cases that cannot be read, each in a line.
        reused: the answers that were given to earlier runs; None where there are none.
        judgments: how many the scores use, whichever run asked for them.
        verdict: the release verdict; None without stored scores, or where the suite sets no floors.
    """

    run: Run
    spec: RunSpec | None
    cases: int
    coverage: RunCoverage | None
    judgments: int
    verdict: Verdict | None
    damaged: tuple[str, ...] = ()
    reused: ReusedAnswers | None = None


class _SelectedCriteria(Struct, frozen=True):
    criteria: tuple[str, ...]


def run_summaries(ledger: Ledger) -> Iterator[RunSummary]:
    """Summaries of all runs of a ledger, newest first."""
    uses = ledger.run_uses()
    for run in ledger.runs():
        use = uses.get(run.id, RunUse(judgments=0, evaluated=0, scored=0, not_applicable=0, planned=0))
        try:
            spec = RunSpec.of(run)
        except StorageError:
            spec = None
        texts = list(ledger.run_cases(run.id))
        damaged: list[str] = []
        cases = list(read_rows(texts, _SelectedCriteria, "run_cases", run.id, damaged))
        coverage = None
        if spec is not None and (run.finished_at is not None or use.evaluated):
            selected = Counter(key for case in cases for key in case.criteria)
            # a target's conversation may be shorter than planned
            if any(criterion.scope in BY_REPLY for criterion in spec.criteria):
                listed = list(read_rows(texts, RunCase, "run_cases", run.id, damaged))
                selected = selected_judgments(spec, listed, JudgedTurns(listed))
            coverage = run_coverage(spec, selected, use.scored, use.not_applicable)
            if use.evaluated == len(cases) and not coverage.lost:
                coverage = msgspec.structs.replace(coverage, planned=use.planned)
            elif spec.adaptive is not None:
                added = max(0, use.scored + use.not_applicable - coverage.planned)
                coverage = msgspec.structs.replace(coverage, planned=coverage.planned + added)
        reuses = spec is not None and (spec.reuse_answers or spec.reassessed)
        yield RunSummary(
            run=run,
            spec=spec,
            cases=len(texts),
            coverage=None if damaged else coverage,
            judgments=use.judgments,
            verdict=listed_verdict(run, spec, ledger) if spec is not None else None,
            damaged=tuple(damaged),
            reused=ledger.answers.reused_in(run.id) if reuses else None,
        )
