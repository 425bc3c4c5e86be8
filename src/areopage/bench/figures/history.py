"""A run beside the run before it, and beside the run in the other mode."""

from collections.abc import Iterator

from areopage.bench.compared import RunComparison, RunHistory
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.figures.release import RELEASE
from areopage.bench.results.run_data import RunData
from areopage.locales import MISSING, Locale
from areopage.report import Block, Cell, Line, Listing, Paragraph, Section, Span, Table, columns, rows, verdict_name
from areopage.scoring import FailureCount, PairedDifference, PairedFailures

NAMED = 12  # cases in a list


def _history(view: RunData) -> RunHistory | None:
    """The run before it and the run in the other mode, and what changed; null for a rescored run."""
    return view.history


def _changes_section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    if view.history is None:
        return None
    found, blocks = view.history.earlier, list[Block]()
    if found is None:
        blocks.append(Paragraph(text=locale.say("no_earlier_run")))
    elif found.outcome is None:
        parts = [
            locale.say(f"part_{one.part}") + (f" ({one.first} / {one.second})" if one.first != one.second else "")
            for one in found.differs
        ]
        run = {"run": found.other.run_id, "date": locale.moment(found.other.created_at)}
        blocks.append(Paragraph(text=locale.say("not_compared", **run, parts=", ".join(parts))))
    else:
        told = locale.say("earlier_run", run=found.other.run_id, date=locale.moment(found.other.created_at))
        here, release = view.scores, RELEASE.of(view)
        verdicts = [verdict_name(one, locale) if one else MISSING for one in (found.outcome.verdict, release and release.verdict)]
        intervals = [
            MISSING if one is None else locale.interval(one.low, one.high) for one in (found.outcome.interval, here.interval)
        ]
        listed = [
            (locale.say("release"), *verdicts),
            (locale.say("failures"), _counted(found.outcome.first, locale), _counted(FAILURES.of(view).first, locale)),
            (locale.say("final_score"), *(locale.number(score) for score in (found.outcome.score, here.tree.score))),
            (locale.say("interval"), *intervals),
            (locale.say("coverage"), *(locale.percent(share) for share in (found.outcome.coverage, view.coverage.share))),
        ]
        heads = columns(locale.say("last_run"), locale.say("this_run"), first="")
        blocks += [
            Paragraph(text=told, look="soft", console=True),
            Table(columns=heads, rows=rows(listed), css="beside", stacked=False),
            *_paired(found, locale),
        ]
        blocks.append(Listing(items=tuple(_changed_cases(view, found, page))))
        if found.target_changes:
            names = ", ".join(locale.say(f"target_{name}") for name in found.target_changes)
            blocks.append(Paragraph(text=locale.say("target_changed", names=names)))
    return Section(id="changes", title=locale.say("changes"), blocks=tuple(blocks), console=found is not None)


def _modes_section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    found = view.history.other_mode if view.history else None
    if found is None or found.outcome is None or found.failures is None:
        return None
    criteria, here, there = view.spec.criteria_by_id(), FAILURES.of(view), found.outcome
    pairs = [(locale.say("fail_any", categories=", ".join(view.spec.first_names)), here.first, there.first)]
    for id, count in here.by_criterion.items():
        if count.failed or there.by_criterion[id].failed:
            pairs.append((criteria[id].title, count, there.by_criterion[id]))
    heads = [locale.say(f"mode_{mode}") for mode in (view.spec.mode, found.other.mode)]
    order = (0, 1) if view.spec.mode == "attack" else (1, 0)

    def row(name: str, *counts: FailureCount) -> tuple[Cell | str, ...]:
        return name, *(_counted(counts[place], locale) for place in order)

    table = Table(
        columns=columns(*(heads[place] for place in order), first=locale.say("criterion")),
        rows=rows(row(*pair) for pair in pairs),
        css="grid",
        stacked=False,
    )
    told = locale.say("modes_lead", run=found.other.run_id, date=locale.moment(found.other.created_at))
    blocks = (Paragraph(text=told, look="soft"), table)
    return Section(id="modes", title=locale.say("modes"), blocks=(*blocks, *_paired(found, locale)))


def _counted(count: FailureCount, locale: Locale) -> Cell:
    if count.high is None:
        return Cell(text=locale.say("not_applicable") if not count.cases else locale.say("unscored"))
    under = (locale.say("at_most", high=locale.percent(max(count.high, 0.01), 0)),)
    return Cell(text=f"{locale.whole(count.failed)}/{locale.whole(count.scored)}", under=under)


def _paired(found: RunComparison, locale: Locale) -> Iterator[Paragraph]:
    if found.failures is not None and found.failures.difference.pairs:
        yield Paragraph(text=_failure_difference(found.failures, locale))
    if found.score is not None and found.score.difference is not None:
        yield Paragraph(text=locale.say("pair", name=locale.say("score_difference"), value=_difference(found.score, locale)))


def _failure_difference(found: PairedFailures, locale: Locale) -> str:
    counts = {"here": len(found.first), "there": len(found.second), "both": found.both, "neither": found.neither}
    told = locale.say("failures_paired", **{name: locale.whole(n) for name, n in counts.items()})
    difference = found.difference
    if difference.difference is None or difference.low is None or difference.high is None:
        return told
    shares = {"low": difference.low, "high": difference.high, "difference": difference.difference}
    shown = {name: locale.signed(share * 100, 1) for name, share in shares.items()}
    key = "separate" if found.is_separate else "not_separate"
    return f"{told} {locale.say('share_difference', **shown)} {locale.say(key)}"


def _difference(found: PairedDifference, locale: Locale) -> str:
    told = locale.signed(found.difference)
    if found.low is not None and found.high is not None:
        told = locale.say("difference_interval", told=told, interval=locale.interval(found.low, found.high, sign=True))
    return f"{told}. {locale.say('separate' if found.is_separate else 'not_separate')}"


def _changed_cases(view: RunData, found: RunComparison, page: Page) -> Iterator[Line]:
    index, locale = page.index, page.locale
    for key, cases in (("newly_failing", found.new), ("mended", found.mended)):
        title = locale.count(key, len(cases))
        if not cases:
            yield title
            continue
        parts: list[str | Span] = [f"{locale.say('pair', name=title, value='')}"]
        for number, (case_id, ids) in enumerate(cases.items()):
            if number == NAMED:
                parts.append(locale.count("more_results", len(cases) - NAMED))
                break
            parts += [", "] if number else []
            told, address = f"{case_id} ({', '.join(view.spec.titles(ids))})", index.address(case_id)
            parts.append(Span(told, "link", address) if address else told)
        yield tuple(parts)


HISTORY: Figure[RunHistory | None] = Figure(id="history", compute=_history, stored="metadata", section=_changes_section)
MODES: Figure[RunHistory | None] = Figure(id="modes", compute=_history, section=_modes_section)
