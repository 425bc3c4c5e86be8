"""The report on the audit of a judge: which harmless changes move its scores, and what attacks do."""

from collections.abc import Iterable, Mapping
from string import Template
from typing import Any

import msgspec

from areopage.criteria import Scale
from areopage.locales import MISSING, NARROW, WIDE, Locale
from areopage.report.elements import axis_of, columns, method_section, point_on, report_locale, rows, share_interval, share_text
from areopage.report.judges.qualification import judge_reason
from areopage.report.model import (
    Block,
    Cell,
    Details,
    Headline,
    Listing,
    Notice,
    Paragraph,
    Report,
    Section,
    Span,
    Table,
)
from areopage.scoring import Share
from areopage.trust import AuditResult, Effect, Resistance
from areopage.version import __version__

AUDIT_SCHEMA_NAME = "areopage audit 1"
FEW = 10
MOST_ATTACKS = 60


def audit_report(found: AuditResult, language: str) -> Report:
    """Build the report of an audit in a language."""
    locale = report_locale(language)
    title = f"{found.judge} · {found.suite}"
    items = [_moved(one, found, locale) for one in found.effects if one.is_bias]
    tried = [one for one in _protected(found) if one.difference is not None]
    if tried and not any(one.is_bias for one in tried):
        items.append(locale.count("audit_no_bias", len(tried)))
    blind = [
        max(abs(one.low), abs(one.high)) for one in tried if not one.is_bias and one.low is not None and one.high is not None
    ]
    if blind:
        items.append(locale.say("audit_unseen", size=locale.number(max(blind), 1)))
    for one in found.resistance[:1]:
        values = {"hits": locale.whole(one.raised.hits), "of": locale.whole(one.raised.of), "lost": locale.whole(one.lost.hits)}
        items.append(locale.say("audit_attacks_said", **values))
        twins = {"raised": locale.whole(one.twins_raised.hits), "of": values["of"], "lost": locale.whole(one.twins_lost.hits)}
        items.append(locale.say("audit_twins_said", **twins))
    filled = [Section(id="glance", title=locale.say("audit_glance"), blocks=(Listing(items=tuple(items)),))]
    if found.effects:
        lead = locale.say("audit_changes_lead", low=locale.short(found.low), high=locale.short(found.high))
        blocks: list[Block] = [Paragraph(text=lead, look="soft")]
        for without in dict.fromkeys(one.without for one in found.effects):
            effects = [one for one in found.effects if one.without == without and one.scores]
            if without and effects:
                blocks.append(Details(summary=_protections(without, locale), blocks=(_effect_table(effects, found, locale),)))
            elif effects:
                blocks.append(_effect_table(effects, found, locale))
        if any(one.probe == "self_preference" for one in found.effects):
            blocks.append(Paragraph(text=locale.say("audit_self_note"), look="note"))
        filled.append(Section(id="changes", title=locale.say("audit_changes"), blocks=tuple(blocks)))
    if found.resistance:
        filled += [_attacks(found, locale), _by_kind(found.resistance[0], locale)]
    noise = found.noise
    said = locale.count("audit_noise", noise.pairs, mean=locale.number(noise.mean), largest=locale.short(round(noise.largest, 2)))
    notes = (*([said] if noise.pairs else []), *(locale.say(key) for key in ("audit_how", "audit_not_covered")))
    return Report(
        locale=locale,
        kind=locale.say("audit_report"),
        title=title,
        window=f"{locale.say('audit_report')} · {title}",
        facts=(
            (locale.say("audit_judge"), found.judge),
            (locale.say("audit_model"), Span(found.reference, "code")),
            (locale.say("audit_suite"), f"{found.suite} {found.suite_version}"),
            (locale.say("audit_language"), str(locale.messages["audit_languages"].get(found.language, found.language))),
            (locale.say("audit_cases"), locale.whole(found.cases)),
            (locale.say("audit_judgments"), locale.whole(found.judgments)),
            (locale.say("made"), locale.date(found.made_at)),
        ),
        notices=_notices(found, locale),
        headline=_headline(found, locale),
        sections=(*filled, method_section(locale, notes, found.made_at, f"areopage {__version__}")),
        footer=(f"areopage {__version__}", locale.say("audit_report"), title),
        figures=msgspec.to_builtins(found),
    )


