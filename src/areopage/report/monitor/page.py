"""The report on the quality of answers in production."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from areopage.bench import trust_section
from areopage.criteria import Scale
from areopage.ledger import Evaluation
from areopage.locales import MISSING, Locale, sentence_case
from areopage.monitor import CriterionFigures, DayFigures, JudgeFigures, Mean, MeanChange, PeriodFigures
from areopage.report.charts import ChartLevel, Series
from areopage.report.elements import (
    bar_on,
    columns,
    corrected_cell,
    count_cell,
    excerpt,
    histogram,
    method_section,
    report_locale,
    rows,
    ruler,
    text_note,
    variant_name,
)
from areopage.report.judges.jury_worth import worth_fact
from areopage.report.judges.qualification import qualification_badge, qualification_text
from areopage.report.model import (
    BarChart,
    Block,
    Cell,
    Column,
    Details,
    Entries,
    Entry,
    Headline,
    Line,
    Listing,
    Notice,
    Paragraph,
    Report,
    Row,
    ScoreMarks,
    Section,
    Span,
    Stripe,
    Table,
    TrendChart,
    line,
)
from areopage.report.monitor.calibrated import correction_of, period_calibration_texts
from areopage.report.monitor.figures import QualityFigures, json_figures
from areopage.report.rendering import ReportForm
from areopage.scoring import OUTCOME_NAMES, grade_limits, grade_of
from areopage.version import __version__

TREND_LINES = 5  # beside the global one: more colours cannot be distinguished
TITLE = 160
WITHOUT_SCORE = tuple(name for name in OUTCOME_NAMES if name != "scored")


def quality_report_name(day: date, form: ReportForm) -> str:
    """The name of a report's file."""
    return f"quality-report-{day.isoformat()}.{form}"


def quality_report(quality: QualityFigures) -> Report:
    """Build the report from figures."""
    locale, figures = report_locale(quality.language), quality.figures
    period = sentence_case(locale.period(figures.period.start, quality.figures.period.last))
    suite, scope = f"{quality.suite} {quality.suite_version}", figures.scope
    counted = (("answers_unscored", figures.unscored), ("answers_failed", figures.failed), ("answers_waiting", figures.waiting))
    parts = [locale.count("answers_scored", figures.scored), *(locale.count(key, count) for key, count in counted if count)]
    facts = [
        (locale.say("suite"), suite),
        *([] if scope.source is None else [(locale.say("source"), scope.source or locale.say("variant_none"))]),
        *([] if scope.variant is None else [(locale.say("variant_one"), variant_name(scope.variant, locale))]),
        (locale.say("answers_heading"), ", ".join([*parts, *_beside(figures, locale)])),
        (locale.say("cost"), locale.costs(figures.cost) or locale.say("cost_unknown")),
        (locale.say("made"), locale.date(quality.made_at)),
    ]
    filled = (_criteria, _grades, _trend, _variants, _worst) if not quality.empty else ()
    notes = () if quality.empty else ("how_mean", "how_change", "how_grades")
    version = f"areopage {__version__}, {quality.suite} {quality.suite_version}"
    sections = [
        *(section for part in filled if (section := part(quality, locale)) is not None),
        _judges(quality, locale),
        trust_section(quality.trust, locale),
        method_section(locale, map(locale.say, notes), quality.made_at, version, _command(quality), quality.heads),
    ]
    return Report(
        locale=locale,
        kind=locale.say("quality_report"),
        title=period,
        window=f"{locale.say('quality_report')} · {quality.suite} · {period}",
        facts=tuple(facts),
        notices=tuple(_notices(quality, locale)),
        headline=None if quality.empty else _headline(quality, locale),
        sections=tuple(sections),
        footer=(f"areopage {__version__}", quality.suite, period),
        figures=json_figures(quality),
    )


