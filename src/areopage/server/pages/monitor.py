"""The pages of the monitor: overview, alerts, queue, golden questions, agreement."""

from collections.abc import Mapping
from datetime import date, timedelta
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from areopage.errors import UserError
from areopage.ledger import GOLDEN_SOURCE, JUDGEABLE, SAMPLE, Filters, Period, Scope
from areopage.locales import Locale
from areopage.monitor import DROP, RULES, Losses, accept_level, criterion_labels, retry_answers
from areopage.report import (
    STYLES,
    Series,
    TrendChart,
    agreement_remarks,
    claim_text,
    draw,
    figure_text,
    name_of,
    range_text,
    scale_text,
    score_histogram,
    worth_rows,
    worth_texts,
)
from areopage.review import EVERY, Rubric
from areopage.scoring import grade_limits
from areopage.server.access import Actor, Form, Reader, Writer, note, note_shown
from areopage.server.api.figures import measured, note_alerts
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.pages.answers import shown_alerts
from areopage.server.pages.filters import TODAY, Chosen, Ignored, choice_of, chosen, ignore_unknown, number_of
from areopage.server.pages.overview import Overview, overview_of, trends_of
from areopage.server.pages.rendering import CHART_STYLES, KEPT, language, render

router = APIRouter(include_in_schema=False)

ALERTS_SHOWN = 100
MOST_COUNTED = 10_000
FAILED_SHOWN = 100
FAILED_AT_ONCE = 10_000
ROUNDS_SHOWN = 60
SPANS = ("7", "30", "90")


@router.get("/monitor")
def show_overview(request: Request, reader: Reader) -> Response:
    """The whole page."""
    asked, view, spoken = _gathered(request, reader)
    address = f"{request.url.scheme}://{request.url.netloc}/v1/evaluations"
    body = '{"id": "first", "prompt": "Question?", "response": "Answer.", "documents": [{"title": "Source", "text": "Text."}]}'
    command = f"curl {address} \\\n  -H 'Content-Type: application/json' -H 'Authorization: Bearer KEY' \\\n  -d '{body}'"
    return render(request, "overview.html.j2", **_shown(context_of(request), asked, view, spoken), first_answer=command)


@router.get("/monitor/figures")
def show_figures(request: Request, reader: Reader) -> Response:
    """Return the live part of the page; 204 where the reader's copy is current."""
    asked, view, spoken = _gathered(request, reader, live=True)
    if request.query_params.get("seen") == view.digest:
        return Response(status_code=204)
    return render(request, "live.html.j2", **_shown(context_of(request), asked, view, spoken))


@router.get(CHART_STYLES)
def chart_styles() -> Response:
    """The styles of charts, which reports have in common with the pages."""
    return FileResponse(STYLES, headers=KEPT)


def _gathered(request: Request, reader: Reader, *, live: bool = False) -> tuple[Chosen, Overview, Locale]:
    context, spoken = context_of(request), language(request)
    asked = chosen(request, context.now().date(), TODAY, reader.collections)
    return asked, overview_of(request, asked, criterion_labels(context.suite, spoken.code), reader, live=live), spoken


def _shown(context: ServerContext, asked: Chosen, view: Overview, spoken: Locale) -> dict[str, Any]:
    scale = context.suite.scale
    threshold = context.config.monitor.section.thresholds(scale).answer
    return {
        "asked": asked,
        "view": view,
        "updated": context.now(),
        "scale": scale,
        "threshold": threshold,
        "edges": grade_limits(scale),
        "trends": trends_of(view.trend, view.figures, scale, threshold, spoken),
        "distribution": draw(score_histogram(view.figures.overall, scale, spoken), spoken),
    }


