"""The release verdict in words: the notice above a run's report, the table of floors, and the lines of the console."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from areopage.bench import RunView
from areopage.criteria import SEVERITIES
from areopage.locales import Locale, sentence_case
from areopage.report.bench.case import audience
from areopage.report.bench.case_index import CASES, KINDS, THOUGHTS, UNANSWERED, CaseIndex, young_to_old
from areopage.report.bench.exams import exam_steps
from areopage.report.commands import command_span
from areopage.report.elements import part_text, verdict_name
from areopage.report.model import Badge, Cell, Column, Line, Listing, Notice, Paragraph, Row, Section, Span, Table, line
from areopage.report.results.run_results import criterion_label, criterion_names
from areopage.scoring import FINAL, UNREAD, Floor, Release

LISTED = MappingProxyType({"thoughts": THOUGHTS, "max_unanswered": UNANSWERED})
"""Why the cases of a floor are on the page of cases, by its kind."""


def release_notice(view: RunView, release: Release, locale: Locale, place: tuple[str, ...] | None = None) -> Notice:
    """The verdict with the floors that are not met or open, and what to do.

    Args:
        place: see `exam_steps`.
    """
    title = locale.say("pair", name=locale.say("release"), value=verdict_name(release.verdict, locale))
    index = CaseIndex(view=view)
    links = [Span(id, "link", index.address(id)) for id in release.tolerated]
    blocks: list[Paragraph | Listing] = [Paragraph(text=tuple(_release_line(view, release, locale, links)))]
    blocks.append(Listing(items=tuple(_linked(release, floor_lines(view, release, locale), index))))
    steps = exam_steps(view, release, locale, place)
    blocks += [Paragraph(text=line(step.text, command_span(step.command))) for step in steps]
    return Notice(title=title, blocks=tuple(blocks), alarm=release.verdict == "FAIL")


def _linked(release: Release, lines: Iterator[str], index: CaseIndex) -> Iterator[Line]:
    """The lines of floors, with links to the cases that another notice does not name."""
    for floor, told in zip((floor for floor in release.floors if floor.state != "met"), lines, strict=True):
        kind = LISTED.get(floor.kind)
        yield (f"{told} – ", Span(CASES, "link", index.only(f"w{KINDS.index(kind)}"))) if kind and floor.cases else told


def no_release_notice(view: RunView, locale: Locale) -> Notice:
    """What stands in place of a verdict where the suite sets no floors."""
    title = locale.say("pair", name=locale.say("release"), value=verdict_name(None, locale))
    return Notice(title=title, blocks=(Paragraph(text=no_release_text(view, locale)),))


def no_release_text(view: RunView, locale: Locale) -> str:
    """That the suite sets no floors, as one text."""
    return f"{_part(view, locale)}{locale.say('release_none_text')}"


def _part(view: RunView, locale: Locale) -> str:
    """The sentence that begins every verdict on a part of the cases; "" where it is on all of them."""
    return f"{sentence_case(part_text(view.spec.part, locale))}. " if view.spec.part else ""


def release_text(view: RunView, release: Release, locale: Locale) -> str:
    """What the verdict means, and which cases fail and break no floor; beyond the first ones they are counted."""
    cases = [locale.names(release.tolerated)] if release.tolerated else []
    return "".join(str(part) for part in _release_line(view, release, locale, cases))


def _release_line(view: RunView, release: Release, locale: Locale, cases: Sequence[str | Span]) -> Iterator[str | Span]:
    """What the verdict means, as parts of a line.

    Args:
        cases: those that fail and break no floor, as they are to be named.
    """
    yield _part(view, locale)
    unfit = any(health.unfit for health in view.health)
    yield locale.say("release_text_unfit" if unfit else f"release_text_{release.verdict.removesuffix(UNREAD)}")
    if release.verdict.endswith(UNREAD):
        yield f" {locale.say('release_text_unread')}"
    if cases:
        yield f" {_tolerated(view, release, locale)} "
        for number, case in enumerate(cases):
            yield from (", ", case) if number else (case,)
        yield "."
    elif release.is_pass:
        yield f" {locale.say('release_no_failure')}"


def _tolerated(view: RunView, release: Release, locale: Locale) -> str:
    return locale.count("release_tolerated", len(release.tolerated), all=locale.whole(len(view.items)))


def floor_lines(view: RunView, release: Release, locale: Locale) -> Iterator[str]:
    """A line for each floor that is not met or open, with the criteria and the cases for which it is."""
    for floor in release.floors:
        if floor.state != "met":
            yield " – ".join([_told(view, release, floor, locale), *_criteria(view, floor, locale), *_cases(floor, locale)])


def release_section(view: RunView, release: Release, locale: Locale) -> Section:
    """Build the table of all floors."""

    def row(floor: Floor) -> Row:
        state = Badge(text=locale.say(f"floor_{floor.state}"), alarm=floor.state == "not_met")
        cells = (
            _told(view, release, floor, locale),
            Cell(text="", under=(state,)),
            " – ".join([*_criteria(view, floor, locale), *_cases(floor, locale)]),
        )
        return Row(cells=cells, css="alarm" if floor.state == "not_met" else "")

    heads = tuple(Column(heading=locale.say(key), kind="text") for key in ("floor", "state", "where"))
    table = Table(columns=heads, rows=tuple(map(row, release.floors)), css="lines")
    lead = Paragraph(text=locale.say("release_lead"), look="soft")
    return Section(id="release", title=locale.say("release"), blocks=(lead, table))


def _told(view: RunView, release: Release, floor: Floor, locale: Locale) -> str:
    """What a floor demands and what was found."""
    if floor.kind == "max_failures":
        return _failures(view, floor, locale)
    if floor.kind in ("max_over_refusal", "max_unanswered"):
        return _answers(floor, locale)
    if floor.kind == "min_score":
        return _score(view, floor, locale)
    if floor.kind == "criteria":
        name = _name(view, floor.name, locale)
        if not floor.criteria:
            return locale.say("floor_no_criteria", name=name)
        if floor.missing == floor.total:
            return locale.say("floor_criteria", name=name)
        return locale.count("floor_criteria_in_part", floor.missing, name=name, total=locale.whole(floor.total or 0))
    if floor.kind in ("rejected_rows", "withheld_replies", "addressing_judge"):
        return locale.count(f"floor_{floor.kind}", round(floor.found or 0))
    if floor.kind == "thoughts":
        return locale.count(f"floor_thoughts_{floor.state}", round(floor.found or 0), total=locale.whole(floor.total or 0))
    if floor.kind == "min_coverage":
        found, limit = (locale.percent(share) for share in (floor.found or 0.0, floor.limit or 0.0))
        return locale.say("floor_coverage", found=found, limit=limit)
    if floor.kind in ("min_cases", "min_cases_by_age"):
        limit = locale.whole(round(floor.limit or 0))
        told = locale.count(f"floor_{floor.kind}_{floor.state}", round(floor.found or 0), limit=limit)
        lacking = dict(zip(floor.ages, floor.lacking, strict=False))
        ages = (locale.count("age_lacks", lacking[age], age=audience(locale, age)) for age in young_to_old(lacking))
        return f"{told} ({', '.join(ages)})" if lacking else told
    if floor.kind == "qualified_judges":
        met = "floor_provisional_judges" if release.provisional else "floor_qualified_judges"
        return locale.say(met if floor.state == "met" else f"floor_judges_{floor.name}")
    return locale.say(f"floor_{floor.kind}_{floor.state}")


def _failures(view: RunView, floor: Floor, locale: Locale) -> str:
    total, limit = (locale.whole(round(count or 0)) for count in (floor.total, floor.limit))
    name = _name(view, floor.name, locale)
    told = locale.count("floor_failures", round(floor.found or 0), name=name, total=total, limit=limit)
    if floor.missing:
        told = locale.count("floor_failures_missing", floor.missing, told=told)
    return locale.count("floor_failures_exempt", floor.exempt, told=told) if floor.exempt else told


def _answers(floor: Floor, locale: Locale) -> str:
    """What a floor demands of the answers, its limit a number of cases or a share, and what was found."""
    if not floor.total:
        return locale.say("floor_no_twins")
    if floor.limit is None:
        return locale.count("floor_unanswered_open", round(floor.found or 0), total=locale.whole(floor.total))
    limit = locale.whole(floor.limit) if isinstance(floor.limit, int) else locale.percent(floor.limit or 0.0)
    found, total = (locale.whole(round(count or 0)) for count in (floor.found, floor.total))
    told = locale.say(f"floor_{floor.kind}", found=found, total=total, limit=limit)
    return locale.count("floor_answers_missing", floor.missing, told=told) if floor.missing else told


def _score(view: RunView, floor: Floor, locale: Locale) -> str:
    name, limit = _name(view, floor.name, locale), locale.short(floor.limit or 0.0)
    if floor.found is None:
        return locale.say("floor_no_score", name=name, limit=limit)
    told = locale.say("floor_score", name=name, score=locale.number(floor.found), limit=limit)
    if floor.if_missing is None:
        return told
    worst, best = map(locale.number, floor.if_missing)
    return locale.say("floor_score_missing", told=told, worst=worst, best=best)


def _name(view: RunView, name: str, locale: Locale) -> str:
    """What people call a category, a sub-category or a criterion."""
    for criterion in view.spec.criteria:
        if name in (criterion.id, criterion.path):
            return criterion_label(criterion)
    if name in SEVERITIES:
        return sentence_case(locale.say(f"severity_{name}"))
    return locale.say("floor_final") if name == FINAL else view.spec.labels.get(name)


def _criteria(view: RunView, floor: Floor, locale: Locale) -> Iterator[str]:
    if floor.judges:
        yield locale.names(floor.judges)
    if not floor.criteria:
        return
    counts, told = dict(zip(floor.criteria, floor.failed, strict=False)), criterion_names(view.spec, floor.criteria)
    yield locale.names(
        [f"{name} ({counts[id]})" if id in counts else name for id, name in zip(floor.criteria, told, strict=True)]
    )


def _cases(floor: Floor, locale: Locale) -> Iterator[str]:
    if floor.cases:
        yield locale.say("pair", name=locale.count("cases", len(floor.cases)), value=locale.names(floor.cases))
