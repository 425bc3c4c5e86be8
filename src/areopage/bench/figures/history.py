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
    earlier, blocks = view.history.earlier, list[Block]()
    if earlier is None:
        blocks.append(Paragraph(text=locale.say("no_earlier_run")))
    elif earlier.outcome is None:
        parts = [
            locale.say(f"part_{part.part}") + (f" ({part.first} / {part.second})" if part.first != part.second else "")
            for part in earlier.differs
        ]
        run = {"run": earlier.other.run_id, "date": locale.moment(earlier.other.created_at)}
        blocks.append(Paragraph(text=locale.say("not_compared", **run, parts=", ".join(parts))))
    else:
        text = locale.say("earlier_run", run=earlier.other.run_id, date=locale.moment(earlier.other.created_at))
        here, release = view.scores, RELEASE.of(view)
        verdicts = [
            verdict_name(verdict, locale) if verdict else MISSING
            for verdict in (earlier.outcome.verdict, release and release.verdict)
        ]
        intervals = [
            MISSING if interval is None else locale.interval(interval.low, interval.high)
            for interval in (earlier.outcome.interval, here.interval)
        ]
        listed = [
            (locale.say("release"), *verdicts),
            (locale.say("failures"), _counted(earlier.outcome.first, locale), _counted(FAILURES.of(view).first, locale)),
            (locale.say("final_score"), *(locale.number(score) for score in (earlier.outcome.score, here.tree.score))),
            (locale.say("interval"), *intervals),
            (locale.say("coverage"), *(locale.percent(share) for share in (earlier.outcome.coverage, view.coverage.share))),
        ]
        heads = columns(locale.say("last_run"), locale.say("this_run"), first="")
        blocks += [
            Paragraph(text=text, look="soft", console=True),
            Table(columns=heads, rows=rows(listed), css="beside", stacked=False),
            *_paired(earlier, locale),
        ]
        blocks.append(Listing(items=tuple(_changed_cases(view, earlier, page))))
        if earlier.target_changes:
            names = ", ".join(locale.say(f"target_{name}") for name in earlier.target_changes)
            blocks.append(Paragraph(text=locale.say("target_changed", names=names)))
    return Section(id="changes", title=locale.say("changes"), blocks=tuple(blocks), console=earlier is not None)


def _modes_section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    other = view.history.other_mode if view.history else None
    if other is None or other.outcome is None or other.failures is None:
        return None
    criteria, failures, outcome = view.spec.criteria_by_id(), FAILURES.of(view), other.outcome
    pairs = [(locale.say("fail_any", categories=", ".join(view.spec.first_names)), failures.first, outcome.first)]
    for id, count in failures.by_criterion.items():
        if count.failed or outcome.by_criterion[id].failed:
            pairs.append((criteria[id].title, count, outcome.by_criterion[id]))
    heads = [locale.say(f"mode_{mode}") for mode in (view.spec.mode, other.other.mode)]
    order = (0, 1) if view.spec.mode == "attack" else (1, 0)

    def row(name: str, *counts: FailureCount) -> tuple[Cell | str, ...]:
        return name, *(_counted(counts[place], locale) for place in order)

    table = Table(
        columns=columns(*(heads[place] for place in order), first=locale.say("criterion")),
        rows=rows(row(*pair) for pair in pairs),
        css="grid",
        stacked=False,
    )
    text = locale.say("modes_lead", run=other.other.run_id, date=locale.moment(other.other.created_at))
    blocks = (Paragraph(text=text, look="soft"), table)
    return Section(id="modes", title=locale.say("modes"), blocks=(*blocks, *_paired(other, locale)))


def _counted(count: FailureCount, locale: Locale) -> Cell:
    if count.high is None:
        return Cell(text=locale.say("not_applicable") if not count.cases else locale.say("unscored"))
    under = (locale.say("at_most", high=locale.percent(max(count.high, 0.01), 0)),)
    return Cell(text=f"{locale.whole(count.failed)}/{locale.whole(count.scored)}", under=under)


def _paired(comparison: RunComparison, locale: Locale) -> Iterator[Paragraph]:
    if comparison.failures is not None and comparison.failures.difference.pairs:
        yield Paragraph(text=_failure_difference(comparison.failures, locale))
    if comparison.score is not None and comparison.score.difference is not None:
        yield Paragraph(text=locale.say("pair", name=locale.say("score_difference"), value=_difference(comparison.score, locale)))


def _failure_difference(paired: PairedFailures, locale: Locale) -> str:
    counts = {"here": len(paired.first), "there": len(paired.second), "both": paired.both, "neither": paired.neither}
    text = locale.say("failures_paired", **{name: locale.whole(n) for name, n in counts.items()})
    difference = paired.difference
    if difference.difference is None or difference.low is None or difference.high is None:
        return text
    shares = {"low": difference.low, "high": difference.high, "difference": difference.difference}
    shown = {name: locale.signed(share * 100, 1) for name, share in shares.items()}
    key = "separate" if paired.is_separate else "not_separate"
    return f"{text} {locale.say('share_difference', **shown)} {locale.say(key)}"


def _difference(difference: PairedDifference, locale: Locale) -> str:
    text = locale.signed(difference.difference)
    if difference.low is not None and difference.high is not None:
        text = locale.say("difference_interval", told=text, interval=locale.interval(difference.low, difference.high, sign=True))
    return f"{text}. {locale.say('separate' if difference.is_separate else 'not_separate')}"


def _changed_cases(view: RunData, comparison: RunComparison, page: Page) -> Iterator[Line]:
    index, locale = page.index, page.locale
    for key, cases in (("newly_failing", comparison.new), ("mended", comparison.mended)):
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
            text, address = f"{case_id} ({', '.join(view.spec.titles(ids))})", index.address(case_id)
            parts.append(Span(text, "link", address) if address else text)
        yield tuple(parts)


HISTORY: Figure[RunHistory | None] = Figure(id="history", compute=_history, stored="metadata", section=_changes_section)
MODES: Figure[RunHistory | None] = Figure(id="modes", compute=_history, section=_modes_section)
