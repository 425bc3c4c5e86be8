"""How far the judges agree, in the report of a benchmark run."""

from collections.abc import Iterator

import numpy as np

from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.results.jury_agreement import FailureAgreement, JuryAgreement, RunAgreement
from areopage.bench.results.run_data import RunData
from areopage.bench.words import count_of
from areopage.locales import MISSING, Locale
from areopage.report import Cell, Details, Facts, Line, Paragraph, Section, Span, Table, columns, line, rows, with_interval


def _agreement(view: RunData) -> RunAgreement:
    """How far the judges agree."""
    spec = view.spec
    return RunAgreement.of(view.scores.criteria, spec.scale, spec.limits, spec.first_criteria)


def _facts(view: RunData, page: Page) -> Iterator[Fact]:
    locale, average, agreement = page.locale, view.scores.consistency.judge_agreement_avg, AGREEMENT.of(view).overall
    if average is None:
        yield locale.say("agreement"), locale.say("one_judge_short")
        return
    values = (("α", agreement.alpha.alpha), ("AC2", agreement.ac2.ac2))
    parts = [locale.say("pair", name=name, value=locale.number(value)) for name, value in values if value is not None]
    if agreement.failures.failed:
        parts.append(
            locale.count(
                "failures_unanimous_short", agreement.failures.failed, unanimous=locale.whole(agreement.failures.unanimous)
            )
        )
    note = Span(f"– {', '.join(parts)}" if parts else "", "soft")
    yield locale.say("agreement"), line(locale.number(average), note)


def _section(view: RunData, page: Page) -> Section:
    locale = page.locale
    consistency, spec, agreement = view.scores.consistency, view.spec, AGREEMENT.of(view).overall
    cells = view.scores.criteria.cells
    most = int(((cells.planned > 0) & ~np.isnan(cells.judge_score)).sum(axis=1).max(initial=0))
    silent, alone = most == 0, most < 2
    once = all(judge.passes < 2 for judge in spec.judges)
    facts: list[tuple[str, Line]] = []
    if not alone:
        facts.append((locale.say("failures_agreement"), _failures_line(agreement.failures, locale)))
        facts.append((locale.say("exact"), MISSING if agreement.exact is None else locale.percent(agreement.exact)))
        units = Span(f"– {locale.count('alpha_units', agreement.ac2.units)}", "soft")
        facts += [
            (
                locale.say("alpha"),
                line(with_interval(locale, agreement.alpha.alpha, agreement.alpha.low, agreement.alpha.high), units),
            ),
            (locale.say("ac2"), line(with_interval(locale, agreement.ac2.ac2, agreement.ac2.low, agreement.ac2.high), units)),
        ]
        average, limit = consistency.judge_agreement_avg, spec.agreement_threshold
        low = locale.say("agreement_low", limit=locale.short(limit)) if average is not None and average < limit else ""
        facts.append((locale.say("agreement_mean"), line(locale.number(average), Span(f"– {low}" if low else "", "soft"))))
        facts.append((locale.say("apart"), locale.count("times", consistency.outliers_detected)))
    facts.append((locale.say("variance"), locale.say("variance_one") if once else _variance(view, locale)))
    key = "no_judge" if silent else "one_judge" if alone else "standing_unfit" if view.unfit else f"standing_{agreement.standing}"
    table = () if alone else (Details(summary=locale.say("agreement_by_criterion"), blocks=(_table(view, locale),)),)
    return Section(
        id="agreement",
        title=locale.say("agreement_title"),
        blocks=(Paragraph(text=locale.say(key)), Facts(items=tuple(facts)), *table),
    )


def _table(view: RunData, locale: Locale) -> Table:
    def row(name: str, id: str, agreement: JuryAgreement) -> tuple[Cell | str, ...]:
        failures = agreement.failures
        return (
            Cell(text=name, title=id),
            locale.number(agreement.alpha.alpha),
            locale.number(agreement.ac2.ac2),
            MISSING if agreement.exact is None else locale.percent(agreement.exact, 0),
            count_of(locale, failures.unanimous, failures.failed) if failures.failed else MISSING,
            locale.whole(failures.disputed),
            locale.number(failures.positive),
            locale.whole(agreement.ac2.units),
        )

    criteria = view.spec.criteria_by_id()
    keys = ("alpha_short", "ac2_short", "exact_short", "unanimous", "disputed", "positive", "scored_twice")
    listed = rows(row(criteria[id].title, id, agreement) for id, agreement in AGREEMENT.of(view).by_criterion.items())
    return Table(columns=columns(*map(locale.say, keys), first=locale.say("criterion")), rows=listed, css="failures")


def _failures_line(failures: FailureAgreement, locale: Locale) -> Line:
    unanimous = locale.count("failures_unanimous", failures.failed, unanimous=locale.whole(failures.unanimous))
    more = [locale.count("failures_disputed", failures.disputed)] if failures.disputed else []
    if failures.positive is not None:
        more.append(locale.say("pair", name=locale.say("positive_long"), value=locale.number(failures.positive)))
    return line(
        unanimous if failures.failed else locale.say("failures_none"), Span(f"– {', '.join(more)}" if more else "", "soft")
    )


def _variance(view: RunData, locale: Locale) -> Line:
    consistency, limit = view.scores.consistency, view.spec.variance_threshold
    if consistency.overall_variance is None:
        return locale.say("variance_none")
    values = {"min": consistency.variance_min, "max": consistency.variance_max, "sd": consistency.variance_sd}
    spread = locale.say("variance_range", **{name: locale.number(value) for name, value in values.items()})
    if consistency.overall_variance > limit:
        spread = locale.say("then", one=spread, other=locale.say("variance_high", limit=locale.short(limit)))
    return line(locale.number(consistency.overall_variance), Span(f"– {spread}", "soft"))


AGREEMENT: Figure[RunAgreement] = Figure(id="agreement", compute=_agreement, facts=_facts, section=_section)