def _notices(quality: QualityFigures, locale: Locale) -> Iterator[Notice]:
    if quality.unfit:
        text = sentence_case(qualification_text(locale, quality.figures.qualification))
        yield Notice(title=locale.say("not_valid"), blocks=(Paragraph(text=text),), alarm=True)
    yield from _corrected(quality, locale)
    if quality.empty:
        yield Notice(title=locale.say("nothing"), blocks=tuple(Paragraph(text=hint) for hint in _hints(quality, locale)))


def _corrected(quality: QualityFigures, locale: Locale) -> Iterator[Notice]:
    """What corrected the scores; nothing unless a calibration was named."""
    calibration = quality.calibration
    if calibration is None:
        return
    left_out = [
        criterion.label
        for criterion in quality.criteria
        if criterion.mean.answers and criterion.criterion not in calibration.criteria
    ]
    texts = period_calibration_texts(calibration, quality.figures.overall.mean.answers, left_out, locale)
    yield Notice(title=locale.say("corrected_title"), blocks=(Listing(items=tuple(texts)),))


def _hints(quality: QualityFigures, locale: Locale) -> list[Line]:
    figures = quality.figures
    counted = (
        ("nothing_waiting", figures.waiting, "areopage monitor worker"),
        ("nothing_failed", figures.failed, "areopage monitor retry"),
        ("nothing_unscored", figures.unscored, ""),
        ("nothing_sampled", figures.left_out, ""),
        ("nothing_lost", figures.lost_answers, "areopage monitor status"),
    )
    hints: list[Line] = [line(locale.count(key, count), Span(command, "code")) for key, count, command in counted if count]
    wider = _command(quality, max(30, figures.period.days * 4))
    return hints or [line(locale.say("nothing_received"), Span(wider, "code"))]


def _headline(quality: QualityFigures, locale: Locale) -> Headline:
    figures, overall, scale = quality.figures, quality.figures.overall, quality.scale
    over = locale.count("interval_answers", overall.mean.answers) if overall.mean.answers else ""
    coverage = MISSING if figures.coverage is None else locale.percent(figures.coverage)
    scored, planned = locale.whole(figures.scored), locale.whole(figures.planned)
    note = ", ".join([locale.say("coverage_answers", scored=scored, planned=planned), *_beside(figures, locale)])
    missing = figures.not_in_mean
    examine = "" if quality.unfit else f"– {locale.say('qualification_examine')}"
    return Headline(
        label=locale.say("global_mean"),
        value=locale.number(overall.mean.mean),
        unit=locale.say("out_of", max=locale.short(scale.max)),
        missing=locale.say("unscored") if overall.mean.mean is None else "",
        why=locale.say("no_global"),
        badge=qualification_badge(locale, figures.qualification),
        invalid=quality.unfit,
        ruler=ruler(locale, scale, overall.mean.mean, overall.mean.interval),
        facts=(
            *([(locale.say("left_out_of_mean"), locale.say("not_in_mean", names=missing))] if missing else []),
            (locale.say("interval"), line(_interval(overall.mean, locale), Span(f"– {over}" if over else "", "soft"))),
            (locale.say("against_before"), _change_sentence(overall.change, figures.period.days, locale)),
            (locale.say("coverage"), line(coverage, Span(f"– {note}", "soft"))),
            (locale.say("qualification"), line(qualification_text(locale, figures.qualification), Span(examine, "soft"))),
            *([(locale.say("worth_fact"), worth_fact(quality.worth, locale))] if quality.worth is not None else []),
        ),
    )


