"""The pages "How far can you trust this?" of a benchmark run, and of a period of production."""

from fastapi import APIRouter
from msgspec import structs
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.bench import Trust, trust_sections, trust_title
from areopage.ledger import last_days
from areopage.locales import sentence_case
from areopage.monitor import PeriodFigures, criterion_labels
from areopage.report import period_trust, report_locale
from areopage.review import Rubric, ledger_worth
from areopage.server.access import Reader
from areopage.server.context import context_of
from areopage.server.pages.filters import chosen
from areopage.server.pages.rendering import REPORT_STYLES, language_code, places_here, render, run_places, with_places
from areopage.server.pages.runs import view_of

DEFAULT_PERIOD = "30"
SPANS = ("7", "30", "90")

router = APIRouter(include_in_schema=False)


@router.get("/runs/{id:path}/trust")
def show_run_trust(request: Request, id: str, reader: Reader) -> Response:
    """How far the score of a run can be trusted, from the ledger as it is now."""
    if not id:
        return RedirectResponse("/runs", 303)
    view = view_of(context_of(request), reader, id)
    if view is None:
        return render(request, "missing.html.j2", 404)
    locale, trust = report_locale(language_code(request)), view.in_language(language_code(request)).trust
    trust = _placed(trust, run_places(request, view.run.folder))
    return render(
        request,
        "trust_run.html.j2",
        view=view,
        title=trust_title(trust, locale),
        sections=trust_sections(trust, locale),
        report_styles=REPORT_STYLES,
    )


@router.get("/trust")
def show_period_trust(request: Request, reader: Reader) -> Response:
    """How far the scores of a period can be trusted; labels count of all days, of answers in the reader's scope."""
    context, locale = context_of(request), report_locale(language_code(request))
    ledger, suite = context.ledger, context.suite
    asked = chosen(request, context.now().date(), DEFAULT_PERIOD, reader.collections)
    period = asked.period or last_days(30, context.now().date())
    figures = PeriodFigures.of(ledger, period, asked.scope(suite.name), suite.scale, criterion_labels(suite, locale.code))
    sources = () if asked.source is None else (asked.source,)
    worth = ledger_worth(ledger, Rubric.of_suite(suite), sources)
    trust = _placed(period_trust(ledger, suite, figures, locale.code, worth, sources), places_here(request))
    lists = ledger.lists
    return render(
        request,
        "trust_period.html.j2",
        asked=asked,
        periods=SPANS,
        period=sentence_case(locale.period(period.start, period.last)),
        suite=suite.name,
        sources=tuple(filter(reader.may_see, lists.sources())),
        variants=tuple(lists.variants(reader.collections)),
        title=trust_title(trust, locale),
        sections=trust_sections(trust, locale),
        report_styles=REPORT_STYLES,
    )


def _placed(trust: Trust, places: tuple[str, ...]) -> Trust:
    """The same with commands that name the places of this server."""
    steps = (structs.replace(step, command=with_places(step.command, places)) for step in trust.steps)
    return structs.replace(trust, steps=tuple(steps))
