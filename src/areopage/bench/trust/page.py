"""The page "How far can you trust this?": of a benchmark run beside its report, of a period in its report and on the server."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from areopage.bench.commands import command_span, run_command
from areopage.bench.figures.people import HumanCriterion
from areopage.bench.results.run_data import RunData
from areopage.bench.trust.records import FINAL, Group, JudgeTrust, PartScore, PeopleTrust, Trust
from areopage.bench.trust.text import exam_state, gaps, group_name, language_name, opening, step_text
from areopage.locales import MISSING, Locale
from areopage.report import (
    ALARMING,
    Badge,
    Block,
    Cell,
    Details,
    Facts,
    Heading,
    Line,
    Listing,
    Paragraph,
    Report,
    Row,
    Section,
    Span,
    Table,
    audience,
    axis_of,
    columns,
    figure_text,
    head_facts,
    line,
    point_on,
    report_locale,
    rows,
    worth_texts,
)
from areopage.scoring import FEWEST_ITEMS, CorrectedScore, Estimate
from areopage.version import __version__

TRUST = "trust.html"
"""The page of a run, beside its report."""

LIMITS = ("prompts", "people", "gold", "training", "change", "attacks")


def trust_page(view: RunData, trust: Trust, report_name: str) -> Report:
    """Build the page of a run."""
    locale, run, spec = report_locale(view.spec.language), view.run, view.spec
    target = spec.title or locale.say("given_responses")
    renew = (locale.say("trust_renew"), command_span(run_command(view, "bench", "report")))
    facts = Facts(items=(renew, *head_facts(view.heads, locale)), small=True)
    *first, last = trust_sections(trust, locale)
    return Report(
        locale=locale,
        kind=locale.say("trust_kind"),
        title=trust_title(trust, locale),
        window=f"{trust_title(trust, locale)} · {spec.suite} · {target}",
        facts=(
            (locale.say("target"), target),
            (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
            (locale.say("date"), locale.date(run.created_at)),
            (locale.say("run_id"), run.id),
            (locale.say("trust_back"), Span(report_name, "link", report_name)),
        ),
        sections=(*first, Section(id=last.id, title=last.title, blocks=(*last.blocks, facts))),
        footer=(f"areopage {__version__}", run.id),
        figures={"trust": trust},
    )


def trust_title(trust: Trust, locale: Locale) -> str:
    """The question that the page answers."""
    return locale.say("trust_title" if trust.about == "run" else "trust_title_period")


def trust_section(trust: Trust, locale: Locale) -> Section:
    """All of it as one section of a longer report, with the parts behind the short answer folded."""
    first, *parts = trust_sections(trust, locale)
    folded = tuple(Details(summary=part.title, blocks=tuple(part.blocks)) for part in parts)
    return Section(id="trust", title=trust_title(trust, locale), blocks=(*first.blocks, *folded))


def trust_sections(trust: Trust, locale: Locale) -> tuple[Section, ...]:
    """The sections of the page; the first holds the short answer."""
    jury = [Paragraph(text=text) for text in worth_texts(trust.jury, locale)] if trust.jury is not None else []
    parts = (
        ("short", "trust_short", _short(trust, locale)),
        ("judges", "trust_judges", _judges(trust, locale)),
        *([("jury", "trust_jury", jury)] if jury else []),
        ("people", "trust_people", _people(trust, locale)),
        ("score", "trust_score", _score(trust, locale)),
        ("uncovered", "trust_uncovered", _uncovered(trust, locale)),
        ("limits", "trust_limits", _limits(trust, locale)),
    )
    return tuple(Section(id=id, title=locale.say(key), blocks=tuple(blocks)) for id, key, blocks in parts)


def _short(trust: Trust, locale: Locale) -> Iterator[Block]:
    for text in opening(trust, locale):
        yield Paragraph(text=text, look="lead")
    yield Heading(text=locale.say("trust_steps"))
    if not trust.steps:
        yield Paragraph(text=locale.say("trust_steps_none"))
        return
    yield Paragraph(text=locale.say("trust_steps_lead"), look="soft")
    colon = locale.say("pair", name="", value="").rstrip(" ")
    steps = (line(f"{step_text(trust, step, locale)}{colon}", command_span(step.command)) for step in trust.steps)
    yield Listing(items=tuple(steps), css="steps")


def _judges(trust: Trust, locale: Locale) -> Iterator[Block]:
    yield Paragraph(text=locale.say("trust_judges_lead"), look="soft")
    if not trust.judges:
        yield Paragraph(text=locale.say("trust_open_no_judges"))
        return
    measured = any(judge.leniency is not None for judge in trust.judges)
    several = len(trust.judges) > 1

    def row(judge: JudgeTrust) -> tuple[Cell | str, ...]:
        standing = judge.standing
        under = [standing.model] if standing.model != standing.judge else []
        cells: list[Cell | str] = [Cell(text=Span(standing.judge, "strong"), under=tuple(under)), _exam_cell(judge, locale)]
        if measured:
            cells.append(MISSING if judge.leniency is None else figure_text(locale, judge.leniency, sign=True))
            cells.append(MISSING if judge.noise is None else figure_text(locale, judge.noise))
            cells.append(locale.whole(judge.units))
            cells += [locale.say(f"worth_{judge.contribution}")] if several else []
        return tuple(cells)

    keys = ("trust_exam", *(("trust_leniency", "trust_noise", "trust_n") if measured else ()))
    keys += ("trust_part",) if measured and several else ()
    heads = columns(*map(locale.say, keys), first=locale.say("judge"), css={0: "who"}, texts=(1,))
    yield Table(columns=heads, rows=rows(map(row, trust.judges)), css="judges", caption=locale.say("trust_judges"))
    if trust.about == "period":
        yield Paragraph(text=locale.say("trust_judges_newest"), look="note")
    note = locale.say("trust_judges_note") if measured else None
    yield Paragraph(text=note or locale.say("trust_judges_unlabelled", needed=locale.whole(FEWEST_ITEMS)), look="note")


def _exam_cell(judge: JudgeTrust, locale: Locale) -> Cell:
    standing, word = judge.standing, exam_state(judge, locale)
    under: list[str | Badge] = []
    if standing.examined_at is not None:
        under.append(locale.say("trust_on_date", date=locale.date(standing.examined_at)))
    elif standing.older is not None:
        under.append(locale.say("examined_older", date=locale.date(standing.older)))
    if standing.otherwise:
        under.append(locale.count("examined_otherwise", standing.otherwise))
    if judge.examined_in:
        names = ", ".join(language_name(code, locale) for code in judge.examined_in)
        under.append(locale.say("trust_in_languages", languages=names))
    if standing.state in ALARMING:
        return Cell(text="", under=(Badge(text=word, alarm=True), *under))
    return Cell(text=word, under=tuple(under))


def _people(trust: Trust, locale: Locale) -> Iterator[Block]:
    people = trust.people
    if people is None:
        yield Paragraph(text=locale.say("trust_people_none"))
        return
    yield Paragraph(text=locale.say("trust_people_lead"), look="soft")
    yield Facts(items=tuple(_people_facts(people, locale)))
    listed = [key for key in (*trust.names, FINAL) if key in people.criteria]
    if listed:
        failures = any(people.criteria[key].failures is not None for key in listed)
        keys = ["trust_n", "trust_distance", "trust_jury_bias", "trust_together"]
        keys += ["trust_failures_missed"] if failures else []
        heads = columns(*map(locale.say, keys), first=locale.say("criterion"))
        cells = [_people_row(trust, key, people.criteria[key], locale, failures=failures) for key in listed]
        caption = locale.say("trust_people_caption")
        yield Table(columns=heads, rows=rows(cells), css="agreement", caption=caption)
        yield Paragraph(text=locale.say("trust_people_note"), look="note")


def _people_row(trust: Trust, key: str, agreement: HumanCriterion, locale: Locale, *, failures: bool) -> tuple[Cell | str, ...]:
    name, seen, missed = Cell(text=trust.names.get(key, key), title=key), agreement.failures, MISSING
    if key == FINAL:
        name = Cell(text=Span(locale.say("trust_final" if trust.about == "run" else "trust_mean"), "strong"))
    if seen is not None and seen.people:
        missed = locale.say("trust_missed_of", missed=locale.whole(len(seen.missed)), n=locale.whole(seen.people))
    return (
        name,
        locale.whole(agreement.answers),
        locale.number(agreement.error),
        figure_text(locale, agreement.bias, sign=True),
        figure_text(locale, agreement.pearson),
        *((missed,) if failures else ()),
    )


def _people_facts(people: PeopleTrust, locale: Locale) -> Iterator[tuple[str, Line]]:
    counted = (("people_raters", people.raters), ("people_labels_count", people.labels))
    yield locale.say("trust_who"), ", ".join(locale.count(key, n) for key, n in counted)
    if not people.at_random:
        drawn = locale.count("trust_which_chosen", people.answers)
    elif people.of is None:
        drawn = locale.count("trust_which_drawn", people.answers)
    else:
        drawn = locale.count("trust_which_random", people.answers, of=locale.whole(people.of))
    yield locale.say("trust_which"), drawn
    if people.others:
        yield "", locale.count("trust_which_others", people.others)
    if people.unblind:
        yield locale.say("human_not_counted"), locale.count("people_unblind", people.unblind)
    if people.origins:
        origins = {locale.say(f"trust_origin_{name}"): count for name, count in people.origins.items()}
        yield locale.say("trust_where"), _counted(origins, locale)
    on_what = {language_name(code, locale): count for code, count in people.languages.items()}
    on_what |= {audience(locale, name): count for name, count in people.ages.items()}
    if on_what:
        yield locale.say("trust_on_what"), _counted(on_what, locale)
    twice = max(people.criteria.values(), key=lambda criterion: criterion.twice, default=None)
    best = people.criteria.get(FINAL)
    criterion = best if best is not None and best.raters_alpha.alpha is not None else twice
    if criterion is None or not criterion.twice:
        among = locale.say("trust_among_none")
    elif criterion.raters_alpha.alpha is None:
        among = locale.count("trust_among_few", criterion.twice)
    else:
        alpha = criterion.raters_alpha
        value = figure_text(locale, Estimate(value=alpha.alpha, low=alpha.low, high=alpha.high))
        among = locale.count("trust_among_value", criterion.twice, value=value)
    yield locale.say("trust_among"), among


def _counted(counts: dict[str, int], locale: Locale) -> str:
    return ", ".join(locale.say("trust_counted", name=name, n=locale.whole(count)) for name, count in counts.items())


def _score(trust: Trust, locale: Locale) -> Iterator[Block]:
    score, calibration = trust.score, trust.score.calibration
    name = locale.say("trust_final" if trust.about == "run" else "trust_mean")
    listed = [*_stages(trust, name, score.final, calibration.final if calibration else None, locale, strong=True)]
    if listed:
        yield _stages_table(trust, listed, locale, locale.say("trust_score_caption"))
    if calibration is not None:
        parts = [
            row
            for id, corrected in calibration.criteria.items()
            for row in _stages(trust, trust.names.get(id, id), score.criteria.get(id), corrected, locale)
        ]
        if parts:
            table = _stages_table(trust, parts, locale, locale.say("trust_criteria_scores"))
            yield Details(summary=locale.say("trust_criteria_scores"), blocks=(table,))
        yield Paragraph(text=locale.say("trust_score_note"), look="note")
        answers = locale.count("trust_answers", calibration.answers)
        facts = {
            "id": calibration.id,
            "date": locale.date(datetime.fromisoformat(calibration.fitted)),
            "answers": answers,
            "run": calibration.source,
        }
        yield Paragraph(text=locale.say("trust_corrected_by", **facts))
        if not all(corrected.own for corrected in calibration.scores):
            yield Paragraph(text=locale.say("trust_corrected_elsewhere"))
    else:
        yield Paragraph(text=locale.say("trust_not_corrected"))
    if score.altered:
        yield Paragraph(text=locale.count("trust_altered", len(score.altered), ids=", ".join(score.altered)))
    yield from _needed(trust, locale)
    if score.difference is None:
        text = locale.say("trust_difference_none")
    elif score.difference >= score.scale.max - score.scale.min:
        text = locale.count("trust_difference_any", score.final.cases)
    else:
        key = "trust_difference" if trust.about == "run" else "trust_difference_period"
        text = locale.count(key, score.final.cases, difference=locale.number(score.difference))
    if score.failures is not None:
        share = locale.percent(score.failures)
        text = f"{text} {locale.count('trust_failures_hidden', score.failure_cases, share=share)}"
    yield Paragraph(text=text)


def _stages(
    trust: Trust, name: str, before: PartScore | None, after: CorrectedScore | None, locale: Locale, *, strong: bool = False
) -> Iterator[Row]:
    """A score as the judges gave it, and below it the corrected one."""
    scale = trust.score.scale
    ticks = [place for place, _ in axis_of(scale, locale)]

    def row(label: str, score: float, low: float | None, high: float | None, rests: str) -> Row:
        ends = None if low is None or high is None else (low, high)
        cells = (
            Cell(text=Span(label, "strong") if strong else label),
            Cell(bar=point_on(scale, score, ends, ticks)),
            locale.number(score),
            MISSING if ends is None else locale.say("range", low=locale.number(ends[0]), high=locale.number(ends[1])),
            rests,
        )
        return Row(cells=cells)

    if before is not None and before.score is not None:
        key = "trust_cases" if trust.about == "run" else "trust_answers"
        yield row(locale.say("trust_before", name=name), before.score, before.low, before.high, locale.count(key, before.cases))
    if after is not None:
        labelled = locale.count("trust_labelled", after.labels)
        yield row(locale.say("trust_after", name=name), after.score, after.low, after.high, labelled)


def _stages_table(trust: Trust, listed: Sequence[Row], locale: Locale, caption: str) -> Table:
    heads = columns(
        None,
        *map(locale.say, ("trust_value", "interval_short", "trust_rests_on")),
        first=locale.say("trust_stage"),
        css={0: "words", 2: "score"},
        axis=axis_of(trust.score.scale, locale),
    )
    return Table(columns=heads, rows=tuple(listed), css="stages", caption=caption)


def _needed(trust: Trust, locale: Locale) -> Iterator[Block]:
    lines = []
    for needed in trust.score.needed:
        precision = locale.short(needed.precision)
        if needed.every:
            lines.append(locale.count("trust_needed_every", needed.answers, precision=precision))
        else:
            labelled = locale.whole(needed.labelled)
            lines.append(locale.count("trust_needed", needed.answers, precision=precision, labelled=labelled))
    if lines:
        yield Listing(items=tuple(lines))
    if any(needed.assumed and not needed.every for needed in trust.score.needed):
        yield Paragraph(text=locale.say("trust_needed_assumed"), look="note")


def _uncovered(trust: Trust, locale: Locale) -> Iterator[Block]:
    yield Paragraph(text=locale.say("trust_uncovered_lead"), look="soft")
    sentences = tuple(gaps(trust, locale))
    yield Listing(items=sentences) if sentences else Paragraph(text=locale.say("trust_covered_all"))
    listed = [*_groups(trust, locale)]
    if listed:
        keys = ("cases_heading", "trust_group_hidden")
        heads = columns(*map(locale.say, keys), first=locale.say("trust_group"), css={0: "words"})
        table = Table(columns=heads, rows=rows(listed), css="tested", caption=locale.say("trust_groups_caption"), stacked=False)
        note = Paragraph(text=locale.say("trust_groups_note"), look="note")
        yield Details(summary=locale.say("trust_groups"), blocks=(table, note))


def _groups(trust: Trust, locale: Locale) -> Iterator[tuple[Cell | str, ...]]:
    uncovered = trust.uncovered
    named: list[tuple[str, Group, str]] = []
    named += [("language", group, group_name(group, locale, age=False)) for group in uncovered.languages]
    named += [("age", group, group_name(group, locale, age=True)) for group in uncovered.ages]
    named += [("category", group, group.name) for group in uncovered.categories]
    for kind, group, name in named:
        hidden = locale.percent(group.hidden) if group.cases else locale.say("trust_group_none")
        yield Cell(text=name, under=(locale.say(f"trust_group_{kind}"),)), locale.whole(group.cases), hidden


def _limits(trust: Trust, locale: Locale) -> Iterator[Block]:
    limits = {key: locale.messages["trust_limit"][key] for key in LIMITS}
    if trust.about == "period":
        limits["prompts"] = locale.say("trust_limit_production")
    yield Listing(items=tuple(limits.values()))
