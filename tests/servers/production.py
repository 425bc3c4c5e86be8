"""Answers of production that a panel judged, in the ledger of a benchmark run."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from areopage.bench.spec import RunSpec
from areopage.jury.panel import Panel
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import CriterionResult, Evaluation
from areopage.ledger.write.evaluations import Evaluations
from areopage.scoring.grades import grade_of
from servers.evaluated import submitted

TODAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def panel_like(spec: RunSpec, **changes: Any) -> Panel:
    """The panel of a run, as the monitor would have it."""
    own = {name: getattr(spec, name) for name in Panel.__struct_fields__}
    return Panel(**own | changes)


def put_answers(
    ledger: Ledger, panel: Panel, scores: Iterable[Mapping[str, float | None]], *, prefix: str = "p", **fields: Any
) -> None:
    """Store answers that a panel judged.

    Args:
        scores: of each answer by a criterion's name.
        fields: of all answers, or, where it is a function, of the answer with a number; `days_ago` is one of them.
    """
    run = panel.as_run("monitor")
    ledger.put_panel(run)
    for number, given in enumerate(scores):
        own = {name: value(number) if callable(value) else value for name, value in fields.items()}
        at = TODAY - timedelta(days=own.pop("days_ago", 0))
        metadata = own.pop("metadata", {})
        answer = submitted(f"{prefix}-{number}", prompt=own.pop("prompt", f"User question {prefix} {number}?"), **own)
        case = msgspec.structs.replace(answer.case, metadata=metadata)
        answer = msgspec.structs.replace(answer, case=case, received_at=at, answered_at=at)
        Evaluations(ledger).submit([answer])
        results = tuple(
            CriterionResult(criterion=one.path, score=given[one.name], grade=grade_of(given[one.name], panel.scale))
            for one in panel.criteria
            if one.name in given
        )
        known = [one.score for one in results if one.score is not None]
        evaluation = Evaluation(
            id=answer.id,
            run_id=run.id,
            state="evaluated",
            timestamp=at,
            evaluated_at=at,
            suite=panel.suite,
            suite_version=panel.suite_version,
            language=answer.language,
            source=answer.source,
            variant=answer.variant,
            prompt=answer.case.prompt_text,
            response=answer.case.response or "",
            score_global=sum(known) / len(known) if known else None,
            criteria=results,
        )
        Evaluations(ledger).finish(evaluation, [], None)