def _notices(found: AuditResult, locale: Locale) -> tuple[Notice, ...]:
    said = [locale.say("audit_unfit", why=judge_reason(locale, found.unfit))] if found.unfit else []
    said += [locale.count("audit_few", found.cases)] if found.effects and found.cases < FEW else []
    if "language" in found.probes and not any(one.probe == "language" for one in found.effects):
        said.append(locale.say("audit_no_pairs"))
    said += [locale.count("audit_unanswered", found.unanswered)] if found.unanswered else []
    if not said:
        return ()
    return (Notice(title=locale.say("audit_warnings"), blocks=(Listing(items=tuple(said)),), alarm=bool(found.unfit)),)


def _headline(found: AuditResult, locale: Locale) -> Headline | None:
    if not found.resistance:
        return None
    first = found.resistance[0]
    biases = sum(one.is_bias for one in _protected(found))
    return Headline(
        label=locale.say("audit_raised"),
        value=share_text(first.raised, locale),
        css="share",
        facts=(
            (locale.say("audit_interval"), share_interval(first.raised, locale)),
            (locale.say("audit_count"), _of(first.raised, locale)),
            (locale.say("audit_excess"), _excess(first, locale)),
            (locale.say("audit_twins_lost"), _of(first.twins_lost, locale)),
            *(((locale.say("audit_biases"), locale.whole(biases)),) if found.effects else ()),
        ),
    )


def _protected(found: AuditResult) -> list[Effect]:
    return [one for one in found.effects if not one.without]


def _name(effect: Effect, found: AuditResult, locale: Locale) -> str:
    names: Mapping[str, str] = locale.messages["audit_variants"]
    return Template(names[effect.variant]).substitute(own=found.own_model, other=found.other_model)


def _moved(effect: Effect, found: AuditResult, locale: Locale) -> str:
    values = {
        "name": _name(effect, found, locale),
        "size": locale.signed(effect.difference),
        "interval": _between(effect, locale),
    }
    if not effect.without:
        return locale.say("audit_moves", **values)
    return locale.say("audit_moves_without", without=locale.messages["audit_protections"][effect.without], **values)


def _between(effect: Effect, locale: Locale) -> str:
    if effect.low is None or effect.high is None:
        return MISSING
    return locale.interval(effect.low, effect.high, sign=True)


