"""The report of a benchmark run."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from areopage.bench import RECORDED, RunView, SourceScore, run_release
from areopage.criteria import TEMPLATE_VERSION
from areopage.digest import short_digest
from areopage.jury import JudgeHealth
from areopage.locales import MISSING, Locale, Note
from areopage.report.bench.agreement import agreement_fact, agreement_section
from areopage.report.bench.case_index import CASES
from areopage.report.bench.conversations import conversations_section
from areopage.report.bench.costs import costs_section
from areopage.report.bench.disputes import disputes_section
from areopage.report.bench.failing_cases import failing_cases_notice
from areopage.report.bench.failures import failures_line, unscored_notice
from areopage.report.bench.grid import failures_section
from areopage.report.bench.history import changes_section, modes_section
from areopage.report.bench.missing import LISTED, case_list, missing_section, unanswered_section
from areopage.report.bench.passes import passes_section
from areopage.report.bench.refusals import refusals_line, refusals_section
from areopage.report.bench.release import no_release_notice, release_notice, release_section
from areopage.report.bench.review import review_section, signoff_notices
from areopage.report.bench.scores import ages_section, detectable_text, score_or_unscored, scores_section
from areopage.report.bench.worst import worst_section
from areopage.report.commands import command_span, run_command
from areopage.report.elements import columns, count_cell, head_facts, part_facts, report_locale, reused_text, rows, ruler
from areopage.report.judges.jury_worth import worth_fact, worth_section
from areopage.report.judges.qualification import ALARMING, drift_lines, exam_text, judge_reason, missed_lines, qualification_text
from areopage.report.model import (
    Badge,
    Blanks,
    Block,
    Cell,
    Column,
    Facts,
    Headline,
    Line,
    Listing,
    Notice,
    Paragraph,
    Report,
    Section,
    Span,
    Table,
    line,
)
from areopage.report.results.calibrated import calibration_texts
from areopage.report.results.people import people_result
from areopage.report.results.run_results import criterion_label, criterion_names, run_result
from areopage.report.trust.page import TRUST
from areopage.scoring import OUTCOME_NAMES
from areopage.version import __version__

OUTCOMES = (*OUTCOME_NAMES, "not_run")
ON_PAPER = ("failures", "scores", "changes", "modes", "disputes", "sign")
"""The sections of the summary that is printed, on two pages."""

RETRIED = ("not_run", "timed_out", "unreachable")


def bench_report(view: RunView, language: str = "", *, place: tuple[str, ...] | None = None) -> Report:
    """Build a run's report.

    Args:
        language: of its texts; the run's, else English, where it is "".
        place: the options that name the ledger in commands on a terminal; None: a page, which names no folder of a machine.
    """
    view = view.in_language(language)
    locale, spec, run = report_locale(language or view.spec.language), view.spec, view.run
    result = run_result(view)
    release, people = run_release(view), people_result(view)
    target = spec.answered_by or locale.say("given_responses")
    mode = locale.say(f"mode_{spec.mode}")
    sizes = (("cases", len(view.cases)), ("criteria", len(spec.criteria)), ("judges_count", len(spec.judges)))
    language = f"language_{spec.language}"
    facts: list[tuple[str, Line]] = [
        (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
        *([(locale.say("mode"), mode)] if spec.target else []),
        (locale.say("language"), locale.say(language) if language in locale.messages else spec.language),
        (locale.say("size"), ", ".join(locale.count(key, n) for key, n in sizes)),
        (locale.say("date"), locale.date(run.created_at)),
        *part_facts(spec, locale),
        *([(locale.say("reused_fact"), reused_text(view.reused, len(view.items), locale))] if view.reused else []),
        (locale.say("cases_fact"), Span(locale.say("cases_page"), "link", CASES)),
        (locale.say("trust_fact"), Span(locale.say("trust_title"), "link", TRUST)),
    ]
    sections = (
        failures_section(view, locale),
        refusals_section(view, locale),
        scores_section(view, locale),
        changes_section(view, locale),
        modes_section(view, locale),
        disputes_section(view, locale),
        release_section(view, release, locale) if release else None,
        ages_section(view, locale),
        worst_section(view, locale),
        conversations_section(view, locale),
        _judges(view, locale),
        costs_section(view, locale),
        agreement_section(view, locale),
        worth_section(view.worth, locale),
        passes_section(view, locale),
        review_section(view, people, locale),
        unanswered_section(view, locale),
        missing_section(view, locale),
        _rejected(view, locale),
        _remarks(view, locale),
        _method(view, target, locale),
        _signatures(view, locale),
    )
    return Report(
        locale=locale,
        kind=locale.say("report"),
        title=spec.title or target,
        window=f"{spec.suite} · {spec.title or target} · {mode} · {locale.date(run.created_at)}",
        facts=tuple(facts),
        notices=(
            *signoff_notices(people, locale),
            release_notice(view, release, locale, place) if release else no_release_notice(view, locale),
            *failing_cases_notice(view, locale),
            *unscored_notice(view, locale),
            *_notices(view, locale),
        ),
        headline=_headline(view, locale),
        sections=tuple(_placed(section) for section in sections if section is not None),
        footer=(f"areopage {__version__}", run.id),
        figures={"release": release, "people": people, "run": result},
    )


def _placed(section: Section) -> Section:
    """A section that is left out on paper, unless it belongs to the summary that is printed."""
    return section if section.id in ON_PAPER else structs.replace(section, place="screen")


def _signatures(view: RunView, locale: Locale) -> Section:
    names = tuple(locale.say(f"sign_{key}") for key in ("name", "role", "date", "hand"))
    blocks = (Paragraph(text=locale.say("sign_lead", run=view.run.id), look="small"), Blanks(lines=(names, names)))
    return Section(id="sign", title=locale.say("sign"), blocks=blocks, place="paper")


def _unfit(view: RunView) -> list[JudgeHealth]:
    return [health for health in view.health if health.unfit]


def _model(health: JudgeHealth, locale: Locale) -> str:
    """What judged; of a recording, the model beside it."""
    if not health.recorded_model:
        return health.model
    return locale.say("recorded_from", recording=health.model, model=health.recorded_model)


def _notices(view: RunView, locale: Locale) -> Iterator[Notice]:
    unfit = [
        f"{locale.say('not_valid_judge', judge=health.judge)} ({_model(health, locale)}) – {judge_reason(locale, health.unfit)}"
        for health in _unfit(view)
    ]
    if unfit:
        hint = line(locale.say("use_real_judges"), Span("areopage bench run --judge ollama:MODEL", "code"))
        blocks = (Listing(items=tuple(unfit)), Paragraph(text=hint))
        yield Notice(title=locale.say("not_valid"), blocks=blocks, alarm=True)
    if not view.complete:
        missing = sum(health.outcomes[name] for health in view.health for name in RETRIED)
        planned = locale.whole(view.scores.tree.planned)
        told = locale.say("not_complete_text", missing=locale.whole(missing), planned=planned)
        command = command_span(run_command(view, "bench", "resume"))
        yield Notice(title=locale.say("not_complete"), blocks=(Paragraph(text=line(told, command)),))
    states = view.answer_states()
    asked, whole = sum(states.values()), states.pop("answered", 0)
    if states:
        told = locale.say("not_whole_text", whole=locale.whole(whole), asked=locale.whole(asked))
        counts = tuple(locale.say("pair", name=locale.say(f"said_{state}"), value=locale.whole(n)) for state, n in states.items())
        yield Notice(title=locale.count("not_whole", asked - whole), blocks=(Paragraph(text=told), Listing(items=counts)))
    if view.coverage.lost:
        yield Notice(
            title=locale.count("lost_criteria", len(view.coverage.lost)),
            blocks=(Listing(items=tuple(criterion_names(view.spec, view.coverage.lost))),),
        )
    if view.sources:
        yield Notice(
            title=locale.say("two_sources"), blocks=(Listing(items=tuple(_source(one, locale) for one in view.sources)),)
        )
    if view.calibration:
        yield Notice(title=locale.say("corrected_title"), blocks=(Listing(items=tuple(calibration_texts(view, locale))),))
    if view.variant:
        yield Notice(
            title=locale.say("variant"), blocks=(Paragraph(text="; ".join(note.told(locale.code) for note in view.variant)),)
        )


def _source(one: SourceScore, locale: Locale) -> str:
    name = locale.say("recorded_answers") if one.source == RECORDED else one.source
    return locale.count(
        "source_score", one.cases, source=name, score=score_or_unscored(locale, one.score), coverage=locale.percent(one.coverage)
    )


def _headline(view: RunView, locale: Locale) -> Headline:
    tree, scale, interval, unfit = view.scores.tree, view.spec.scale, view.scores.interval, bool(_unfit(view))
    around: Line = locale.say("no_interval")
    if interval is not None:
        note = Span(f"– {locale.count('interval_cases', interval.cases)}", "soft")
        around = line(locale.interval(interval.low, interval.high), note)
    coverage = view.coverage
    counts = {name: locale.whole(getattr(coverage, name)) for name in ("scored", "not_applicable", "planned")}
    scored = locale.say("coverage_text_applicable" if coverage.not_applicable else "coverage_text", **counts)
    if coverage.lost:
        judged = locale.say("criteria_judged", judged=locale.whole(coverage.criteria), selected=locale.whole(coverage.selected))
        scored = f"{scored} – {judged}"
    return Headline(
        label=locale.say("final_score"),
        value=locale.number(tree.score),
        unit=locale.say("out_of", max=locale.short(scale.max)),
        missing=locale.say("no_score") if tree.score is None else "",
        why=locale.say("none_applies" if coverage.none_applies else "unscored_text"),
        badge=Badge(text=locale.say("not_valid_short"), alarm=True) if unfit else None,
        invalid=unfit,
        ruler=ruler(locale, scale, tree.score, None if interval is None else (interval.low, interval.high)),
        facts=(
            (locale.say("failures"), failures_line(view, locale)),
            *([(locale.say("over_refusal"), refusals_line(view.over_refusal, locale))] if view.over_refusal else []),
            (locale.say("interval"), around),
            *_detectable_fact(view, locale),
            *_missing_fact(view, locale),
            (locale.say("agreement"), agreement_fact(view, locale)),
            (locale.say("worth_fact"), worth_fact(view.worth, locale)),
            (locale.say("qualification"), qualification_text(locale, view.qualification)),
            (locale.say("coverage"), line(locale.percent(coverage.share), Span(f"– {scored}", "soft"))),
        ),
    )


def _detectable_fact(view: RunView, locale: Locale) -> Iterator[tuple[str, Line]]:
    if told := detectable_text(view.detectable, locale):
        cases = max(view.detectable.cases, view.detectable.failure_cases)
        yield locale.say("detectable"), line(told, Span(f"– {locale.count('detectable_cases', cases)}", "soft"))


def _missing_fact(view: RunView, locale: Locale) -> Iterator[tuple[str, Line]]:
    if view.scores.if_missing is not None:
        worst, best = (locale.number(score) for score in view.scores.if_missing)
        yield locale.say("if_missing"), locale.say("if_missing_text", worst=worst, best=best)


def _judges(view: RunView, locale: Locale) -> Section:
    failed_score = view.spec.profile.failed_pass_score
    shown = [name for name in OUTCOMES if name == "scored" or any(health.outcomes[name] for health in view.health)]
    priced = any(health.cost is not None for health in view.health)
    lead = locale.say("judges_lead")
    if failed_score is not None:
        lead = locale.say("judges_lead_failed", score=locale.short(failed_score))

    known = {standing.judge: standing for standing in view.standings}

    def row(health: JudgeHealth) -> tuple[Cell | str, ...]:
        standing = known[health.judge]
        word = locale.say(f"judge_{standing.word}")
        fitness = Badge(text=word, alarm=True) if standing.state in ALARMING else word
        examined = exam_text(locale, standing)
        return (
            Cell(text=Span(health.judge, "strong"), under=(_model(health, locale), fitness, *([examined] if examined else []))),
            locale.whole(health.planned),
            *(count_cell(locale, health.outcomes[name]) for name in shown),
            locale.whole(health.repaired_heuristic + health.repaired_model),
            locale.whole(health.outliers),
            locale.say("seconds_unit", n=locale.number(health.seconds, 1)),
            f"{locale.whole(health.prompt_tokens)} / {locale.whole(health.completion_tokens)}",
            *([MISSING if health.cost is None else locale.money(health.cost, health.currency)] if priced else []),
        )

    keys = ("planned", *(f"outcome_{name}" for name in shown), "repaired", "outliers", "seconds", "tokens")
    keys += ("cost",) if priced else ()
    page_only = [keys.index(key) + 1 for key in ("outliers", "tokens", "cost") if key in keys]
    heads = columns(*(locale.say(key) for key in keys), first=locale.say("judge"), css={0: "who"}, page_only=page_only)
    note = locale.say("judges_note")
    if any(standing.word == "never_examined" for standing in view.standings):
        note = f"{note} {locale.say('never_examined_note', suite=view.spec.suite)}"
    names = {criterion.id: criterion_label(criterion) for criterion in view.spec.criteria}
    missed, drifted = tuple(missed_lines(locale, view.standings, names)), tuple(drift_lines(locale, view.standings, names))
    blocks: tuple[Block, ...] = (
        Paragraph(text=lead, look="soft"),
        Table(columns=heads, rows=rows(row(health) for health in view.health), css="jury"),
        Paragraph(text=note, look="note"),
    )
    if view.spec.joint:
        blocks += (Paragraph(text=locale.say("judges_joint"), look="note"),)
    expected = tuple(_expected_line(health, locale) for health in view.health if _is_expected(view, health))
    for key, lines in (("drifted_lead", drifted), ("not_qualified_lead", missed), ("judges_expected_lead", expected)):
        if lines:
            blocks += (Paragraph(text=Span(locale.say(key), "strong")), Listing(items=lines))
    return Section(id="judges", title=locale.say("judges"), blocks=blocks, console=True)


def _is_expected(view: RunView, health: JudgeHealth) -> bool:
    """Whether a judge's scores are to be expectations."""
    return any(judge.name == health.judge and judge.method == "expected" for judge in view.spec.judges)