@router.get("/monitor/alerts")
def show_alerts(request: Request, reader: Reader) -> Response:
    """The open alerts by rule, single answers last, and the newest past ones; of one rule if chosen."""
    context = context_of(request)
    alerts, ignored, sources = context.ledger.alerts, list[Ignored](), reader.collections
    ignore_unknown(request.query_params, ("rule", "page", "incident"), ignored)
    rule = choice_of(request.query_params, "rule", RULES, "alert_rule", ignored) or ""
    page = number_of(request.query_params, "page", "page", ignored, least=1) or 1
    incident = number_of(request.query_params, "incident", "incident", ignored) or None
    counts, folded = alerts.counts(sources=sources), not rule and not incident and not sources
    listed = alerts.counts(sources=sources, folded=folded)
    count = listed.get(rule, 0) if rule else sum(listed.values())
    if incident:
        count = len(alerts.list(state="open", rule=rule, incident=incident, sources=sources, limit=MOST_COUNTED))
    skip, lister = (page - 1) * ALERTS_SHOWN, partial(alerts.list, rule=rule, incident=incident, sources=sources, folded=folded)
    shown = lister(state="open", first=RULES, skip=skip, limit=ALERTS_SHOWN)
    past = lister(state="closed", limit=ALERTS_SHOWN)
    note_alerts(request, reader, (*shown, *past))
    return render(
        request,
        "alerts.html.j2",
        shown=shown_alerts(context, shown, language(request)),
        past=shown_alerts(context, past, language(request)),
        rules=[(name, counts.get(name, 0)) for name in RULES if name in counts or name == rule],
        rule=rule,
        incident=incident,
        members=alerts.members([alert.number for alert in (*shown, *past)]) if not sources else {},
        total=sum(counts.values()),
        page=page,
        pages=max(1, -(-count // ALERTS_SHOWN)),
        ignored=ignored,
        lost=alerts.count_undelivered(sources),
        has_addresses=bool(context.config.monitor.section.alerts.urls),
        may_accept=reader.role != "read" and not reader.collections,
        drop=DROP,
    )


@router.post("/monitor/alerts/accept")
def accept(request: Request, writer: Writer, form: Form) -> Response:
    """Accept the level since a fall of quality: its incident closes."""
    writer.check_unscoped()
    number, reason = str(form.get("number", "")), str(form.get("note", ""))
    if not number.isdecimal() or not reason.strip():
        raise Refusal(422, "note_missing", "give the incident and a note")
    context = context_of(request)
    try:
        accept_level(context.ledger, int(number), writer.name, reason, context.now(), key_id=writer.key_id)
    except UserError as error:
        raise Refusal(409, "not_open", str(error)) from None
    return RedirectResponse("/monitor/alerts", 303)


@router.get("/monitor/queue")
def show_queue(request: Request, reader: Reader) -> Response:
    """Waiting and failed answers, and the workers."""
    context = context_of(request)
    now, evaluations = context.now(), context.ledger.evaluations
    backlog = evaluations.backlog(reader.collections)
    dead_after = context.config.monitor.section.worker.dead_after
    waiting = evaluations.waiting(FAILED_SHOWN, reader.collections)
    failed = evaluations.failed(FAILED_SHOWN, reader.collections)
    listed = [evaluation.id for evaluation in (*waiting, *failed)]
    note_shown(request, context.ledger, reader, f"a list of {len(listed)} answers", listed)
    judgeable = context.config.shared.storage.text in JUDGEABLE
    losses = _losses_of(context, reader)
    return render(
        request,
        "queue.html.j2",
        backlog=backlog,
        waits=backlog.waited(now),
        workers=[
            (worker, worker.state_at(now, dead_after), (now - worker.seen_at).total_seconds())
            for worker in context.ledger.workers.list()
        ],
        waiting=waiting,
        losses=losses,
        loss_kinds=_kinds_text(language(request), "hook_kinds", losses.counts),
        doubt_kinds=_kinds_text(language(request), "doubt_kinds", losses.doubts),
        failed=failed,
        may_write=reader.role != "read",
        may_retry=reader.role != "read" and judgeable,
        judgeable=judgeable,
    )


def _losses_of(context: ServerContext, reader: Actor) -> Losses:
    """What hooks lost or doubted; of a limited reader's sources the counts that workers have stored."""
    if not reader.collections:
        return Losses.of(context.config.monitor.spool)
    hooks, always = context.ledger.hook_counts, Period(start=date.min, end=date.max)
    counts = hooks.lost(always, Scope(), reader.collections)
    return Losses(counts=counts, doubts=hooks.doubtful(always, Scope(), reader.collections))


def _kinds_text(locale: Locale, key: str, counts: Mapping[str, int]) -> str:
    """Kinds of losses or doubts with their counts."""
    words: Mapping[str, Mapping[str, str]] = locale.messages[key]
    return " · ".join(f"{words.get(kind, kind)} ({locale.whole(count)})" for kind, count in sorted(counts.items()))


@router.post("/monitor/queue/retry")
def retry(request: Request, writer: Writer, form: Form) -> Response:
    """Requeue failed answers in the writer's scope: the given one, else all."""
    context, id = context_of(request), form.get("id")
    ledger, judgeable = context.ledger, context.config.shared.storage.text in JUDGEABLE
    ids = [id] if isinstance(id, str) else None
    if writer.collections:
        evaluations = ledger.evaluations
        unfinished = evaluations.failed(FAILED_AT_ONCE, writer.collections)
        unfinished += evaluations.waiting(FAILED_AT_ONCE, writer.collections, tried=True)
        theirs = [evaluation.id for evaluation in unfinished]
        ids = theirs if ids is None else [asked for asked in ids if asked in theirs]
    reopened = retry_answers(ledger, ids, given_up=judgeable)
    if not reopened and not judgeable:
        raise Refusal(409, "not_judgeable", "the storage policy left no whole text that a judge could read")
    note(ledger, writer, "settings", id if isinstance(id, str) else "", f"tried again: {reopened}")
    return RedirectResponse("/monitor/queue", 303)


@router.get("/monitor/golden")
def show_golden(request: Request, reader: Reader) -> Response:
    """The newest rounds of golden questions, which belong to no source."""
    reader.check_unscoped()
    context, spoken = context_of(request), language(request)
    rounds = context.ledger.golden_runs.list(context.suite.name, ROUNDS_SHOWN)
    source = f"{GOLDEN_SOURCE}{context.suite.name}"
    newest = context.ledger.lists.page(Filters(source=source), limit=1)
    by_time = sorted((run for run in rounds if run.mean is not None), key=lambda run: run.started_at)
    scale, days = context.suite.scale, [run.started_at.date() for run in by_time]
    several = len(set(days)) < len(days)
    chart = TrendChart(
        title=spoken.say("golden_trend"),
        days=tuple(spoken.short_date(run.started_at.date()) + (f" {run.started_at:%H:%M}" if several else "") for run in by_time),
        series=(
            Series(
                label=spoken.say("mean_score"),
                values=[run.mean for run in by_time],
                css="c0",
                notes=[spoken.count("day_answers", run.scored) for run in by_time],
            ),
        ),
        low=scale.min,
        high=scale.max,
    )
    return render(
        request,
        "golden.html.j2",
        rounds=rounds,
        source=source,
        qualified=newest[0].qualification if newest else "",
        chart=draw(chart, spoken) if len(by_time) > 1 else None,
        section=context.config.monitor.section.golden,
        scale=scale,
    )


@router.get("/agreement")
def show_agreement(request: Request, reader: Reader, days: str = "", judge: str = "", only: str = "") -> Response:
    """The agreement over the labels of the last days, or over all labels; invalid parameters are ignored and named."""
    context, lang = context_of(request), language(request)
    since = context.now() - timedelta(days=int(days)) if days in SPANS else None
    report = measured(request, reader, lang.code, since, judge, sample_only=only != EVERY, lenient=True)
    checked = (
        ("agreement_period", days, ("", *SPANS)),
        ("agreement_which", only, ("", SAMPLE, EVERY)),
        ("agreement_judge", judge, ("", report.judge)),
    )
    claims = [claim_text(lang, criterion.claim, criterion.items) for criterion in report.agreement.criteria]
    return render(
        request,
        "agreement.html.j2",
        report=report,
        ignored=[Ignored(field=field, value=value) for field, value, valid in checked if value not in valid],
        days=days if days in SPANS else "",
        spans=SPANS,
        criteria=[str(entry.path) for entry in Rubric.of_suite(context.suite).entries],
        name_of=partial(name_of, lang, report),
        scale_of=partial(scale_text, lang, report),
        figure=partial(figure_text, lang),
        inner=partial(range_text, lang),
        difference=lang.signed,
        claims=claims,
        same_claim=claims[0] if len(claims) > 1 and len(set(claims)) == 1 else "",
        remarks=agreement_remarks(report, lang),
        worth=list(worth_texts(report.worth, lang)) if report.worth else [],
        worth_rows=worth_rows(report.worth.labelled, lang) if report.worth and report.worth.labelled.enough else [],
        scale=context.suite.scale,
    )
