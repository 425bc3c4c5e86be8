"""What a jury is worth, in words and tables: beside the score, in a section of a run's report, and on the console."""

from collections.abc import Iterator, Sequence

from areopage.locales import MISSING, Locale, one_line
from areopage.report.elements import columns, figure_text, range_text, rows
from areopage.report.model import Block, Cell, Details, Line, Paragraph, Section, Span, Table, line
from areopage.scoring import FEWEST_ITEMS, Estimate, JuryWorth, LabelledWorth, Raters, Replacement

LONGEST_NAME = 60


def worth_fact(worth: JuryWorth, locale: Locale) -> Line:
    """The worth of a jury beside a score: the number of independent judges, or what is missing to know it."""
    text, note = _short_texts(worth, locale)
    return line(text, Span(f"– {note}" if note else "", "soft"))


def _short_texts(worth: JuryWorth, locale: Locale) -> tuple[str, str]:
    if worth.judges < 2:
        return locale.say("worth_one_short"), ", ".join(_alone_texts(worth, locale))
    judges, at_most = _effective(worth), worth.unlabelled.at_most
    if judges is not None:
        notes = [_measured(worth.labelled, locale), *([] if worth.at_random else [locale.say("worth_chosen_short")])]
        return _said(locale, "worth_jury_short", worth, judges), ", ".join(notes)
    limit = locale.say("worth_at_most_short", value=locale.number(at_most.value, 1)) if at_most is not None else ""
    if worth.labelled.enough:
        return locale.say("worth_none_short"), limit
    numbers = {"there": locale.whole(worth.labelled.items), "needed": locale.whole(FEWEST_ITEMS)}
    return locale.say("worth_missing_short", **numbers), limit


def _alone_texts(worth: JuryWorth, locale: Locale) -> Iterator[str]:
    """A judge alone against people; nothing where labels are too few."""
    for judge in worth.labelled.judges:
        yield locale.say("worth_one_measured", leniency=figure_text(locale, judge.leniency, sign=True))
        yield _measured(worth.labelled, locale)
        yield from () if worth.at_random else (locale.say("worth_chosen_short"),)


def worth_texts(worth: JuryWorth, locale: Locale) -> Iterator[str]:
    """The worth of a jury in plain sentences."""
    labelled, judges = worth.labelled, _effective(worth)
    numbers = {"there": locale.whole(labelled.items), "needed": locale.whole(FEWEST_ITEMS), "judges": locale.whole(worth.judges)}
    if worth.judges < 2:
        yield locale.say("worth_one")
        if not labelled.enough:
            yield locale.say("worth_missing_judge", **numbers)
    elif judges is not None:
        yield _said(locale, "worth_jury", worth, judges)
    else:
        yield locale.say("worth_none" if labelled.enough else "worth_missing", **numbers)
    if worth.unlabelled.at_most is not None and judges is None:
        yield locale.say("worth_at_most", value=locale.number(worth.unlabelled.at_most.value, 1))
    if labelled.enough:
        yield from _labelled_texts(worth, locale)


def _labelled_texts(worth: JuryWorth, locale: Locale) -> Iterator[str]:
    labelled = worth.labelled
    if not worth.at_random:
        yield locale.say("worth_chosen")
    effective = labelled.effective
    if effective is not None and effective.without_noise is not None:
        yield _said(locale, "worth_without_noise", worth, effective.without_noise)
    if len(labelled.judges) > 1:
        names = labelled.useless
        yield locale.count("worth_useless", len(names), judges=", ".join(names)) if names else locale.say("worth_no_useless")
    if (best := labelled.best) is not None:
        key = {"judge": "worth_best_judge", "jury": "worth_best_jury", "": "worth_best_open"}[best.better]
        error, jury = (locale.number(value) for value in (best.error, best.jury_error))
        yield locale.say(
            key, judge=best.judge, error=error, jury=jury, difference=figure_text(locale, best.difference, sign=True)
        )
    yield replacement_text(labelled, locale)


def replacement_text(labelled: LabelledWorth, locale: Locale) -> str:
    """Which judges may replace a person; without the test, what is missing for it."""
    replacement = labelled.replacement
    if replacement is None:
        numbers = {"people": Replacement.FEWEST_RATERS, "each": Replacement.FEWEST_OF_RATER, "items": Replacement.FEWEST_LABELLED}
        raters = locale.count("people_raters", labelled.raters)
        values = {key: locale.whole(n) for key, n in (numbers | {"twice": labelled.twice}).items()}
        return locale.say("worth_replace_missing", raters=raters, **values)
    passing = {kind: [judge.judge for judge in replacement.judges if judge.may_replace[kind]] for kind in Replacement.EPSILON}
    named = {kind: ", ".join(name or locale.say("worth_whole_jury") for name in names) for kind, names in passing.items()}
    values = {kind: names or locale.say("worth_replace_none") for kind, names in named.items()}
    return locale.say("worth_replace", raters=locale.whole(replacement.raters), items=locale.whole(replacement.items), **values)


