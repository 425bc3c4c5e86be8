"""The release verdict: how it comes about, the notice above a report, the table of floors, and why a run settles nothing."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from msgspec import Struct

from areopage.bench.commands import command_span, out_option
from areopage.bench.figures.case_index import CASES, WhyListed, young_to_old
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.figures.over_refusal import OVER_REFUSAL
from areopage.bench.release_panel import release_judges
from areopage.bench.results.run_data import RunData
from areopage.bench.spec import RunSpec
from areopage.bench.words import part_text
from areopage.criteria import SEVERITIES
from areopage.errors import AreopageError
from areopage.ledger import NOT_WHOLE, Ledger, Run, exam_words
from areopage.locales import NAMES_SHOWN, Locale, sentence_case
from areopage.report import (
    Badge,
    Cell,
    Column,
    Line,
    Listing,
    Notice,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    audience,
    line,
    verdict_name,
)
from areopage.scoring import Floor, Release, ReleaseFloors, ReleaseJudge, RunState, Verdict
from areopage.suites import BUNDLED, gold_criteria, load_suite

Doubt = Literal["", "incomplete", "none_applies", "no_score", "coverage", "unscored_first", "release"]
"""Why a run settles nothing: calls are open, no criterion applies, nothing is scored, its coverage is too low, criteria whose
failures count first have no score, or its release verdict is INCONCLUSIVE; "" where it settles something."""

LISTED = MappingProxyType[str, WhyListed]({"thoughts": "thoughts", "max_unanswered": "unanswered"})
"""Why the cases of a floor are on the page of cases, by its kind."""


def _release(view: RunData) -> Release | None:
    """The verdict by the floors of the suite; null where it sets none."""
    # what exams say of the judges now: a new exam changes the verdict on a run that is over
    return _verdict(view, tuple(release_judges(view.spec, view.standings)))


def _scores_release(view: RunData) -> Release | None:
    judges = release_judges(view.spec, view.standings)
    return _verdict(view, tuple(ReleaseJudge(judge=judge.judge, unfit=judge.unfit) for judge in judges))


def _doubt(view: RunData) -> Doubt:
    release = RELEASE.of(view)
    doubts: dict[Doubt, bool] = {
        "incomplete": not view.complete,
        "none_applies": view.coverage.none_applies,
        "no_score": view.scores.tree.score is None,
        "coverage": view.coverage.share < view.spec.min_coverage,
        "unscored_first": bool(FAILURES.of(view).unscored),
        "release": release is not None and release.verdict == "INCONCLUSIVE",
    }
    return next((doubt for doubt, applies in doubts.items() if applies), "")


def _verdict(view: RunData, judges: tuple[ReleaseJudge, ...]) -> Release | None:
    spec = view.spec
    if spec.release is None:
        return None
    state = RunState(
        coverage=view.coverage.share,
        min_coverage=spec.min_coverage,
        complete=view.complete,
        judges=judges,
        ages={item.case.id: item.case.maturity for item in view.items},
        over_refusal=OVER_REFUSAL.of(view),
        asked=len(view.asked),
        unanswered=tuple(id for id, state in view.states_of_asked.items() if state in NOT_WHOLE),
        withheld=view.withheld,
        addressing=view.swaying,
        thoughts=view.stored.with_thoughts("in_text"),
        rejected=len(view.rejected),
        off=spec.conversations_off,
        unknown=tuple(id for id, state in view.states_of_asked.items() if state not in ("answered", *NOT_WHOLE)),
    )
    return Release.of(spec.release, view.scores, spec.criteria, spec.failures, state)


def listed_verdict(run: Run, spec: RunSpec, ledger: Ledger) -> Verdict | None:
    """The release verdict of a complete run for a list of runs: its stored results with what exams say of its judges now.

    None where its suite sets no floors, or its results are not stored.
    """
    if run.finished_at is None or run.outcome is None or not run.outcome.verdict:
        return None
    stored = cast(Verdict, run.outcome.verdict)
    if stored not in Release.PASSES or spec.release is None:
        return stored
    exams = ledger.qualifications
    judged_at = ledger.last_judged(run.id) if exams.any_of(spec.criteria) else {}
    standings = exams.standings(spec.judges, spec.criteria, judged_at, joint=spec.joint)
    return Release.verdict_with(stored, spec.release, spec.criteria, tuple(release_judges(spec, standings)))


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    """The verdict with the floors that are not met or open; where the suite sets none, that it does not."""
    release, index, locale = RELEASE.of(view), page.index, page.locale
    title = locale.say("pair", name=locale.say("release"), value=verdict_name(release.verdict if release else None, locale))
    if release is None:
        yield Notice(title=title, blocks=(Paragraph(text=no_release_text(view, locale)),))
        return
    links = [Span(id, "link", index.address(id)) for id in release.tolerated]
    line_of_page = tuple(_release_line(view, release, locale, links))
    blocks: list[Paragraph | Listing] = [
        Paragraph(text=line_of_page if page.place is None else release_text(view, release, locale))
    ]
    lines: list[Line] = []
    texts = floor_lines(view, release, locale, whole=page.whole)
    unmet = zip((floor for floor in release.floors if floor.state != "met"), texts, strict=True)
    for floor, text in sorted(unmet, key=lambda pair: pair[0].state != "not_met"):
        kind = LISTED.get(floor.kind)  # of the cases that another notice does not name
        lines.append((f"{text} – ", Span(CASES, "link", index.only_kind(kind))) if kind and floor.cases else text)
    blocks.append(Listing(items=tuple(lines)))
    blocks += [
        Paragraph(text=line(step.text, command_span(step.command))) for step in exam_steps(view, release, locale, page.place)
    ]
    yield Notice(title=title, blocks=tuple(blocks), alarm=release.verdict == "FAIL")


def no_release_text(view: RunData, locale: Locale) -> str:
    """That the suite sets no floors, as one text."""
    return f"{_part(view, locale)}{locale.say('release_none_text')}"


def _part(view: RunData, locale: Locale) -> str:
    """The sentence that begins every verdict on a part of the cases; "" where it is on all of them."""
    return f"{sentence_case(part_text(view.spec.part, locale))}. " if view.spec.part else ""


def release_text(view: RunData, release: Release, locale: Locale) -> str:
    """What the verdict means, and which cases fail and break no floor; beyond the first ones they are counted."""
    cases = [locale.names(release.tolerated)] if release.tolerated else []
    return "".join(str(part) for part in _release_line(view, release, locale, cases))


def _release_line(view: RunData, release: Release, locale: Locale, cases: Sequence[str | Span]) -> Iterator[str | Span]:
    """What the verdict means, as parts of a line, with the cases that fail and break no floor."""
    yield _part(view, locale)
    yield locale.say("release_text_unfit" if view.unfit else f"release_text_{release.verdict.removesuffix(Release.UNREAD)}")
    if release.verdict.endswith(Release.UNREAD):
        yield f" {locale.say('release_text_unread')}"
    if cases:
        yield f" {locale.count('release_tolerated', len(release.tolerated), all=locale.whole(len(view.items)))} "
        for number, case in enumerate(cases):
            yield from (", ", case) if number else (case,)
        yield "."
    elif release.is_pass:
        yield f" {locale.say('release_no_failure')}"


def floor_lines(view: RunData, release: Release, locale: Locale, *, whole: bool = False) -> Iterator[str]:
    """A line for each floor that is not met or open, with the criteria, the `whole` list or the first ones, and the cases."""
    for floor in release.floors:
        if floor.state != "met":
            yield " – ".join([_told(view, release, floor, locale), *_where(view, floor, locale, whole=whole)])


def _section(view: RunData, page: Page) -> Section | None:
    release, locale = RELEASE.of(view), page.locale
    if release is None:
        return None

    def row(floor: Floor) -> Row:
        state = Badge(text=locale.say(f"floor_{floor.state}"), alarm=floor.state == "not_met")
        cells = (
            _told(view, release, floor, locale),
            Cell(text="", under=(state,)),
            " – ".join(_where(view, floor, locale, whole=True)),
        )
        return Row(cells=cells, css="alarm" if floor.state == "not_met" else "")

    heads = tuple(Column(heading=locale.say(key), kind="text") for key in ("floor", "state", "where"))
    table = Table(columns=heads, rows=tuple(map(row, release.floors)), css="lines")
    lead = Paragraph(text=locale.say("release_lead"), look="soft")
    return Section(id="release", title=locale.say("release"), blocks=(lead, table))


def _told(view: RunData, release: Release, floor: Floor, locale: Locale) -> str:
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
        share, limit = (locale.percent(value) for value in (floor.found or 0.0, floor.limit or 0.0))
        return locale.say("floor_coverage", found=share, limit=limit)
    if floor.kind in ("min_cases", "min_cases_by_age"):
        limit = locale.whole(round(floor.limit or 0))
        text = locale.count(f"floor_{floor.kind}_{floor.state}", round(floor.found or 0), limit=limit)
        lacking = dict(zip(floor.ages, floor.lacking, strict=False))
        ages = (locale.count("age_lacks", lacking[age], age=audience(locale, age)) for age in young_to_old(lacking))
        return f"{text} ({', '.join(ages)})" if lacking else text
    if floor.kind == "qualified_judges":
        met = "floor_provisional_judges" if release.provisional else "floor_qualified_judges"
        return locale.say(met if floor.state == "met" else f"floor_judges_{floor.name}")
    return locale.say(f"floor_{floor.kind}_{floor.state}")


def _failures(view: RunData, floor: Floor, locale: Locale) -> str:
    total, limit = (locale.whole(round(count or 0)) for count in (floor.total, floor.limit))
    name = _name(view, floor.name, locale)
    text = locale.count("floor_failures", round(floor.found or 0), name=name, total=total, limit=limit)
    if floor.missing:
        text = locale.count("floor_failures_missing", floor.missing, told=text)
    return locale.count("floor_failures_exempt", floor.exempt, told=text) if floor.exempt else text


def _answers(floor: Floor, locale: Locale) -> str:
    """What a floor demands of the answers, its limit a number of cases or a share, and what was found."""
    if not floor.total:
        return locale.say("floor_no_twins")
    if floor.limit is None:
        return locale.count("floor_unanswered_open", round(floor.found or 0), total=locale.whole(floor.total))
    limit = locale.whole(floor.limit) if isinstance(floor.limit, int) else locale.percent(floor.limit or 0.0)
    count, total = (locale.whole(round(number or 0)) for number in (floor.found, floor.total))
    text = locale.say(f"floor_{floor.kind}", found=count, total=total, limit=limit)
    return locale.count("floor_answers_missing", floor.missing, told=text) if floor.missing else text


def _score(view: RunData, floor: Floor, locale: Locale) -> str:
    name, limit = _name(view, floor.name, locale), locale.short(floor.limit or 0.0)
    if floor.found is None:
        return locale.say("floor_no_score", name=name, limit=limit)
    text = locale.say("floor_score", name=name, score=locale.number(floor.found), limit=limit)
    if floor.if_missing is None:
        return text
    worst, best = map(locale.number, floor.if_missing)
    return locale.say("floor_score_missing", told=text, worst=worst, best=best)


def _name(view: RunData, name: str, locale: Locale) -> str:
    """What people call a category, a sub-category or a criterion."""
    for criterion in view.spec.criteria:
        if name in (criterion.id, criterion.path):
            return criterion.title
    if name in SEVERITIES:
        return sentence_case(locale.say(f"severity_{name}"))
    return locale.say("floor_final") if name == ReleaseFloors.FINAL else view.spec.labels.get(name)


def _where(view: RunData, floor: Floor, locale: Locale, *, whole: bool) -> Iterator[str]:
    """The judges, the criteria with their failures, and the cases of a floor."""
    if floor.judges:
        yield locale.names(floor.judges)
    if floor.criteria:
        counts, titles = dict(zip(floor.criteria, floor.failed, strict=False)), view.spec.titles(floor.criteria)
        names = zip(floor.criteria, titles, strict=True)
        yield locale.names([f"{name} ({counts[id]})" if id in counts else name for id, name in names], whole=whole)
    if floor.cases and (whole or len(floor.cases) <= NAMES_SHOWN):
        yield locale.say("pair", name=locale.count("cases", len(floor.cases)), value=locale.names(floor.cases))
    elif floor.cases:
        yield locale.count("cases", len(floor.cases))


RELEASE: Figure[Release | None] = Figure(id="release", compute=_release, stored="results", notices=_notices, section=_section)
SCORES_RELEASE: Figure[Release | None] = Figure(id="scores_release", compute=_scores_release)
"""The verdict as if every judge were qualified: what the scores say, whatever exams say of their judges."""

DOUBT: Figure[Doubt] = Figure(id="doubt", compute=_doubt)
"""Why a run settles nothing, if its release verdict is not FAIL."""


class ExamStep(Struct, frozen=True, kw_only=True):
    """What brings a missing exam about, in words; `command` is empty where a command alone does not."""

    text: str
    command: tuple[str, ...] = ()


def exam_steps(view: RunData, release: Release, locale: Locale, place: tuple[str, ...] | None = None) -> Iterator[ExamStep]:
    """What to do about the judges whose scores prove nothing for the release; nothing where all of them count.

    Args:
        place: the options that name the ledger, for a console; None: for a report, which names no folder of a machine.
    """
    lacking = [floor for floor in release.floors if floor.kind == "qualified_judges" and floor.state != "met"]
    if not lacking:
        return
    gold: tuple[str, ...] | None = None
    with suppress(AreopageError):  # where the suite is not to be found, it is not known what its gold set can examine
        gold = gold_criteria(load_suite(str(view.spec.settings.base_dir)))
    if gold is not None and not gold:
        yield ExamStep(text=locale.say("exam_no_gold", suite=view.spec.suite))
        return
    wanted = dict.fromkeys(id for floor in lacking if floor.name == "never_examined" for id in floor.criteria)
    without = [id for id in wanted if gold is not None and id not in gold]
    if without:
        yield ExamStep(text=locale.say("exam_gold_lacks", criteria=locale.names(view.spec.titles(without))))
    yield from _commands(view, [floor for floor in lacking if floor.name != "undecided"], without, locale, place)
    for floor in lacking:
        if floor.name == "undecided":
            marks = [
                mark
                for standing in view.standings
                if standing.judge in floor.judges
                for criterion in standing.criteria
                if criterion.criterion in floor.criteria
                for mark in criterion.missed
            ]
            rows = max((mark.needed_low + mark.needed_high or mark.needed or 0 for mark in marks), default=0)
            few_passes = any(mark.name == "consistency" and mark.figure.value is None for mark in marks)
            text = locale.say("exam_passes" if few_passes else "exam_again")
            if rows:
                text = locale.count("exam_few_rows", rows, criteria=locale.names(view.spec.titles(floor.criteria)))
            asked = [(judge.name, str(judge.reference)) for judge in view.spec.judges if judge.name in floor.judges]
            yield ExamStep(text=text, command=_command(view, asked, place, ("--passes", "2") if few_passes else ()))


def _command(
    view: RunData, asked: Sequence[tuple[str, str]], place: tuple[str, ...] | None, more: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The command that examines judges, given by name and model, on the criteria of the floors."""
    suite = view.spec.suite if place is None else suite_place(view)
    words = exam_words(suite, asked, joint=view.spec.joint, floors=True)
    return (*words, *more, *(out_option(view) if place is None else place))


