"""The report on the gate's decisions."""

import shlex
from collections.abc import Sequence
from datetime import timedelta

from areopage.gate import GATE_VERDICTS
from areopage.locales import Locale, sentence_case
from areopage.report.elements import (
    columns,
    excerpt,
    histogram,
    method_section,
    report_locale,
    rows,
    share_interval,
    share_text,
    text_note,
)
from areopage.report.gate.figures import OTHERS, GateFigures, GateOverview, ShownAnswer, Slice, json_figures
from areopage.report.model import (
    Bar,
    Block,
    Cell,
    Entries,
    Entry,
    Facts,
    Heading,
    Headline,
    Listing,
    Notice,
    Paragraph,
    Report,
    Section,
    Span,
    Stripe,
    Table,
)
from areopage.report.rendering import ReportForm
from areopage.scoring import Share
from areopage.version import __version__

MOST_NAMES = 12  # collections, sources or languages that a table shows
MOST_VERSIONS = 3
TITLE = 160
GRADE_OF_VERDICT = {"deliver": "excellent", "fallback": "acceptable", "human_review": "weak"}


def gate_report_name(form: ReportForm) -> str:
    """The name of a report's file in a folder."""
    return f"gate-report.{form}"


def gate_report(overview: GateOverview) -> Report:
    """Build the report from figures."""
    locale, figures = report_locale(overview.language), overview.figures
    first = None if overview.scope.since is None else overview.scope.since.date()
    last = None if overview.scope.until is None else (overview.scope.until - timedelta(microseconds=1)).date()
    if first is not None and last is not None:
        period = sentence_case(locale.period(first, last))
    elif first is not None:
        period = locale.say("gate_period_since", day=locale.date(first))
    else:
        period = locale.say("gate_period_all") if last is None else locale.say("gate_period_until", day=locale.date(last))
    collection = overview.scope.collection
    facts = [
        *([] if collection is None else [(locale.say("gate_collection"), _name(collection, locale))]),
        (locale.say("answers_heading"), locale.whole(figures.answers)),
    ]
    if figures.answers:
        facts += [(locale.say("gate_origins"), _origins(figures, locale)), (locale.say("gate_rules"), _rules(figures, locale))]
    filled = (_verdicts, _reasons, _confidence, _labels, _slices, _latency, _worst) if figures.answers else ()
    sections = [section for part in (*filled, _method) for section in [part(overview, locale)] if section is not None]
    return Report(
        locale=locale,
        kind=locale.say("gate_report"),
        title=period,
        window=f"{locale.say('gate_report')} · {period}",
        facts=(*facts, (locale.say("made"), locale.date(overview.made_at))),
        notices=_notices(overview, locale),
        headline=_headline(figures, locale) if figures.answers else None,
        sections=tuple(sections),
        footer=(f"areopage {__version__}", locale.say("gate_report"), period),
        figures=json_figures(overview),
    )


def _notices(overview: GateOverview, locale: Locale) -> tuple[Notice, ...]:
    if not overview.figures.answers:
        return (Notice(title=locale.say("gate_nothing"), blocks=(Paragraph(text=locale.say("gate_nothing_hint")),)),)
    warnings = tuple(locale.count(key, n) for key, n in overview.warned)
    return (Notice(title=locale.say("gate_warnings"), blocks=(Listing(items=warnings),)),) if warnings else ()


def _headline(figures: GateFigures, locale: Locale) -> Headline:
    delivered = figures.shares["deliver"]
    return Headline(
        label=locale.say("gate_passes"),
        value=share_text(delivered, locale),
        css="share",
        facts=(
            (locale.say("gate_interval"), share_interval(delivered, locale)),
            *(
                ((locale.say("gate_spec"), _of(figures.passed_spec, locale, "gate_spec_passed")),)
                if figures.passed_spec.of
                else ()
            ),
            *(((locale.say("gate_spec_confident"), _of(figures.confident_spec, locale)),) if figures.confident_spec.of else ()),
        ),
    )


