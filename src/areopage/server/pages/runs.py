"""Pages of benchmark runs: what people say of a run against its jury, and its sign-offs."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.bench import (
    LONGEST_NAME,
    LONGEST_NOTE,
    REPORT,
    RunSpec,
    RunView,
    exam_steps,
    failures_title,
    floor_lines,
    human_texts,
    listed_verdict,
    no_release_text,
    progress_of,
    release_text,
    reservation_line,
    reservations,
    sign_run,
    signoff_texts,
    view_run,
)
from areopage.errors import StorageError, UserError
from areopage.ledger import Ledger, Run, SignOff
from areopage.locales import Locale
from areopage.report import TEMPLATES
from areopage.scoring import Verdict
from areopage.server.access import Actor, Form, Reader, Writer, rater_of
from areopage.server.context import ServerContext, context_of
from areopage.server.pages.rendering import KEPT, REPORT_STYLES, language, render, run_places, run_url, trust_url

LISTED = 100

router = APIRouter(include_in_schema=False)


class Signing(Struct, frozen=True, kw_only=True):
    """The fields of the form."""

    name: str = ""
    role: str = ""
    verdict: str = ""
    note: str = ""


class Listed(Struct, frozen=True, kw_only=True):
    """A line of the list. `target` is "" where answers came with the dataset; `signed` has the latest sign-off of each name."""

    run: Run
    target: str
    verdict: Verdict | None
    signed: tuple[tuple[SignOff, str], ...]


@router.get(REPORT_STYLES)
def report_styles() -> Response:
    """The styles of reports, for the part of a page that shows one."""
    styles = (TEMPLATES / "report.css").read_text(encoding="utf-8").replace(":root", "&")
    # nested so that they hold within a report alone
    return Response(f".report {{\n{styles}\n}}\n", media_type="text/css", headers=KEPT)


@router.get("/runs")
def list_runs(request: Request, reader: Reader) -> Response:
    """The newest benchmark runs; a key that is limited to some sources cannot list them."""
    reader.check_unscoped()
    ledger, locale = context_of(request).ledger, language(request)
    stored, signed = ledger.runs(), dict[str, dict[str, SignOff]]()
    for signoff in ledger.signoffs.of():  # the latest of each name
        signed.setdefault(signoff.run_id, {})[signoff.name] = signoff
    runs = [_listed(run, signed.get(run.id, {}), ledger, locale) for run in stored[:LISTED]]
    going = {fleet_run.run_id for fleet_run in ledger.fleet.open_runs()}
    return render(request, "runs.html.j2", runs=runs, more=len(stored) - LISTED, open=going)


def _listed(run: Run, signed: Mapping[str, SignOff], ledger: Ledger, locale: Locale) -> Listed:
    spec = None
    with suppress(StorageError):  # another version of areopage wrote it
        spec = RunSpec.of(run)
    verdict = listed_verdict(run, spec, ledger) if spec is not None else None
    texts = []
    for signoff in signed.values():
        text, state = locale.say(f"run_signed_{signoff.verdict}", name=signoff.name), signoff.signed
        # whether the labels have changed since tells only the run's own page
        changed = run.outcome is not None and (run.outcome.results, verdict or "") != (state.results, state.release)
        texts.append((signoff, locale.say("run_signed_earlier", told=text) if changed else text))
    return Listed(run=run, target=spec.answered_by if spec is not None else "?", verdict=verdict, signed=tuple(texts))


@router.get("/runs/{id:path}/progress")
def show_progress(request: Request, id: str, reader: Reader) -> Response:
    """Calls done of those planned by judge, workers, rate, time left and cost; a run without workers has its own page alone."""
    context = context_of(request)
    run = visible_run(context, reader, id) if id else None
    if run is None:
        return RedirectResponse("/runs", 303) if not id else render(request, "missing.html.j2", 404)
    progress = progress_of(context.ledger, run.id, RunSpec.of(run), context.now())
    if progress is None:
        return RedirectResponse(run_url(run.id), 303)
    return render(request, "run_progress.html.j2", run=run, progress=progress, address=run_url(run.id))


@router.get("/runs/{id:path}")
def show_run(request: Request, id: str, reader: Reader) -> Response:
    """A run: release verdict, sign-offs, agreement with people, and the form to sign it."""
    if not id:
        return RedirectResponse("/runs", 303)
    view = view_of(context_of(request), reader, id)
    return render(request, "missing.html.j2", 404) if view is None else _run_page(request, reader, view)


@router.post("/runs/{id:path}")
def sign(request: Request, id: str, writer: Writer, form: Form) -> Response:
    """Sign a run in the name of the key, or on a server without keys in the name that is given."""
    context = context_of(request)
    view = view_of(context, writer, id)
    if view is None:
        return render(request, "missing.html.j2", 404)
    fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    sent = Signing(
        name=fields.get("name", "") if writer.keyless else writer.name,
        role=fields.get("role", ""),
        verdict=fields.get("verdict", ""),
        note=fields.get("note", "").replace("\r\n", "\n"),
    )
    fault = _fault_of(language(request), view, sent)
    if fault:
        return _run_page(request, writer, view, sent=sent, fault=fault)
    try:
        sign_run(
            view,
            context.ledger,
            sent.name,
            "approve" if sent.verdict == "approve" else "reject",
            context.now(),
            role=sent.role,
            note=sent.note,
            actor=writer.name,
            key_id=writer.key_id,
        )
    except StorageError:
        raise
    except UserError as refused:
        return _run_page(request, writer, view, sent=sent, fault=str(refused))
    return RedirectResponse(run_url(view.run.id), 303)


def view_of(context: ServerContext, actor: Actor, id: str) -> RunView | None:
    """A run; None where it is not there, or not all its answers are in the actor's scope."""
    run = context.ledger.panel(id, "bench")
    if run is None:
        return None
    view = view_run(run, context.ledger)
    answer_ids = list(view.answer_ids.values())
    may_see = not actor.collections or (answer_ids and actor.may_see_answers(context.ledger, answer_ids))
    return view if may_see else None


