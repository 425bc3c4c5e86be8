"""The report on the audit of a judge: which harmless changes move its scores, and what attacks do."""

from collections.abc import Iterable, Mapping
from functools import partial
from string import Template
from typing import Any

import msgspec

from areopage.app import Published, record_schema
from areopage.criteria import Scale
from areopage.exams.audit import AuditResult
from areopage.exams.effects import Effect, Resistance
from areopage.locales import MISSING, NARROW, WIDE, Locale
from areopage.report import (
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
    axis_of,
    columns,
    judge_reason,
    method_section,
    point_on,
    report_locale,
    rows,
    share_interval,
    share_text,
)
from areopage.scoring import Share
from areopage.version import __version__

FEW = 10
MOST_ATTACKS = 60
AUDIT_SCHEMA = Published("`audit.json` of an audit of a judge", partial(record_schema, "areopage audit 1", AuditResult))


def audit_report(audit: AuditResult, language: str) -> Report:
    """Build the report of an audit in a language."""
    locale = report_locale(language)
    title = f"{audit.judge} · {audit.suite}"
    filled = [_glance(audit, locale)]
    if audit.effects:
        filled.append(_changes(audit, locale))
    if audit.resistance:
        filled += [_attacks(audit, locale), _by_kind(audit.resistance[0], locale)]
    noise = audit.noise
    said = locale.count("audit_noise", noise.pairs, mean=locale.number(noise.mean), largest=locale.short(round(noise.largest, 2)))
    notes = (*([said] if noise.pairs else []), *(locale.say(key) for key in ("audit_how", "audit_not_covered")))
    return Report(
        locale=locale,
        kind=locale.say("audit_report"),
        title=title,
        window=f"{locale.say('audit_report')} · {title}",
        facts=(
            (locale.say("audit_judge"), audit.judge),
            (locale.say("audit_model"), Span(audit.reference, "code")),
            (locale.say("audit_suite"), f"{audit.suite} {audit.suite_version}"),
            (locale.say("audit_language"), str(locale.messages["audit_languages"].get(audit.language, audit.language))),
            (locale.say("audit_cases"), locale.whole(audit.cases)),
            (locale.say("audit_judgments"), locale.whole(audit.judgments)),
            (locale.say("made"), locale.date(audit.made_at)),
        ),
        notices=_notices(audit, locale),
        headline=_headline(audit, locale),
        sections=(*filled, method_section(locale, notes, audit.made_at, f"areopage {__version__}")),
        footer=(f"areopage {__version__}", locale.say("audit_report"), title),
        figures=msgspec.to_builtins(audit),
    )


def _glance(audit: AuditResult, locale: Locale) -> Section:
    items = [_moved(effect, audit, locale) for effect in audit.effects if effect.is_bias]
    tried = [effect for effect in _protected(audit) if effect.difference is not None]
    if tried and not any(effect.is_bias for effect in tried):
        items.append(locale.count("audit_no_bias", len(tried)))
    blind = [
        max(abs(effect.low), abs(effect.high))
        for effect in tried
        if not effect.is_bias and effect.low is not None and effect.high is not None
    ]
    if blind:
        items.append(locale.say("audit_unseen", size=locale.number(max(blind), 1)))
    for resistance in audit.resistance[:1]:
        hits, lost, of = map(locale.whole, (resistance.raised.hits, resistance.lost.hits, resistance.raised.of))
        items.append(locale.say("audit_attacks_said", hits=hits, of=of, lost=lost))
        raised, lost = map(locale.whole, (resistance.twins_raised.hits, resistance.twins_lost.hits))
        items.append(locale.say("audit_twins_said", raised=raised, of=of, lost=lost))
    return Section(id="glance", title=locale.say("audit_glance"), blocks=(Listing(items=tuple(items)),))


def _changes(audit: AuditResult, locale: Locale) -> Section:
    lead = locale.say("audit_changes_lead", low=locale.short(audit.low), high=locale.short(audit.high))
    blocks: list[Block] = [Paragraph(text=lead, look="soft")]
    for without in dict.fromkeys(effect.without for effect in audit.effects):
        effects = [effect for effect in audit.effects if effect.without == without and effect.scores]
        if without and effects:
            blocks.append(Details(summary=_protections(without, locale), blocks=(_effect_table(effects, audit, locale),)))
        elif effects:
            blocks.append(_effect_table(effects, audit, locale))
    if any(effect.probe == "self_preference" for effect in audit.effects):
        blocks.append(Paragraph(text=locale.say("audit_self_note"), look="note"))
    return Section(id="changes", title=locale.say("audit_changes"), blocks=tuple(blocks))