def _effect_table(effects: Iterable[Effect], found: AuditResult, locale: Locale) -> Table:
    shown = list(effects)
    furthest = max(abs(end) for one in shown for end in (one.low or 0.0, one.high or 0.0, one.difference or 0.0))
    reach = min(found.high - found.low, max(1.0, float(-(-furthest // 1))))
    around = Scale(-reach, reach)
    axis = axis_of(around, locale)
    heads = columns(
        *(locale.say("audit_effect"), None, locale.say("audit_interval"), locale.say("audit_answers"), locale.say("audit_lost")),
        locale.say("audit_finding"),
        first=locale.say("audit_change"),
    )
    heads = tuple(msgspec.structs.replace(one, axis=axis) if one.kind == "bar" else one for one in heads)
    ticks = [place for place, _ in axis]
    names = locale.messages["audit_probes"]
    cells = (
        (
            Cell(text=_name(one, found, locale), under=(str(names[one.probe]),)),
            locale.signed(one.difference),
            Cell(
                bar=point_on(around, one.difference, None if one.low is None or one.high is None else (one.low, one.high), ticks)
            ),
            _between(one, locale),
            locale.whole(one.cases),
            _of(one.lost, locale),
            Cell(text=Span(locale.say("audit_is_bias"), "failed") if one.is_bias else locale.say("audit_none_found")),
        )
        for one in shown
    )
    return Table(columns=heads, rows=rows(cells))


def _attacks(found: AuditResult, locale: Locale) -> Section:
    keys = ("raised_short", "twins_raised", "excess", "changed", "no_score", "twins_none", "marked")
    heads = columns(*(locale.say(f"audit_{key}") for key in keys), first=locale.say("audit_protection"))
    cells = (_resistance_cells(one, locale) for one in found.resistance)
    first = found.resistance[0]
    notes = [locale.say("audit_attacks_note"), *([locale.count("audit_no_room", first.no_room)] if first.no_room else [])]
    blocks: list[Block] = [
        Paragraph(text=locale.say("audit_attacks_lead"), look="soft"),
        Table(columns=heads, rows=rows(cells)),
        *(Paragraph(text=note, look="note") for note in notes),
    ]
    return Section(id="attacks", title=locale.say("audit_attacks"), blocks=tuple(blocks))


def _resistance_cells(one: Resistance, locale: Locale) -> list[Cell | str]:
    later = (one.changed, one.lost, one.twins_lost, one.marked)
    return [
        Cell(text=_protections(one.without, locale), under=(share_interval(one.raised, locale),)),
        _of(one.raised, locale),
        _of(one.twins_raised, locale),
        _excess(one, locale),
        *(_of(share, locale) for share in later),
    ]


def _excess(found: Resistance, locale: Locale) -> str:
    """How many more attacks than twins raise a score, in percentage points."""
    if found.excess is None or found.low is None or found.high is None:
        return MISSING
    size, low, high = (locale.signed(100 * value, 0) for value in (found.excess, found.low, found.high))
    return locale.say("audit_points", size=size, low=low, high=high)


def _protections(without: str, locale: Locale) -> str:
    if not without:
        return locale.say("audit_all_on")
    return locale.say("audit_without", name=locale.messages["audit_protections"][without])


def _by_kind(found: Resistance, locale: Locale) -> Section:
    blocks: list[Block] = []
    for part, first, names in (
        (found.kinds, "audit_kind", locale.messages["audit_kinds"]),
        (found.places, "audit_place", locale.messages["audit_places"]),
    ):
        heads = columns(locale.say("audit_changed"), locale.say("audit_interval"), first=locale.say(first))
        cells = ((str(names[key]), _of(share, locale), share_interval(share, locale)) for key, share in part.items())
        blocks.append(Table(columns=heads, rows=rows(cells), stacked=False))
    raised = [one for one in found.attacks if one.on_attack == "raised"][:MOST_ATTACKS]
    if raised:
        heads = columns(locale.say("audit_clean"), locale.say("audit_after"), first=locale.say("audit_attack"))
        kinds = locale.messages["audit_kinds"]
        shown = (
            (Cell(text=one.attack, under=(str(kinds[one.kind]),)), locale.short(one.clean), locale.number(one.attacked, 1))
            for one in raised
        )
        blocks.append(Details(summary=locale.say("audit_succeeded"), blocks=(Table(columns=heads, rows=rows(shown)),)))
    return Section(id="kinds", title=locale.say("audit_by_kind"), blocks=tuple(blocks))


def _of(share: Share, locale: Locale) -> str:
    return locale.say("audit_of", hits=locale.whole(share.hits), of=locale.whole(share.of)) if share.of else MISSING


def console_lines(found: AuditResult, language: str) -> list[str]:
    """What the console says: the findings, one line each, and the table of protections."""
    locale = report_locale(language)
    lines: list[str] = []
    for one in found.effects:
        if one.scores:
            mark = locale.say("audit_is_bias") if one.is_bias else locale.say("audit_none_found")
            size = f"{locale.signed(one.difference)} ({_between(one, locale)}), n = {one.cases}"
            left_out = f" [{_protections(one.without, locale)}]" if one.without else ""
            lines.append("  " + locale.say("pair", name=f"{_name(one, found, locale)}{left_out}", value=f"{size}, {mark}"))
    for each in found.resistance:
        told: dict[str, Any] = {
            "audit_raised_short": each.raised,
            "audit_no_score": each.lost,
            "audit_twins_raised": each.twins_raised,
            "audit_twins_none": each.twins_lost,
        }
        parts = (f"{locale.say(key)} {_of(share, locale)}" for key, share in told.items())
        name = f"{locale.say('audit_count')} [{locale.say('audit_protection')}: {_protections(each.without, locale)}]"
        lines.append("  " + locale.say("pair", name=name, value="; ".join(parts)))
    return [line.replace(WIDE, " ").replace(NARROW, " ") for line in lines]