def visible_run(context: ServerContext, actor: Actor, id: str) -> Run | None:
    """The record of a run, if all its answers are in the actor's scope."""
    if not actor.collections:
        return context.ledger.panel(id, "bench")
    view = view_of(context, actor, id)
    return view.run if view is not None else None


class RunChoice(Struct, frozen=True, kw_only=True):
    """A run that can be chosen: its id, and what it is called."""

    id: str
    label: str


def run_choices(runs: Sequence[Run]) -> list[RunChoice]:
    """The newest runs as choices: target, suite, day and id."""
    choices = []
    for run in runs[:LISTED]:
        target = "?"
        with suppress(StorageError):  # another version of areopage wrote it
            target = RunSpec.of(run).answered_by
        words = (target, run.suite, f"{run.created_at:%Y-%m-%d}", run.id)
        choices.append(RunChoice(id=run.id, label=" · ".join(filter(None, words))))
    return choices


def _fault_of(locale: Locale, view: RunView, sent: Signing) -> str:
    if not sent.name.strip():
        return locale.say("review_no_rater")
    if sent.verdict not in ("approve", "reject"):
        return locale.say("sign_no_verdict")
    if sent.verdict == "approve" and not view.complete:
        return locale.say("sign_not_complete")
    if sent.verdict == "approve" and not sent.note.strip() and any(reservations(view)):
        return locale.say("sign_no_note")
    return ""


def _run_page(request: Request, actor: Actor, view: RunView, *, sent: Signing | None = None, fault: str = "") -> Response:
    locale = language(request)
    view = view.in_language(locale.code)
    release, people = view.release, view.reviewed
    figures = people.sample or people.all_labelled if people else None
    criteria = view.spec.criteria_by_id()
    # keys are not told of the server's folders
    report = Path(view.run.folder) / REPORT
    place = run_places(request, view.run.folder) or None
    steps = exam_steps(view, release, locale, place) if release else ()
    is_here = bool(view.run.folder) and report.is_file()
    compared = [  # a criterion with the jury's failures against people's
        (criteria[id].title, figure)
        for id, figure in (figures.criteria.items() if figures else ())
        if id in criteria and figure.failures is not None
    ]
    return render(
        request,
        "run.html.j2",
        422 if fault else 200,
        view=view,
        target=str(view.spec.target.reference) if view.spec.target else "",
        signed=list(signoff_texts(people, locale)),
        failures=failures_title(view, locale),
        score=view.scores.tree.score,
        scale=view.spec.scale,
        judges=list(zip(view.health, view.standings, strict=True)),
        report="" if not is_here else str(report) if actor.keyless else f"{report.parent.name}/{REPORT}",
        waiting=sum(item.state == "open" for item in view.people.items.values()),
        queue=f"/review?suite={quote(view.spec.suite, safe='', errors='replace')}",
        release=release,
        release_lines=(
            [release_text(view, release, locale), *floor_lines(view, release, locale)]
            if release
            else [no_release_text(view, locale)]
        ),
        exam_steps=[(step.text, shlex.join(step.command)) for step in steps],
        command=lambda name: shlex.join(["areopage", "bench", name, view.run.id, *(place or ())]),
        open_points=[reservation_line(reservation, locale) for reservation in reservations(view)],
        human=list(human_texts(people, locale)),
        compared=compared,
        biased=bool(figures and people and people.sample is None),
        address=run_url(view.run.id),
        trust=trust_url(view.run.id),
        comparison=f"/compare?b={quote(view.run.id, safe='', errors='replace')}",
        may_write=actor.role in ("write", "admin"),
        asks_name=actor.keyless,
        sent=sent or Signing(name=rater_of(request, actor)),
        fault=fault,
        limits={"name": LONGEST_NAME, "note": LONGEST_NOTE},
    )