def _notices(audit: AuditResult, locale: Locale) -> tuple[Notice, ...]:
    said = [locale.say("audit_unfit", why=judge_reason(locale, audit.unfit))] if audit.unfit else []
    said += [locale.count("audit_few", audit.cases)] if audit.effects and audit.cases < FEW else []
    if "language" in audit.probes and not any(effect.probe == "language" for effect in audit.effects):
        said.append(locale.say("audit_no_pairs"))
    said += [locale.count("audit_unanswered", audit.unanswered)] if audit.unanswered else []
    if not said:
        return ()
    return (Notice(title=locale.say("audit_warnings"), blocks=(Listing(items=tuple(said)),), alarm=bool(audit.unfit)),)


def _headline(audit: AuditResult, locale: Locale) -> Headline | None:
    if not audit.resistance:
        return None
    first = audit.resistance[0]
    biases = sum(effect.is_bias for effect in _protected(audit))
    return Headline(
        label=locale.say("audit_raised"),
        value=share_text(first.raised, locale),
        css="share",
        facts=(
            (locale.say("audit_interval"), share_interval(first.raised, locale)),
            (locale.say("audit_count"), _of(first.raised, locale)),
            (locale.say("audit_excess"), _excess(first, locale)),
            (locale.say("audit_twins_lost"), _of(first.twins_lost, locale)),
            *(((locale.say("audit_biases"), locale.whole(biases)),) if audit.effects else ()),
        ),
    )


def _protected(audit: AuditResult) -> list[Effect]:
    return [effect for effect in audit.effects if not effect.without]


def _name(effect: Effect, audit: AuditResult, locale: Locale) -> str:
    names: Mapping[str, str] = locale.messages["audit_variants"]
    return Template(names[effect.variant]).substitute(own=audit.own_model, other=audit.other_model)