def _commands(
    view: RunData, lacking: Sequence[Floor], without: Collection[str], locale: Locale, place: tuple[str, ...] | None
) -> Iterator[ExamStep]:
    """What examines the judges of floors, but on the criteria `without` an answer in the gold set."""
    settled = {name for floor in lacking if set(floor.criteria) <= set(without) for name in floor.judges}
    names = dict.fromkeys(name for floor in lacking if not set(floor.criteria) <= set(without) for name in floor.judges)
    judges = [judge for judge in view.spec.judges if judge.name in names]
    if recorded := [judge.name for judge in judges if judge.reference.provider == "replay"]:
        yield ExamStep(text=locale.say("exam_recorded", judges=locale.names(recorded)))
    asked = [(judge.name, str(judge.reference)) for judge in judges if judge.name not in recorded]
    if asked and not settled.issuperset(name for name, _ in asked):
        only_failed = all(floor.name == "not_qualified" for floor in lacking)
        text = locale.say("exam_failed" if only_failed else "exam_command")
        yield ExamStep(text=text, command=_command(view, asked, place))


def suite_place(view: RunData) -> str:
    """The run's suite as a command names it: a bundled one by its name, another by its folder as seen from here."""
    folder = Path(view.spec.settings.base_dir)
    if folder.parent == BUNDLED.resolve() or not folder.is_dir():
        return view.spec.suite
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)