def _criteria(quality: QualityFigures, locale: Locale) -> Section:
    def row(criterion: CriterionFigures) -> Row:
        cells = (
            Cell(text=criterion.label or Span(locale.say("global_score"), "strong"), title=criterion.criterion),
            *_mean_cells(criterion.mean, quality.scale, locale),
            locale.number(criterion.previous.mean),
            _change_cell(criterion.change, locale),
            *((corrected_cell(correction_of(quality.calibration, criterion.criterion), locale),) if quality.calibration else ()),
        )
        return Row(cells=cells, css="" if criterion.criterion else "all")

    keys = ("mean", "interval", "answers_heading", "before", "change", *(("corrected",) if quality.calibration else ()))
    heads = columns(
        None, *(locale.say(key) for key in keys), first=locale.say("criterion"), css={2: "score", 3: "span", 6: "change"}
    )
    blocks: list[Block] = [
        Table(
            columns=heads, rows=tuple(row(criterion) for criterion in (quality.figures.overall, *quality.criteria)), css="means"
        )
    ]
    if quality.silent:
        blocks.append(Paragraph(text=f"{locale.say('no_scores_for')} {', '.join(quality.silent)}", look="note"))
    return _section("scores", locale.say("by_criterion"), blocks, quality, locale)


def _section(id: str, title: str, blocks: Sequence[Block], quality: QualityFigures, locale: Locale) -> Section:
    return Section(id=id, title=title, blocks=tuple(blocks), badge=qualification_badge(locale, quality.figures.qualification))


def _grades(quality: QualityFigures, locale: Locale) -> Section | None:
    overall = quality.figures.overall
    if not overall.mean.answers:
        return None
    total, names = sum(overall.grades), _grade_names(quality.scale, locale)
    shares = [(name, count, count / total) for name, count in zip(names, overall.grades, strict=True)]
    heads = columns(locale.say("answers_heading"), locale.say("share"), first=locale.say("grade"))
    table = Table(
        columns=heads,
        rows=rows(
            (Cell(text=names[name], key=name), locale.whole(count), locale.percent(share)) for name, count, share in shares
        ),
        css="gradelist",
        stacked=False,
    )
    blocks = (
        Stripe(parts=tuple((name, share) for name, _, share in shares)),
        table,
        score_histogram(overall, quality.scale, locale),
        Paragraph(text=locale.say("distribution_note"), look="note"),
    )
    return Section(id="grades", title=locale.say("grades"), blocks=blocks)


def _grade_names(scale: Scale, locale: Locale) -> dict[str, str]:
    good, excellent = (locale.short(round(limit, 4)) for limit in grade_limits(scale))
    low, high = sorted(grade_limits(scale))
    between = locale.say("from_to", **{"from": locale.short(round(low, 4)), "to": locale.short(round(high, 4))})
    if scale.higher_is_better:
        limits = (locale.say("over", **{"from": excellent}), between, locale.say("under", to=good))
    else:
        limits = (locale.say("under", to=excellent), between, locale.say("over", **{"from": good}))
    names = ("excellent", "acceptable", "weak")
    return {name: f"{locale.say(f'grade_{name}')} ({limit})" for name, limit in zip(names, limits, strict=True)}


def _trend(quality: QualityFigures, locale: Locale) -> Section | None:
    days = quality.figures.days
    if len(days) < 2:
        return None
    names = [("", locale.say("global_score")), *((criterion.criterion, criterion.label) for criterion in quality.criteria)]
    series = tuple(
        daily_series(days, criterion, label, f"c{place}", locale, ranges=not place)
        for place, (criterion, label) in enumerate(names[: TREND_LINES + 1])
    )
    alert = "threshold" if quality.scale.higher_is_better else "threshold_over"
    levels = [] if quality.threshold is None else [quality.threshold]
    chart = TrendChart(
        title=locale.say("trend_title"),
        days=tuple(locale.short_date(day.day) for day in days),
        series=series,
        low=quality.scale.min,
        high=quality.scale.max,
        levels=tuple(ChartLevel(value=value, label=locale.say(alert, n=locale.short(value))) for value in levels),
    )
    none = Mean(answers=0)
    cells = (
        (
            locale.short_date(day.day),
            locale.whole(day.means.get("", none).answers),
            *(locale.number(day.means.get(criterion, none).mean) for criterion, _ in names),
            locale.whole(day.weak),
        )
        for day in days
    )
    heads = columns(
        locale.say("answers_heading"), *(label for _, label in names), locale.say("weak_answers"), first=locale.say("day")
    )
    table = Table(columns=heads, rows=rows(cells), css="days", stacked=False)
    note = Paragraph(text=locale.say("trend_ranges"), look="note")
    blocks = (chart, note, Details(summary=locale.say("trend_table"), blocks=(table,)))
    return _section("trend", locale.say("trend"), blocks, quality, locale)


