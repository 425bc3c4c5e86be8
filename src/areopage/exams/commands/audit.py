"""`areopage audit`: which harmless changes move the scores of a judge, and what attacks do to them."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import typer
from msgspec import structs

from areopage.cli import (
    AllowVariableOption,
    ConcurrencyOption,
    PlacesOptions,
    TimeoutOption,
    YesOption,
    ask_to_send,
    asking_display,
    configured,
    confirm,
    listed,
    opened_ledger,
    resumed_by_the_same_command,
    tell,
    told_size,
)
from areopage.errors import ServerDown, UserError, counted, name_list
from areopage.exams.asking import agreed
from areopage.exams.audit import CASES, AuditResult, AuditWishes, JudgeAudit, PreparedAudit, prepare_audit
from areopage.exams.audit_report import audit_report, console_lines
from areopage.exams.probes import PROBES
from areopage.exams.questions import ASKED_WITHOUT
from areopage.ledger import make_folder
from areopage.locales import LANGUAGES
from areopage.report import write_report
from areopage.suites import load_suite
from areopage.text import visible

EACH = "each"
T = TypeVar("T", bound=str)


def audit(
    judge: Annotated[str, typer.Argument(metavar="JUDGE", help="A judge of the suite by name, or a model; or NAME=REF.")],
    suite: Annotated[str, typer.Option(metavar="NAME|DIR", help="Suite with the criteria and graded answers.")] = "child_safety",
    probe: Annotated[
        list[str] | None, typer.Option(metavar="NAMES", help=f"{', '.join(PROBES)}; several with commas. Default: all.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Number of graded answers to change; -1 for all.")] = CASES,
    attacks: Annotated[int | None, typer.Option(min=1, help="Number of attacks, evenly spaced; default: all.")] = None,
    lang: Annotated[
        str | None, typer.Option(metavar="en|fr", help="Language of answers and prompts; default: the suite's.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help=f"Also ask without a protection: {', '.join(ASKED_WITHOUT)}; or {EACH}."),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be asked and its cost, and end.")] = False,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    allow_variable: AllowVariableOption = None,
    *,
    places: PlacesOptions,
    yes: YesOption = False,
) -> None:
    """Audit a judge: do harmless changes or attacks move its scores? Results are kept, so an audit can be resumed."""
    if limit == 0 or limit < -1:
        raise UserError(f"--limit {limit}: give a number from 1 on, or -1 for all answers")
    omitted = _chosen("--without", without, (*ASKED_WITHOUT, EACH))
    wishes = AuditWishes(
        judge=judge,
        probes=_chosen("--probe", probe, PROBES) or PROBES,
        language=lang,
        limit=None if limit == -1 else limit,
        attacks=attacks,
        without=tuple(ASKED_WITHOUT) if EACH in omitted else omitted,
        concurrency=concurrency,
        timeout=timeout,
        allowed_variables=tuple(allow_variable or ()),
    )
    prepared = prepare_audit(load_suite(suite).with_shared(configured(places).shared), wishes)
    (asking,) = agreed([prepared.asking], None if yes else ask_to_send)
    prepared = structs.replace(prepared, asking=asking)
    with opened_ledger(places, create=True) as opened, resumed_by_the_same_command():
        result = asyncio.run(_carried_out(JudgeAudit(prepared, opened), prepared, only_plan=plan, yes=yes))
    if result is None:
        return
    folder = places.out / f"audit-{result.suite}-{datetime.now(UTC):%Y-%m-%d_%H%M%S}"
    make_folder(folder)
    for language in LANGUAGES:
        write_report(audit_report(result, language), "html", folder / f"audit.{language}.html")
    write_report(audit_report(result, "en"), "json", folder / "audit.json")
    for line in console_lines(result, result.language):
        typer.echo(visible(line))
    tell(f"written to {folder}: audit.en.html, audit.fr.html, audit.json")


def _chosen(option: str, named: list[str] | None, allowed: Sequence[T]) -> tuple[T, ...]:
    """The allowed names among those of an option, which may be repeated and hold several with commas."""
    wanted = {name for text in named or () for name in listed(text)}
    if unknown := sorted(wanted.difference(map(str, allowed))):
        raise UserError(f"{option} {unknown[0]!r}: use {', '.join(map(str, allowed))}")
    return tuple(name for name in allowed if name in wanted)


async def _carried_out(examined: JudgeAudit, prepared: PreparedAudit, *, only_plan: bool, yes: bool) -> AuditResult | None:
    try:
        size = await examined.plan()
    except ServerDown as fault:
        raise UserError(str(fault)) from fault  # nothing has been asked, so that there is nothing to go on from
    wishes, panel = prepared.wishes, examined.panel
    panel_text = f"suite {panel.suite} {panel.suite_version}, language {panel.language}"
    tell(f"audit of {examined.judge.name} ({examined.judge.reference}) with {panel_text}")
    if examined.judge.unfit:
        tell(f"note: this judge is NOT FIT TO JUDGE: {examined.judge.unfit}")
    tell(f"probes: {', '.join(wishes.probes)}; left out in turn: {name_list(wishes.without) or 'no protection'}")
    for line in prepared.asking.contacts:
        tell(line)
    repeats = f" ({size.stored:,} of {size.planned:,} are known already)" if size.stored else ""
    amount = told_size(size.prompt_tokens, size.completion_tokens, size.costs)
    tell(f"plan: {counted(size.calls, 'call')}{repeats}, {amount}")
    if only_plan:
        return None
    if size.calls:
        confirm([prepared.asking], yes=yes)
    with asking_display(prepared.asking) as display:
        return await examined.carry_out(display)
