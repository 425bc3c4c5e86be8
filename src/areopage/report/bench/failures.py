"""How many cases fail, in the report of a benchmark run."""

from collections.abc import Iterator

from areopage.bench import RunView
from areopage.locales import Locale
from areopage.report.model import Line, Listing, Notice, Span, line
from areopage.report.results.run_results import criterion_label
from areopage.scoring import FailureCount


def failures_line(view: RunView, locale: Locale) -> Line:
    """How many cases fail a criterion of the categories that count first."""
    found = view.failures.first
    counts = locale.say("failures_of", failed=locale.whole(found.failed), scored=locale.whole(len(view.items)))
    note = Span(f"– {_first_note(view, locale)}", "soft")
    more = len(failing_elsewhere(view))
    return line(
        Span(counts, "strong"), note, *([Span(f"– {locale.count('failures_elsewhere', more)}", "strong")] if more else [])
    )


def failures_title(view: RunView, locale: Locale) -> str:
    """How many cases fail a criterion of the categories that count first, which are named."""
    found, categories = view.failures.first, _first_names(view)
    return locale.count("failures_title", found.failed, all=locale.whole(len(view.items)), categories=categories)


def _first_names(view: RunView) -> str:
    return ", ".join(view.spec.labels.get(name) for name in view.failures.categories)


def failing_elsewhere(view: RunView) -> list[str]:
    """The ids of the cases that fail a criterion, and none of the categories that count first."""
    criteria, first = view.spec.criteria_by_id(), view.failures.categories
    by_case = view.failures.by_case.items()
    return [case_id for case_id, failed in by_case if not any(criteria[id].category in first for id in failed)]


def unscored_notice(view: RunView, locale: Locale) -> Iterator[Notice]:
    """What no judge could judge, of the categories that count first; nothing where there is nothing."""
    found, criteria = view.failures, view.spec.criteria_by_id()
    if found.unscored:
        names = tuple(
            locale.say("pair", name=criterion_label(criteria[id]), value=_failed_of(found.by_criterion[id], locale))
            for id in found.unscored
        )
        yield Notice(title=locale.count("unscored_first", len(names)), blocks=(Listing(items=names),), alarm=True)


def _failed_of(count: FailureCount, locale: Locale) -> str:
    told = locale.say("failures_of", failed=locale.whole(count.failed), scored=locale.whole(count.scored))
    if count.not_applicable:
        told = locale.say("failures_of_applicable", failed=told, n=locale.whole(count.not_applicable))
    if count.by_rule:
        told = locale.say("failures_by_rule", told=told, n=locale.whole(count.by_rule))
    return told if count.scored == count.cases else f"{told} {locale.count('without_score', count.cases - count.scored)}"


def _first_note(view: RunView, locale: Locale) -> str:
    found = view.failures.first
    told = locale.say("failures_first", categories=_first_names(view))
    if found.not_applicable:
        told += f"; {locale.count('not_concerned', found.not_applicable)}"
    if found.scored < found.cases:
        told = locale.say("then", one=told, other=locale.count("without_score_long", found.cases - found.scored))
    if found.high is not None:
        told = locale.say("then", one=told, other=_bound(found.high, locale))
    return told


def _bound(share: float, locale: Locale) -> str:
    return locale.say("failures_bound_small" if share < 0.01 else "failures_bound", high=locale.percent(max(share, 0.01), 0))