def worth_rows(labelled: LabelledWorth, locale: Locale) -> list[list[str]]:
    """Heads and a row for each judge beside people, as plain text."""
    keys = ["judge", "scores", "leniency", "noise", "error", "without", "contribution"]
    keys += ["omega"] if labelled.replacement is not None else []
    by_judge = {judge.judge: judge for judge in labelled.replacement.judges} if labelled.replacement is not None else {}
    return [
        [locale.say(f"worth_{key}") for key in keys],
        *(
            [
                one_line(judge.judge, LONGEST_NAME),
                locale.whole(judge.units),
                figure_text(locale, judge.leniency, sign=True),
                figure_text(locale, judge.noise),
                locale.number(judge.error),
                figure_text(locale, judge.without, sign=True) if judge.without is not None else MISSING,
                locale.say(f"worth_{judge.contribution}") if judge.without is not None else MISSING,
                *([_omega(by_judge.get(judge.judge), locale)] if labelled.replacement is not None else []),
            ]
            for judge in labelled.judges
        ),
    ]


def worth_section(worth: JuryWorth, locale: Locale) -> Section:
    """The section of a report."""
    blocks: list[Block] = []
    if worth.judges > 1:
        blocks.append(Paragraph(text=locale.say("worth_lead", judges=locale.whole(worth.judges)), look="soft"))
    blocks += [Paragraph(text=text) for text in worth_texts(worth, locale)]
    if worth.labelled.enough:
        blocks += [_judges_table(worth.labelled, locale), Paragraph(text=locale.say("worth_note"), look="note")]
    if worth.labelled.replacement is not None:
        blocks.append(Paragraph(text=locale.say("worth_replace_note"), look="note"))
    if worth.unlabelled.judges:
        beside = (_beside_table(worth, locale), Paragraph(text=locale.say("worth_beside_note"), look="note"))
        blocks.append(Details(summary=locale.say("worth_beside_title"), blocks=beside))
    return Section(id="worth", title=locale.say("worth_title"), blocks=tuple(blocks))


def _judges_table(labelled: LabelledWorth, locale: Locale) -> Table:
    heads, *texts = worth_rows(labelled, locale)
    listed: list[Sequence[Cell | str]] = []
    for judge, cells in zip(labelled.judges, texts, strict=True):
        under = (cells[6],) if judge.contribution != "unknown" else ()
        listed.append((Cell(text=Span(judge.judge, "strong"), under=under), *cells[1:6], *cells[7:]))
    return Table(columns=columns(*heads[1:6], *heads[7:], first=heads[0]), rows=rows(listed), css="jury")


def _beside_table(worth: JuryWorth, locale: Locale) -> Table:
    listed: list[Sequence[Cell | str]] = []
    for judge in worth.unlabelled.judges:
        under = tuple(locale.say(f"worth_apart_{manner}") for manner in judge.stands_apart)
        figures = (figure_text(locale, judge.apart, sign=True), figure_text(locale, judge.spread))
        listed.append((Cell(text=Span(judge.judge, "strong"), under=under), locale.whole(judge.units), *figures))
    heads = columns(*(locale.say(f"worth_{key}") for key in ("scores", "beside", "spread")), first=locale.say("worth_judge"))
    return Table(columns=heads, rows=rows(listed), css="jury")


def _omega(replacement: Replacement | None, locale: Locale) -> str:
    if replacement is None:
        return MISSING
    kinds: tuple[Raters, ...] = ("expert", "skilled", "crowd")
    return " / ".join(locale.number(replacement.winning_rate[kind]) for kind in kinds)


def _effective(worth: JuryWorth) -> Estimate | None:
    effective = worth.labelled.effective
    return effective.value if effective is not None and effective.value.value is not None else None


def _said(locale: Locale, key: str, worth: JuryWorth, judges: Estimate) -> str:
    """A message with a number of judges and its interval, to a tenth."""
    has_interval = judges.low is not None and judges.high is not None
    around = range_text(locale, judges.low or 0.0, judges.high or 0.0, digits=1) if has_interval else MISSING
    numbers = {"judges": locale.whole(worth.judges), "value": locale.number(judges.value, 1)}
    return locale.say(key, **numbers, range=around, measured=_measured(worth.labelled, locale))


def _measured(labelled: LabelledWorth, locale: Locale) -> str:
    return locale.count("worth_measured", labelled.items, raters=locale.count("people_raters", labelled.raters))
