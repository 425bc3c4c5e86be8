"""The page that compares the variants of an A/B test: the same tests as `areopage monitor compare`, valid on any day."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from areopage.compare.variants.comparison import VariantComparison
from areopage.compare.variants.text import variant_sections
from areopage.ledger import Scope
from areopage.monitor import criterion_labels, most_frequent
from areopage.report import variant_name
from areopage.server import (
    CUSTOM,
    REPORT_STYLES,
    TODAY,
    Chosen,
    Reader,
    ServerContext,
    ServerPart,
    chosen,
    command_here,
    context_of,
    language,
    render,
)

MOST_ANSWERS = 250_000
"""More answers are compared on the command line, which may take its time."""

BY_QUESTION = "by_question"

router = APIRouter(include_in_schema=False)
PART = ServerPart(router)


@router.get("/monitor/variants")
def show_variants(request: Request, reader: Reader) -> Response:
    """The choice of a baseline and of the day on which the test began, and the comparison of all variants with it."""
    context, locale = context_of(request), language(request)
    asked = chosen(request, context.now().date(), TODAY, reader.collections)
    by_question = request.query_params.get(BY_QUESTION) == "1"
    variants = context.ledger.lists.variants(reader.collections)
    baseline = asked.baseline
    if baseline is None or baseline not in variants:
        baseline = most_frequent({variant: _answers(context, asked, variant) for variant in variants}) or ""
    begun = asked.name == CUSTOM and len(variants) > 1
    too_many = begun and _answers(context, asked) > MOST_ANSWERS
    compared: tuple[VariantComparison, ...] = ()
    if begun and not too_many and asked.period is not None:
        compared = VariantComparison.of(
            context.ledger,
            asked.period,
            context.suite.scale,
            suite=context.suite.name,
            baseline=baseline,
            source=asked.source,
            by_question=by_question,
        )
    days = ("--since", str(asked.period.start), "--until", str(asked.period.last)) if asked.period else ()
    source = () if asked.source is None else ("--source", asked.source)
    how = ("--by-question",) if by_question else ()
    return render(
        request,
        "variants.html.j2",
        asked=asked,
        ignored=[parameter for parameter in asked.ignored if parameter.value != BY_QUESTION],
        variants=[(name, variant_name(name, locale)) for name in variants],
        sources=reader.collections or context.ledger.lists.sources(),
        baseline=baseline,
        by_question=by_question,
        begun=begun,
        too_many=too_many,
        most=MOST_ANSWERS,
        sections=variant_sections(compared, baseline, criterion_labels(context.suite, locale.code), locale),
        report_styles=REPORT_STYLES,
        command=command_here(request, "monitor", "compare", baseline, *days, *source, *how, takes_ledger=False),
    )


def _answers(context: ServerContext, asked: Chosen, variant: str | None = None) -> int:
    """How many scored answers the period has, of one variant or of all."""
    if asked.period is None:
        return 0
    scope = Scope(suite=context.suite.name, source=asked.source, variant=variant)
    return sum(day.scored for day in context.ledger.days.totals(asked.period, scope))
