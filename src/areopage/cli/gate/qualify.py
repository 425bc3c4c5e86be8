"""Command `areopage gate qualify`: examine the judge that the gate asks."""

from contextlib import suppress
from typing import Annotated

import typer

from areopage.app.config import find_config
from areopage.app.gate_exam import gate_exam
from areopage.app.ledger import open_ledger
from areopage.cli.asking import confirm
from areopage.cli.exit_codes import DONE, FAILED
from areopage.cli.options import ConfigOption, LedgerOption, one_of, tell
from areopage.cli.qualify import FORMATS, carry_out, print_plan
from areopage.cli.run_options import ConcurrencyOption, TimeoutOption, YesOption
from areopage.errors import UnknownRun
from areopage.locales import LANGUAGES
from areopage.trust.asking import AskingWishes
from areopage.trust.exam_plan import check_exam


def qualify(
    lang: Annotated[
        list[str] | None, typer.Option(metavar="en|fr", help="Language of gold rows; may be repeated. Default: both.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, help="Number of rows of each language, evenly spaced; the result then gives no standing. 0: all."),
    ] = 0,
    plan: Annotated[bool, typer.Option("--plan", help="Show what the exam would ask and cost, and ask nothing.")] = False,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    form: Annotated[str, typer.Option("--format", metavar="text|json", help="Output format.")] = "text",
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
) -> None:
    """Examine the judge of `rag.grey_band` on gold answers; once it has passed, the gate delivers what it supports.

    The exam asks what the gate asks: the same criterion, passages and options. The same command resumes an interrupted exam.
    """
    one_of("--format", form, FORMATS)
    for language in lang or ():
        one_of("--lang", language, LANGUAGES)
    settings = find_config(config, ledger)
    with suppress(UnknownRun), open_ledger(settings):
        pass  # a ledger that cannot be used is refused before a model is asked
    wishes = AskingWishes(concurrency=concurrency, timeout=timeout)
    exam = check_exam(gate_exam(settings, wishes, tuple(lang or ()), limit))
    print_plan(exam)
    if plan:
        return
    confirm([exam.parts[0].asking], yes=yes)
    code = carry_out([exam], open_ledger(settings, create=True), form)
    if exam.whole and code == DONE:
        checked = all(row.checked_by for part in exam.parts for row in part.rows)
        reserve = "" if checked else ", provisionally: no person has checked the gold set"
        tell(f"the gate delivers what this judge supports{reserve}")
    elif exam.whole and code == FAILED:
        tell("the gate delivers nothing on the word of this judge; it can still hold answers")
    raise typer.Exit(code)