def _expected_line(health: JudgeHealth, locale: Locale) -> str:
    """How many scores of a judge are expectations, and how much of the probability was on valid scores."""
    scored = health.expected + health.written
    return locale.say(
        "judges_expected",
        judge=health.judge,
        expected=locale.whole(health.expected),
        all=locale.whole(scored),
        written=locale.whole(health.written),
        share=locale.percent(health.written / scored) if scored else MISSING,
        mass=MISSING if health.mass is None else locale.number(health.mass),
    )


def _rejected(view: RunView, locale: Locale) -> Section | None:
    if not view.rejected:
        return None
    heads = [Column(heading=locale.say(key), kind="text") for key in ("file", "row", "reason", "content")]
    heads[1] = Column(heading=locale.say("row"))
    listed = [(one.file, locale.whole(one.row), one.reason[:400], one.content[:200]) for one in view.rejected[:LISTED]]
    lead = Paragraph(text=locale.count("rejected_lead", len(view.rejected)))
    return Section(
        id="rejected",
        title=locale.say("rejected"),
        blocks=(lead, case_list(locale, heads, listed, "more_rejected", len(view.rejected))),
        console=True,
    )


def _remarks(view: RunView, locale: Locale) -> Section | None:
    noted = (*view.spec.remarks, *view.notes, *view.scores.warnings)
    remarks = [_named_criteria(view, note).told(locale.code) for note in noted]
    if view.addressing:
        remarks.append(f"{locale.count('addressing_judge', len(view.addressing))} {locale.names(view.addressing)}")
    if not remarks:
        return None
    return Section(id="remarks", title=locale.say("remarks"), blocks=(Listing(items=tuple(remarks)),), console=True)