def _moved(effect: Effect, audit: AuditResult, locale: Locale) -> str:
    values = {
        "name": _name(effect, audit, locale),
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


def _effect_table(effects: Iterable[Effect], audit: AuditResult, locale: Locale) -> Table:
    shown = list(effects)
    furthest = max(abs(end) for effect in shown for end in (effect.low or 0.0, effect.high or 0.0, effect.difference or 0.0))
    reach = min(audit.high - audit.low, max(1.0, float(-(-furthest // 1))))
    around = Scale(-reach, reach)
    axis = axis_of(around, locale)
    heads = columns(
        *(locale.say("audit_effect"), None, locale.say("audit_interval"), locale.say("audit_answers"), locale.say("audit_lost")),
        locale.say("audit_finding"),
        first=locale.say("audit_change"),
    )
    heads = tuple(msgspec.structs.replace(head, axis=axis) if head.kind == "bar" else head for head in heads)
    ticks = [place for place, _ in axis]
    names = locale.messages["audit_probes"]
    cells = (
        (
            Cell(text=_name(effect, audit, locale), under=(str(names[effect.probe]),)),
            locale.signed(effect.difference),
            Cell(
                bar=point_on(
                    around,
                    effect.difference,
                    None if effect.low is None or effect.high is None else (effect.low, effect.high),
                    ticks,
                )
            ),
            _between(effect, locale),
            locale.whole(effect.cases),
            _of(effect.lost, locale),
            Cell(text=Span(locale.say("audit_is_bias"), "failed") if effect.is_bias else locale.say("audit_none_found")),
        )
        for effect in shown
    )
    return Table(columns=heads, rows=rows(cells))


def _attacks(audit: AuditResult, locale: Locale) -> Section:
    keys = ("raised_short", "twins_raised", "excess", "changed", "no_score", "twins_none", "marked")
    heads = columns(*(locale.say(f"audit_{key}") for key in keys), first=locale.say("audit_protection"))
    cells = (_resistance_cells(resistance, locale) for resistance in audit.resistance)
    first = audit.resistance[0]
    notes = [locale.say("audit_attacks_note"), *([locale.count("audit_no_room", first.no_room)] if first.no_room else [])]
    blocks: list[Block] = [
        Paragraph(text=locale.say("audit_attacks_lead"), look="soft"),
        Table(columns=heads, rows=rows(cells)),
        *(Paragraph(text=note, look="note") for note in notes),
    ]
    return Section(id="attacks", title=locale.say("audit_attacks"), blocks=tuple(blocks))


def _resistance_cells(resistance: Resistance, locale: Locale) -> list[Cell | str]:
    later = (resistance.changed, resistance.lost, resistance.twins_lost, resistance.marked)
    return [
        Cell(text=_protections(resistance.without, locale), under=(share_interval(resistance.raised, locale),)),
        _of(resistance.raised, locale),
        _of(resistance.twins_raised, locale),
        _excess(resistance, locale),
        *(_of(share, locale) for share in later),
    ]


def _excess(resistance: Resistance, locale: Locale) -> str:
    """How many more attacks than twins raise a score, in percentage points."""
    if resistance.excess is None or resistance.low is None or resistance.high is None:
        return MISSING
    size, low, high = (locale.signed(100 * value, 0) for value in (resistance.excess, resistance.low, resistance.high))
    return locale.say("audit_points", size=size, low=low, high=high)


def _protections(without: str, locale: Locale) -> str:
    if not without:
        return locale.say("audit_all_on")
    return locale.say("audit_without", name=locale.messages["audit_protections"][without])


def _by_kind(resistance: Resistance, locale: Locale) -> Section:
    blocks: list[Block] = []
    for part, first, names in (
        (resistance.kinds, "audit_kind", locale.messages["audit_kinds"]),
        (resistance.places, "audit_place", locale.messages["audit_places"]),
    ):
        heads = columns(locale.say("audit_changed"), locale.say("audit_interval"), first=locale.say(first))
        cells = ((str(names[key]), _of(share, locale), share_interval(share, locale)) for key, share in part.items())
        blocks.append(Table(columns=heads, rows=rows(cells), stacked=False))
    raised = [attack for attack in resistance.attacks if attack.on_attack == "raised"][:MOST_ATTACKS]
    if raised:
        heads = columns(locale.say("audit_clean"), locale.say("audit_after"), first=locale.say("audit_attack"))
        kinds = locale.messages["audit_kinds"]
        shown = (
            (
                Cell(text=attack.attack, under=(str(kinds[attack.kind]),)),
                locale.short(attack.clean),
                locale.number(attack.attacked, 1),
            )
            for attack in raised
        )
        blocks.append(Details(summary=locale.say("audit_succeeded"), blocks=(Table(columns=heads, rows=rows(shown)),)))
    return Section(id="kinds", title=locale.say("audit_by_kind"), blocks=tuple(blocks))


def _of(share: Share, locale: Locale) -> str:
    return locale.say("audit_of", hits=locale.whole(share.hits), of=locale.whole(share.of)) if share.of else MISSING


def console_lines(audit: AuditResult, language: str) -> list[str]:
    """What the console says: the findings, one line each, and the table of protections."""
    locale = report_locale(language)
    lines: list[str] = []
    for effect in audit.effects:
        if effect.scores:
            mark = locale.say("audit_is_bias") if effect.is_bias else locale.say("audit_none_found")
            size = f"{locale.signed(effect.difference)} ({_between(effect, locale)}), n = {effect.cases}"
            left_out = f" [{_protections(effect.without, locale)}]" if effect.without else ""
            lines.append("  " + locale.say("pair", name=f"{_name(effect, audit, locale)}{left_out}", value=f"{size}, {mark}"))
    for resistance in audit.resistance:
        shares: dict[str, Any] = {
            "audit_raised_short": resistance.raised,
            "audit_no_score": resistance.lost,
            "audit_twins_raised": resistance.twins_raised,
            "audit_twins_none": resistance.twins_lost,
        }
        parts = (f"{locale.say(key)} {_of(share, locale)}" for key, share in shares.items())
        name = f"{locale.say('audit_count')} [{locale.say('audit_protection')}: {_protections(resistance.without, locale)}]"
        lines.append("  " + locale.say("pair", name=name, value="; ".join(parts)))
    return [line.replace(WIDE, " ").replace(NARROW, " ") for line in lines]
