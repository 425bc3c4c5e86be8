"""How much of a run is judged: whether it is complete, the coverage of its passes, its counts of cases, and lost criteria."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from areopage.bench.commands import command_span, run_command
from areopage.bench.figures.answers import ANSWER_STATES
from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.figures.missing import REFUSED_FIRST, UNSCORED
from areopage.bench.results.coverage import Coverage
from areopage.bench.results.run_data import RunData
from areopage.records import record_from
from areopage.report import Listing, Notice, Paragraph, Span, line

_RETRIED = ("not_run", "timed_out", "unreachable")


class Counts(Struct, frozen=True, kw_only=True):
    """Cases of the run: all, with a response, with a final score; rows rejected; cases that got the default maturity.

    Args:
        not_applicable: pairs of case and criterion where the criterion does not apply; `ruled_out` of them by a rule, without a
            judge.
        applicability_disputed: pairs on which some passes give a score and others say that the criterion does not apply.
        unscored: cases that are judged and lack a criterion's score.
        refused_first: cases with a criterion of the categories whose failures count first that a judge refused to judge.
        refused_in_words: cases with a whole answer that declines in words.
        answer_states: the cases that were put to the target, by the state of the answer, `not_run` where there is none.
        addressing_judge: cases whose texts address the judge.
    """

    cases: int
    answered: int
    answer_states: dict[str, int]
    scored: int
    not_applicable: int
    ruled_out: int
    applicability_disputed: int
    unscored: int
    refused_first: int
    refused_in_words: int
    rejected: int
    maturity_defaulted: int
    addressing_judge: int


def _coverage(view: RunData) -> Coverage:
    """How many planned passes have judged."""
    return record_from(Coverage, view.coverage)


def _lost_criteria(view: RunData) -> tuple[str, ...]:
    """The criteria that were selected and are not judged; they count as planned in `coverage`."""
    return view.coverage.lost


def _complete(view: RunData) -> bool:
    """Whether nothing is left that another try could bring."""
    return view.complete


def _counts(view: RunData) -> Counts:
    """How many cases there are of each kind."""
    cells = view.scores.criteria.cells
    return Counts(
        cases=len(view.cases),
        answered=sum(case.response is not None for case in view.cases),
        answer_states=ANSWER_STATES.of(view),
        scored=int((~np.isnan(view.scores.records.finals)).sum()),
        not_applicable=int((~cells.applies).sum()),
        ruled_out=int(cells.by_rule.sum()),
        applicability_disputed=int(((cells.scored.sum(axis=1) > 0) & (cells.not_applicable.sum(axis=1) > 0)).sum()),
        unscored=len(UNSCORED.of(view)),
        refused_first=len(REFUSED_FIRST.of(view)),
        refused_in_words=len(view.declined),
        rejected=len(view.rejected),
        maturity_defaulted=view.spec.maturity_defaulted,
        addressing_judge=len(view.addressing),
    )


def _incomplete_notices(view: RunData, page: Page) -> Iterator[Notice]:
    if not view.complete:
        locale, missing = page.locale, sum(health.outcomes[name] for health in view.health for name in _RETRIED)
        planned = locale.whole(view.scores.tree.planned)
        text = locale.say("not_complete_text", missing=locale.whole(missing), planned=planned)
        resume = ("areopage", "bench", "resume", view.run.id, *page.place) if page.place else run_command(view, "bench", "resume")
        command = command_span(resume)
        yield Notice(title=locale.say("not_complete"), blocks=(Paragraph(text=line(text, command)),))


def _lost_notices(view: RunData, page: Page) -> Iterator[Notice]:
    if lost := view.coverage.lost:
        names = tuple(view.spec.titles(lost))
        yield Notice(title=page.locale.count("lost_criteria", len(lost)), blocks=(Listing(items=names),))


def _facts(view: RunData, page: Page) -> Iterator[Fact]:
    coverage, locale = view.coverage, page.locale
    counts = {name: locale.whole(getattr(coverage, name)) for name in ("scored", "not_applicable", "planned")}
    scored = locale.say("coverage_text_applicable" if coverage.not_applicable else "coverage_text", **counts)
    if coverage.lost:
        selected = locale.whole(coverage.criteria + len(coverage.lost))
        judged = locale.say("criteria_judged", judged=locale.whole(coverage.criteria), selected=selected)
        scored = f"{scored} – {judged}"
    yield locale.say("coverage"), line(locale.percent(coverage.share), Span(f"– {scored}", "soft"))


COMPLETE: Figure[bool] = Figure(id="complete", compute=_complete, stored="metadata", notices=_incomplete_notices)
COVERAGE: Figure[Coverage] = Figure(id="coverage", compute=_coverage, stored="metadata", facts=_facts, brief=True)
LOST_CRITERIA: Figure[tuple[str, ...]] = Figure(
    id="lost_criteria", compute=_lost_criteria, stored="metadata", notices=_lost_notices
)
COUNTS: Figure[Counts] = Figure(id="counts", compute=_counts, stored="metadata")