def _named_criteria(view: RunView, note: Note) -> Note:
    """A remark with the names of criteria in place of their ids."""
    ids = note.values.get("criteria")
    if not isinstance(ids, tuple):
        return note
    return structs.replace(note, values={**note.values, "criteria": tuple(criterion_names(view.spec, ids))})


def _method(view: RunView, target: str, locale: Locale) -> Section:
    spec, run, profile = view.spec, view.run, view.spec.profile
    if profile.failed_pass_score is None:
        text = locale.say("how_default", quorum=locale.percent(profile.quorum, 0))
    else:
        text = locale.say("how_v1_1", score=locale.short(profile.failed_pass_score))
    weighted = spec.weights.categories or spec.weights.subcategories or spec.weights.criteria
    digest = spec.target.digest if spec.target else ""
    items: tuple[tuple[str, Line], ...] = (
        (locale.say("run_id"), Span(run.id, "code")),
        (locale.say("begun"), locale.moment(run.created_at)),
        (locale.say("finished"), locale.moment(run.finished_at) if run.finished_at else locale.say("not_finished")),
        (locale.say("version"), f"areopage {__version__}, {locale.say('template', n=TEMPLATE_VERSION)}"),
        (locale.say("profile"), profile.name),
        (locale.say("weights"), locale.say("weights_configured" if weighted else "weights_equal")),
        (locale.say("target"), line(target, Span(short_digest(digest), "soft"))),
        *(
            (locale.say("judge"), line(f"{judge.name}: {judge.reference}", Span(short_digest(judge.digest), "soft")))
            for judge in spec.judges
        ),
        *((locale.say("dataset"), Path(name).name) for name in spec.datasets),
        (locale.say("rescore"), command_span(run_command(view, "bench", "rescore"))),
        *head_facts(view.heads, locale),
    )
    blocks = (Paragraph(text=f"{text} {locale.say('how_tree')}"), Facts(items=items, small=True))
    return Section(id="how", title=locale.say("how"), blocks=blocks)
