"""`areopage monitor compare`: the variants of an A/B test against one of them, on any day."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
import typer

from areopage.app import find_config, open_ledger
from areopage.cli import DONE, FAILED, INCONCLUSIVE, ConfigOption, last_day, one_of, period_since, tell
from areopage.compare.variants.comparison import VariantComparison
from areopage.compare.variants.text import variant_sections
from areopage.errors import UserError, name_list
from areopage.monitor import criterion_labels
from areopage.report import Printer, report_locale


def compare(
    baseline: Annotated[str, typer.Argument(metavar="VARIANT", help="The variant to compare with.")],
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="First day of the test (UTC); give the same one each time you look.")
    ],
    config: ConfigOption = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="Last day (UTC). Default: today.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Use only answers of this source.")] = None,
    by_question: Annotated[
        bool, typer.Option("--by-question", help="Compare only questions that both variants answered, question by question.")
    ] = False,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", metavar="regression", help="Exit with code 1 if a variant is worse.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Compare the variants of an A/B test with one of them. Looking every day raises no false alarms."""
    fails = one_of("--fail-on", fail_on, ("regression",)) is not None
    period = period_since(since, last_day(until, datetime.now(UTC)))
    configuration = find_config(config)
    suite = configuration.monitor.load_suite()
    with open_ledger(configuration, or_empty=tell) as ledger:
        compared = VariantComparison.of(
            ledger, period, suite.scale, suite=suite.name, baseline=baseline, source=source, by_question=by_question
        )
        if not compared:
            variants = name_list([variant or '""' for variant in ledger.lists.variants()]) or "none"
            raise UserError(f"nothing to compare with the variant {baseline!r} in these days; variants in the ledger: {variants}")
    if as_json:
        figures = {"schema": "areopage-variants-1", "baseline": baseline, "period": period, "variants": compared}
        typer.echo(msgspec.json.encode(figures).decode())
    else:
        locale = report_locale("en")
        printer = Printer(locale)
        printer.say(f"from {period.start} on")
        for section in variant_sections(compared, baseline, criterion_labels(suite, "en"), locale):
            printer.section(section)
        note = locale.say("variants_note_by_question" if by_question else "variants_note_by_day")
        printer.say(f"{locale.say('variants_note')} {note}")
    tests = [test for comparison in compared for test in comparison.tests]
    if any(test.direction == "worse" for test in tests):
        raise typer.Exit(FAILED if fails else DONE)
    raise typer.Exit(DONE if any(test.difference.blocks for test in tests) else INCONCLUSIVE)