def _verdicts(overview: GateOverview, locale: Locale) -> Section:
    figures = overview.figures
    named = [
        (GRADE_OF_VERDICT[verdict], locale.say(f"gate_name_{verdict}"), figures.shares[verdict]) for verdict in GATE_VERDICTS
    ]
    heads = columns(*(locale.say(key) for key in ("answers_heading", "share", "gate_interval")), first=locale.say("gate_verdict"))
    cells = (
        (Cell(text=name, key=css), locale.whole(share.hits), share_text(share, locale), share_interval(share, locale))
        for css, name, share in named
    )
    notes = (("gate_judged", figures.judged), ("gate_shadow", figures.modes.get("shadow", 0)))
    blocks: tuple[Block, ...] = (
        Stripe(parts=tuple((css, share.share or 0.0) for css, _, share in named)),
        Table(columns=heads, rows=rows(cells), css="gradelist", stacked=False),
        *(Paragraph(text=locale.count(key, count), look="note") for key, count in notes if count),
    )
    return Section(id="verdicts", title=locale.say("gate_verdicts_heading"), blocks=blocks)


def _reasons(overview: GateOverview, locale: Locale) -> Section:
    figures, title = overview.figures, locale.say("gate_reasons")
    if not figures.reasons:
        return Section(id="reasons", title=title, blocks=(Paragraph(text=locale.say("gate_no_reasons")),))
    names = locale.messages["gate_reason_names"]
    heads = columns(locale.say("answers_heading"), locale.say("share"), first=locale.say("gate_reason"))
    cells = (
        (Cell(text=str(names.get(code, code)), title=code), locale.whole(hits), locale.percent(hits / figures.answers))
        for code, hits in figures.reasons.items()
    )
    note = Paragraph(text=locale.say("gate_reasons_note"), look="note")
    return Section(
        id="reasons", title=title, blocks=(Table(columns=heads, rows=rows(cells), css="gradelist", stacked=False), note)
    )


def _confidence(overview: GateOverview, locale: Locale) -> Section:
    blocks: list[Block] = []
    if any(overview.figures.confidences):
        blocks.append(histogram(locale.say("gate_confidences"), overview.figures.confidences, locale))
        blocks.append(Paragraph(text=locale.say("gate_confidences_note"), look="note"))
    if any(overview.figures.p_unsupported):
        blocks.append(histogram(locale.say("gate_p_unsupported"), overview.figures.p_unsupported, locale))
    return Section(id="figures", title=locale.say("gate_figures_heading"), blocks=tuple(blocks))


def _labels(overview: GateOverview, locale: Locale) -> Section:
    labels, title = overview.figures.labels, locale.say("gate_labels")
    if not labels.labelled:
        return Section(id="labels", title=title, blocks=(Paragraph(text=locale.say("gate_labels_none")),))
    ungrounded, delivered = locale.whole(labels.ungrounded), locale.whole(labels.delivered)
    lead = locale.count("gate_labelled", labels.labelled, ungrounded=ungrounded, delivered=delivered)
    named = (("precision", labels.precision), ("recall", labels.recall), ("escapes", labels.escapes))
    cells = (
        (
            Cell(text=locale.say(f"gate_{name}"), under=(locale.say(f"gate_{name}_note"),)),
            Cell(bar=Bar(share=share.share, low=share.low, high=share.high)),
            share_text(share, locale),
            f"{locale.whole(share.hits)}/{locale.whole(share.of)}",
            share_interval(share, locale),
        )
        for name, share in named
    )
    heads = columns(None, *(locale.say(key) for key in ("share", "answers_heading", "gate_interval")), css={4: "span"})
    blocks = (
        Paragraph(text=lead),
        Table(columns=heads, rows=rows(cells), css="shares", stacked=False),
        Paragraph(text=locale.say("gate_labels_note"), look="note"),
    )
    return Section(id="labels", title=title, blocks=blocks)


def _slices(overview: GateOverview, locale: Locale) -> Section:
    figures = overview.figures
    blocks = [
        *_slice_table(locale.say("gate_by_collection"), figures.collections, locale),
        *_slice_table(locale.say("gate_by_source"), figures.sources, locale, locale.say("gate_sources_note")),
        *_slice_table(locale.say("gate_by_language"), figures.languages, locale),
    ]
    return Section(id="slices", title=locale.say("gate_slices"), blocks=tuple(blocks))


