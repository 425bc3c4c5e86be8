"""Command `areopage gate qualify`: examine the judge that the gate asks."""

from contextlib import nullcontext, suppress
from typing import Annotated

import typer

from areopage.app import find_config, open_ledger
from areopage.cli import ConcurrencyOption, ConfigOption, LedgerOption, TimeoutOption, YesOption, confirm, one_of, tell
from areopage.errors import UnknownRun
from areopage.exams.asking import AskingWishes
from areopage.exams.commands.qualify import FORMATS, FormOption, PlanOption, RowsOption, carry_out, print_plan
from areopage.exams.gate_exam import gate_exams
from areopage.locales import LANGUAGES


def qualify(
    lang: Annotated[
        list[str] | None, typer.Option(metavar="en|fr", help="Language of gold rows; may be repeated. Default: both.")
    ] = None,
    limit: RowsOption = 0,
    plan: PlanOption = False,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    form: FormOption = "text",
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
) -> None:
    """Examine the judge that the gate asks about doubtful sentences.

    It is the judge of rag.grey_band; once it has passed, the gate delivers what it supports. The exam asks
    what the gate asks, with the same passages and options. The same command resumes an interrupted exam.
    """
    one_of("--format", form, FORMATS)
    for language in lang or ():
        one_of("--lang", language, LANGUAGES)
    settings = find_config(config, ledger)
    with suppress(UnknownRun), open_ledger(settings):
        pass  # a ledger that cannot be used is refused before a model is asked
    wishes = AskingWishes(concurrency=concurrency, timeout=timeout)
    exams = [exam.checked() for exam in gate_exams(settings, wishes, tuple(lang or ()), limit)]
    for exam in exams:
        print_plan(exam)
    if plan:
        return
    confirm([exam.parts[0].asking for exam in exams], yes=yes)
    with open_ledger(settings, create=True) as opened:
        code = carry_out(exams, nullcontext(opened), form)
        for panel in (exam.parts[0].panel for exam in exams):
            (standing,) = opened.qualifications.standings(panel.judges, panel.criteria)
            if standing.state == "qualified":
                reserve = "provisionally qualified (no person has checked the gold set)" if standing.provisional else "qualified"
                tell(f"{panel.language}: {reserve}: the gate delivers what the judge supports")
                continue
            state = standing.state.replace("_", " ")
            tell(f"{panel.language}: {state}: the gate delivers nothing on the judge's word, which can still hold answers")
    raise typer.Exit(code)