def _variants(quality: QualityFigures, locale: Locale) -> Section | None:
    sides = quality.figures.variants
    if len(sides) < 2:
        return None
    none = Mean(answers=0)
    cells: Iterator[tuple[Cell | str, ...]] = (
        (
            variant_name(side.variant, locale),
            *_mean_cells(side.overall, quality.scale, locale),
            *(locale.number(side.criteria.get(criterion.criterion, none).mean) for criterion in quality.criteria),
            locale.whole(side.weak),
            _change_cell(side.change, locale),
        )
        for side in sides
    )
    first = variant_name(quality.figures.baseline or "", locale)
    heads = columns(
        None,
        *(locale.say(key) for key in ("global_score", "interval", "answers_heading")),
        *(criterion.label for criterion in quality.criteria),
        locale.say("weak_answers"),
        locale.say("against_first", name=first),
        first=locale.say("variant_one"),
        css={2: "score", 3: "span", 6 + len(quality.criteria): "change"},
    )
    return _section("variants", locale.say("variants"), [Table(columns=heads, rows=rows(cells), css="means")], quality, locale)


def _worst(quality: QualityFigures, locale: Locale) -> Section | None:
    worst = quality.figures.worst
    if not worst:
        return None
    labels = {criterion.criterion: criterion.label for criterion in quality.figures.criteria}
    lead = f"{locale.count('worst_note', len(worst))} {text_note(quality.text, locale)}".strip()
    entries = Entries(items=tuple(_entry(score, labels, quality.scale, locale) for score in worst))
    return _section("worst", locale.say("worst_answers"), (Paragraph(text=lead, look="soft"), entries), quality, locale)


def _entry(score: Evaluation, labels: Mapping[str, str], scale: Scale, locale: Locale) -> Entry:
    missing = locale.say("no_text")
    marks = tuple(
        (labels.get(criterion.criterion, criterion.criterion), bar_on(scale, criterion.score), locale.number(criterion.score))
        for criterion in score.criteria
    )
    texts = (("question", score.prompt), ("answer", score.response), *([("feedback", score.feedback)] if score.feedback else []))
    lists = (("weaknesses", score.weaknesses), ("suggestions", score.suggestions))
    facts = (score.id, locale.moment(score.timestamp), score.source, score.variant)
    return Entry(
        score=locale.number(score.score_global),
        title=score.prompt[:TITLE] or missing,
        facts=tuple(fact for fact in facts if fact),
        blocks=(
            ScoreMarks(items=marks),
            *(excerpt(locale, locale.say(key), text, missing) for key, text in texts),
            *(Listing(title=locale.say(key), items=items) for key, items in lists if items),
        ),
    )


def _judges(quality: QualityFigures, locale: Locale) -> Section:
    title, judges = locale.say("judge_health"), quality.figures.judges
    if not judges:
        return Section(id="judges", title=title, blocks=(Paragraph(text=locale.say("no_judges")),))

    def row(health: JudgeFigures) -> tuple[Cell | str, ...]:
        use = health.use
        return (
            Cell(text=Span(use.judge, "strong"), under=(use.model,)),
            locale.whole(use.calls),
            MISSING if health.scored_share is None else locale.percent(health.scored_share),
            *(count_cell(locale, use.outcomes.get(name, 0)) for name in WITHOUT_SCORE),
            locale.seconds(health.seconds_per_call),
            f"{locale.whole(use.prompt_tokens)} / {locale.whole(use.completion_tokens)}",
            locale.costs(use.cost) or MISSING,
        )

    keys = ("calls", "scored_share", *(f"outcome_{name}" for name in WITHOUT_SCORE), "seconds_per_call", "tokens", "cost")
    heads: tuple[Column, ...] = columns(*(locale.say(key) for key in keys), first=locale.say("judge"), css={0: "who"})
    lead = Paragraph(text=locale.say("judge_health_note"), look="soft")
    return Section(
        id="judges", title=title, blocks=(lead, Table(columns=heads, rows=rows(row(health) for health in judges), css="jury"))
    )


