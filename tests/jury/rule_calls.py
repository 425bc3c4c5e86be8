"""Calls to judges that are rules."""

import asyncio

from areopage.cases.records import Case
from areopage.criteria.records import Criterion, Scale
from areopage.jury.judges import CallContext, CallResult, Judge, JudgeBackend, PlannedCall


def criterion_of(id: str, scale: Scale) -> Criterion:
    """A criterion by its id."""
    category, subcategory, name = id.partition("__v")[0].split(".")
    return Criterion(
        id=id,
        category=category,
        subcategory=subcategory,
        name=name,
        version="1.0",
        role="",
        task="",
        scoring_guide="",
        output_format="",
        scale=scale,
    )


def asked(backend: JudgeBackend, case: Case, *criteria: Criterion, language: str) -> CallResult:
    """What a judge returns about a case."""
    judge = Judge(name="rules", reference=backend.reference, pass_options=({},))
    call = PlannedCall(key="k", case=case, criteria=criteria, judge=judge, pass_index=1)
    context = CallContext(run_id="run", secret=b"", personas={}, language=language)
    return asyncio.run(backend.judge(call, context))