def _slice_table(title: str, parts: Sequence[Slice], locale: Locale, note: str = "") -> list[Block]:
    if not parts:
        return []

    def share_cell(share: Share) -> Cell:
        return Cell(text=share_text(share, locale), under=(share_interval(share, locale),))

    heads = columns(
        locale.say("answers_heading"), *(locale.say(f"gate_name_{verdict}") for verdict in GATE_VERDICTS), first=title
    )
    cells: list[tuple[Cell | str, ...]] = [
        (_name(part.name, locale), locale.whole(part.answers), *(share_cell(part.verdicts[verdict]) for verdict in GATE_VERDICTS))
        for part in parts[:MOST_NAMES]
    ]
    notes = [locale.count("gate_left_out", len(parts) - MOST_NAMES)] if len(parts) > MOST_NAMES else []
    notes += [note] if note else []
    return [
        Heading(text=title),
        Table(columns=heads, rows=rows(cells), css="slices"),
        *(Paragraph(text=text, look="note") for text in notes),
    ]


def _latency(overview: GateOverview, locale: Locale) -> Section:
    latency, title = overview.figures.latency, locale.say("gate_latency")
    if not latency.decisions:
        return Section(id="latency", title=title, blocks=(Paragraph(text=locale.say("gate_latency_none")),))
    values = (("gate_latency_p50", latency.p50), ("gate_latency_p90", latency.p90), ("gate_latency_p99", latency.p99))
    facts = Facts(items=tuple((locale.say(key), locale.milliseconds(seconds)) for key, seconds in values))
    note = Paragraph(text=locale.count("gate_latency_of", latency.decisions), look="note")
    return Section(id="latency", title=title, blocks=(facts, note))


def _worst(overview: GateOverview, locale: Locale) -> Section | None:
    if not overview.worst:
        return None
    lead = f"{locale.say('gate_worst_note')} {text_note(overview.text, locale)}".strip()
    entries = Entries(items=tuple(_entry(answer, locale) for answer in overview.worst))
    return Section(id="worst", title=locale.say("gate_worst"), blocks=(Paragraph(text=lead, look="soft"), entries))


def _entry(answer: ShownAnswer, locale: Locale) -> Entry:
    missing = locale.say("no_text")
    label = locale.say(f"gate_label_{answer.label}") if answer.label else ""
    facts = (locale.say(f"gate_one_{answer.verdict}"), label, answer.id, locale.moment(answer.at), answer.collection)
    text = [Span(piece.text, "mark") if piece.marked else piece.text for piece in answer.answer]
    reasons = (Listing(title=locale.say("gate_reasons_short"), items=answer.reasons),) if answer.reasons else ()
    return Entry(
        score=locale.probability(answer.p_unsupported),
        title=answer.question[:TITLE] or missing,
        facts=tuple(fact for fact in facts if fact),
        blocks=(
            excerpt(locale, locale.say("question"), answer.question, missing),
            excerpt(locale, locale.say("answer"), text, missing),
            *reasons,
        ),
        alarm=answer.escaped,
    )


def _method(overview: GateOverview, locale: Locale) -> Section:
    scope = overview.scope
    parts = ["areopage", "gate", "report", *overview.place]
    parts += ["--since", scope.since.date().isoformat()] if scope.since is not None else []
    parts += ["--until", (scope.until - timedelta(days=1)).date().isoformat()] if scope.until is not None else []
    parts += ["--collection", scope.collection] if scope.collection is not None else []
    again, notes = shlex.join([*parts, "--lang", overview.language]), map(locale.say, ("gate_how_shares", "gate_how_p"))
    return method_section(locale, notes, overview.made_at, f"areopage {__version__}", again, overview.heads)


def _of(share: Share, locale: Locale, key: str = "gate_of") -> str:
    return locale.say(key, hits=locale.whole(share.hits), of=locale.whole(share.of), share=share_text(share, locale))


def _name(name: str, locale: Locale) -> str:
    if name == OTHERS:
        return locale.say("gate_others")
    return str(locale.messages["gate_languages"].get(name, name)) or locale.say("gate_unnamed")


def _origins(figures: GateFigures, locale: Locale) -> str:
    names = [(locale.messages.get(f"gate_origin_{origin}", origin), count) for origin, count in figures.origins.items()]
    return ", ".join(name if len(names) == 1 else f"{name} ({locale.whole(count)})" for name, count in names)


def _rules(figures: GateFigures, locale: Locale) -> str:
    profiles = [locale.say("gate_profile_default") if name == "default" else name for name in figures.profiles if name]
    versions = [version for version in figures.versions if version and version != OTHERS]
    more = ["…"] if len(versions) > MOST_VERSIONS else []
    return ", ".join([*profiles, *versions[:MOST_VERSIONS], *more]) or locale.say("gate_unnamed")