def _beside(figures: PeriodFigures, locale: Locale) -> list[str]:
    """What hooks lost or submitted with a doubt, and what sampling left out."""
    share = locale.percent(figures.left_out_share)
    counted = (
        ("answers_lost", figures.lost_answers),
        ("answers_doubtful", figures.doubts),
        ("answers_left_out", figures.left_out),
    )
    return [locale.count(key, count, share=share) for key, count in counted if count]


def _interval(mean: Mean, locale: Locale) -> str:
    return MISSING if mean.interval is None else locale.interval(*mean.interval)


def _mean_cells(mean: Mean, scale: Scale, locale: Locale) -> tuple[Cell | str, ...]:
    bar = Cell(bar=bar_on(scale, mean.mean, mean.low, mean.high))
    return bar, locale.number(mean.mean), _interval(mean, locale), locale.whole(mean.answers)


def _change_cell(change: MeanChange, locale: Locale) -> Cell:
    if change.certain is None:
        return Cell(text=MISSING)
    text = f"{locale.signed(change.difference)}, {locale.say('change_certain' if change.certain else 'change_uncertain')}"
    return Cell(text=Span(text, "strong") if change.certain else text)


def _change_sentence(change: MeanChange, days: int, locale: Locale) -> str:
    if change.certain is None or change.low is None or change.high is None:
        return locale.say("change_none")
    interval = locale.interval(change.low, change.high, sign=True)
    worth = locale.say("change_certain_long" if change.certain else "change_uncertain_long")
    return f"{locale.signed(change.difference)} {locale.count('days_before', days)} ({interval}) – {worth}"


def _command(quality: QualityFigures, days: int | None = None) -> str:
    scope = quality.figures.scope
    parts = ["areopage", "monitor", "report", "--days", str(days or quality.figures.period.days)]
    parts += ["--until", quality.figures.period.last.isoformat()]
    parts += ["--source", scope.source] if scope.source is not None else []
    parts += ["--variant", scope.variant] if scope.variant is not None else []
    shown = [variant.variant for variant in quality.figures.variants]
    parts += ["--baseline", quality.figures.baseline or ""] if len(shown) > 1 and quality.figures.baseline != shown[0] else []
    return shlex.join(parts)


def score_histogram(figures: CriterionFigures, scale: Scale, locale: Locale) -> BarChart:
    """Count answers in each step of the scale, coloured by grade."""
    counts = figures.histogram
    width = (scale.max - scale.min) / max(len(counts), 1)
    css = [grade_of(scale.min + width * (step + 0.5), scale) for step in range(len(counts))]
    return histogram(locale.say("distribution"), counts, locale, scale.min, scale.max, css)


def daily_series(
    days: Sequence[DayFigures], criterion: str, label: str, css: str, locale: Locale, *, ranges: bool = True
) -> Series:
    """The mean of each day, with its number of answers and its interval.

    Args:
        criterion: "" is the global score.
        ranges: also draw the intervals.
    """
    means = [day.means.get(criterion, Mean(answers=0)) for day in days]
    intervals = [mean.interval for mean in means]
    return Series(
        label=label,
        values=[mean.mean for mean in means],
        css=css,
        notes=[_note(mean, interval, locale) for mean, interval in zip(means, intervals, strict=True)],
        ranges=intervals if ranges else (),
    )


def _note(mean: Mean, interval: tuple[float, float] | None, locale: Locale) -> str:
    note = locale.count("day_answers", mean.answers)
    if interval is None:
        return note
    return note + locale.say("day_interval", low=locale.number(interval[0]), high=locale.number(interval[1]))
