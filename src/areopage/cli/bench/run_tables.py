"""The results of a run on the console: scores, failures, judges."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

from areopage.bench import RunView, failed_passes, run_costs, run_release, totals
from areopage.cli.console import plain_table, print_table, text_console
from areopage.cli.options import visible
from areopage.errors import counted, name_list
from areopage.ledger import StandingWord, exam_command
from areopage.report import (
    CASES,
    REJECTED,
    REPORT,
    SHOWN,
    TRUST,
    CaseIndex,
    PeopleResult,
    age_name,
    calibration_texts,
    corrected_text,
    criterion_label,
    detectable_text,
    exam_steps,
    failing_cases,
    failing_elsewhere,
    failing_ids,
    floor_lines,
    history_lines,
    human_texts,
    no_release_text,
    part_text,
    people_result,
    quoted_texts,
    refusals_line,
    release_text,
    report_locale,
    reused_text,
    signoff_texts,
    verdict_name,
    worth_line,
)
from areopage.scoring import GIVEN_NAMES, FailureCount, final_shares, paths

TERMINAL_WIDTH = 80
SHOWN_REASONS = 5
STATES: dict[StandingWord, str] = {
    "unfit": "unfit",
    "drifted": "drifted",
    "not_qualified": "not qualified",
    "qualified": "qualified",
    "provisional": "provisionally qualified",
    "in_part": "examined in part",
    "never_examined": "never examined",
}
SHOWN_CASES = 5  # of each failing criterion
REASON_LENGTH = 200
_NUMBER = re.compile(r"[\d.,]+")


def print_view(view: RunView, folder: Path, *, whole: bool = True, place: tuple[str, ...] | None = None) -> None:
    """The scores of a run, how its judges did, and the report in `folder`, if it is there.

    Args:
        place: the options that name the ledger in commands that are printed; None: the folder of the run's folder.
        whole: also say what the jury is worth and what is read in the answers' texts, which takes long for a large run.
    """
    console = text_console()
    people = people_result(view)
    unfit = [health for health in view.health if health.unfit]
    for health in unfit:
        console.print(Text(f"NOT VALID: judge {health.judge} is unfit ({health.unfit})", style="bold red"))
    if unfit:
        console.print(Text("  for scores that count, use real judges: areopage bench run --judge ollama:MODEL", style="red"))
    if view.variant:
        console.print(Text(f"recomputed: {'; '.join(map(str, view.variant))}"))
    tree, scale = view.scores.tree, view.spec.scale
    interval = view.scores.interval
    spread = f", 95 % interval {interval.low:.2f} to {interval.high:.2f}" if interval else ""
    state = "" if view.complete else ", run NOT COMPLETE"
    coverage = view.coverage
    judged = f", {coverage.criteria} of {coverage.selected} criteria" if coverage.lost else ""
    final = "final score: none" if tree.score is None else f"final score {tree.score:.2f} of {scale.max:g}{spread}"
    headline = f"{final}, coverage {coverage.share:.1%}{judged}{state}"
    unscored = [(told, "bold red") for told in unscored_first(view)]
    failing = [(visible(told), "") for told in _failing_cases(view)]
    for told, style in (*_signed(people), *_reused(view), *_release(view, place), *unscored, *_no_release(view), *failing):
        console.print(Text(told, style=style), soft_wrap=True)
    console.print(Text("\n".join(_failures(view)), style="bold red" if view.failures.by_case else "bold"))
    console.print(Text(headline, style="bold"))
    console.print(Text(_detectable(view)), soft_wrap=True, end="\n" if _detectable(view) else "")
    told_first = [(visible(told), "") for told in (*_ages(view), *history_lines(view, report_locale("en")))]
    told_first += [(visible(told), "bold") for told in calibration_texts(view, report_locale("en"))]
    for told, style in (*told_first, *((told, "bold red") for told in _lost(view))):
        console.print(Text(told, style=style), soft_wrap=True)
    console.print(Text(f"  judges: {_qualifications(view)}; {_agreement(view)}"))
    for told in (
        *(_worth(view) if whole else ()),
        *_human(people),
        *_beyond_chance(view),
        *_failure_agreement(view),
        *_missing_counts(view),
        *_drifts(view),
    ):
        console.print(Text(told, style="bold"), soft_wrap=True)
    _print_answer_states(view, console, whole=whole)
    for one in view.sources:
        told = f"answers of {one.source}: {one.cases}, score {shown_score(one.score)}, coverage {one.coverage:.1%}"
        console.print(Text(told, style="bold"))
    print_table(console, _scores_table(view))
    print_table(console, _health_table(view))
    for told in (*_as_written(view), *_cost(view), *_failed_calls(view)):
        console.print(Text(told), soft_wrap=True)
    for note in view.notes:
        console.print(Text(visible(str(note)), style="bold"), soft_wrap=True)
    if view.addressing:
        console.print(Text(f"cases that address the judge, read them: {name_list(view.addressing)}", style="bold"))
    rejected = folder / REJECTED
    if view.rejected and rejected.is_file():
        console.print(Text(f"rejected: {counted(len(view.rejected), 'row')}, see {rejected}"), soft_wrap=True)
    report = folder / REPORT
    written = [f"report: {report}", f"how far to trust it: {folder / TRUST}"] if report.is_file() else []
    for told in (*_next_steps(view, whole=whole), *written):
        console.print(Text(visible(told)), soft_wrap=True)


def _reused(view: RunView) -> Iterator[tuple[str, str]]:
    """Which part of the dataset the run is about, and how old the answers are that were given to earlier runs."""
    if view.spec.part:
        yield f"part: {visible(part_text(view.spec.part, report_locale('en')))}", "bold red"
    if view.reused:
        yield f"answers: {reused_text(view.reused, len(view.items), report_locale('en'))}", "bold red"


def _next_steps(view: RunView, *, whole: bool) -> Iterator[str]:
    """The commands that tell more of how far the scores can be trusted."""
    models = {judge.name: judge.reference for judge in view.spec.judges}
    unexamined = [
        (one.judge, one.model)
        for one in view.standings
        if one.state == "never_examined" and models[one.judge].provider != "replay"
    ]
    if view.spec.release is None and (command := exam_command(view.spec.suite, unexamined, joint=view.spec.joint)):
        yield f"examine the judges: {command}"
    if whole and view.worth.judges > 1 and not view.worth.labelled.enough:
        yield f"let people label answers: areopage bench review {view.run.id}"


def _detectable(view: RunView) -> str:
    """What the cases can tell; "" where nothing is scored."""
    told = detectable_text(view.detectable, report_locale("en"))
    cases = counted(max(view.detectable.cases, view.detectable.failure_cases), "case")
    return fill(f"  {cases} can tell {told}", TERMINAL_WIDTH, subsequent_indent="  ") if told else ""


def _print_answer_states(view: RunView, console: Console, *, whole: bool) -> None:
    """How many answers of the target are whole; nothing where it was not asked."""
    refused = len(view.declined) if whole else 0
    if states := view.answer_states():
        answered = states.pop("answered", 0)
        others = "".join(f", {count} {state.replace('_', ' ')}" for state, count in states.items())
        declined = f", {refused} of all answers refuse in words" if refused else ""
        counts = f"answers: {answered} of {answered + sum(states.values())} whole{others}{declined}"
        console.print(Text(counts, style="bold red" if others else ""))
    elif refused:
        console.print(Text(f"answers: {refused} of {len(view.items)} refuse in words"))
    if (found := view.over_refusal) is not None:
        cases = f": {name_list(map(visible, found.refused_cases), SHOWN_CASES)}" if found.refused else ""
        told = f"over-refusal: {refusals_line(found, report_locale('en'))}{cases}"
        console.print(Text(told, style="bold red" if found.refused else ""), soft_wrap=True)


def _signed(people: PeopleResult | None) -> Iterator[tuple[str, str]]:
    for told, holds in signoff_texts(people, report_locale("en")):
        yield visible(told), "bold" if holds else "bold yellow"


def _human(people: PeopleResult | None) -> Iterator[str]:
    for told in human_texts(people, report_locale("en")):
        yield f"  {told}"


def _worth(view: RunView) -> Iterator[str]:
    """What the jury is worth, on one line; nothing of a judge alone."""
    if view.worth.judges > 1:
        yield f"  worth of the jury: {worth_line(view.worth, report_locale('en'))}"


def _release(view: RunView, place: tuple[str, ...] | None) -> Iterator[tuple[str, str]]:
    """The release verdict with the floors that are not met or open, what is to be done, and the style of each line."""
    release, locale = run_release(view), report_locale("en")
    if release is None:
        return
    style = {"PASS": "bold green", "FAIL": "bold red"}.get(release.verdict, "bold yellow")
    yield f"release: {verdict_name(release.verdict, locale)}. {release_text(view, release, locale)}", style
    for told in floor_lines(view, release, locale):
        yield f"  {told}", style
    for step in exam_steps(view, release, locale, place or ("--out", str(Path(view.run.folder).parent))):
        yield f"  {step.text} {shlex.join(step.command)}".rstrip(), style


def _no_release(view: RunView) -> Iterator[tuple[str, str]]:
    """What is said in place of a verdict where the suite sets no floors."""
    if view.spec.release is None:
        locale = report_locale("en")
        yield f"release: {verdict_name(None, locale)}. {no_release_text(view, locale)}", ""


def _ages(view: RunView) -> Iterator[str]:
    """Failures by age on one line; nothing where no case states an age."""
    index, groups = CaseIndex(view=view), view.age_failures
    locale = report_locale("en")
    counts = [(age_name(view, age, locale), groups[age].first) for age in index.ages]
    if counts:
        of = "" if len(view.failures.categories) > 2 else f" of {' or '.join(view.failures.categories)}"
        told = [f"{age} {count.failed}/{count.cases + count.not_applicable}" for age, count in counts]
        yield f"failures{of} by age: {', '.join(told)}"


def unscored_first(view: RunView) -> Iterator[str]:
    """The criteria that count first and have no score, though they apply to cases; nothing where there is none."""
    if view.failures.unscored:
        criteria, counts = view.spec.criteria_by_id(), view.failures.by_criterion
        names = name_list(f"{criteria[id].name} (0 of {counted(counts[id].cases, 'case')})" for id in view.failures.unscored)
        yield f"not judged, though failures count first here: {names}"


def _lost(view: RunView) -> Iterator[str]:
    if view.coverage.lost:
        yield f"not judged: {name_list(view.coverage.lost)}"
    if view.scores.if_missing is not None:
        worst, best = view.scores.if_missing
        yield f"  if all that is missing were the worst: {worst:.2f}, the best: {best:.2f}"


def _qualifications(view: RunView) -> str:
    counts = Counter(standing.word for standing in view.standings)
    return ", ".join(f"{counts[word]} {STATES[word]}" for word in STATES if counts[word])


def _agreement(view: RunView) -> str:
    average = view.scores.consistency.judge_agreement_avg
    return "agreement unknown: no two judges scored the same answers" if average is None else f"mean agreement {average:.2f}"


def _beyond_chance(view: RunView) -> Iterator[str]:
    found = view.agreement.overall
    coefficients = ("Krippendorff's alpha", found.alpha.alpha), ("Gwet's AC2", found.ac2.ac2)
    told = [f"{name} {value:z.2f}" for name, value in coefficients if value is not None]
    if found.exact is not None:
        yield f"  {', '.join([*told, f'same score {found.exact:.0%}'])}"


def _failure_agreement(view: RunView) -> Iterator[str]:
    found = view.agreement.overall.failures
    if found.failed:
        yield f"  all judges agree on {found.unanimous} of {counted(found.failed, 'failing score')}"
    if view.disputes:
        cases = counted(len({dispute.case_id for dispute in view.disputes}), "case")
        failing = sum(dispute.criterion in view.failures.by_case.get(dispute.case_id, ()) for dispute in view.disputes)
        scores = counted(len(view.disputes), "score")
        yield f"  judges dispute {scores} in {cases}, failures for some of them only; {failing} count as failures"


def _drifts(view: RunView) -> Iterator[str]:
    """What failed by which reply, and how conversations went on; of criteria that judge single answers, too, only failures."""
    criteria = view.spec.criteria_by_id()
    for id, found in view.drifts.items():
        if not found.by_turn or (criteria[id].scope == "reply" and not found.failed):
            continue
        rows = [row for row in found.by_turn if row.first] or [found.by_turn[-1]]
        by_turn = ", ".join(f"by reply {row.turn} {row.failed} of {row.conversations} ({_bound(row.high)})" for row in rows[:4])
        more = f", later {sum(row.first for row in rows[4:])} more" if rows[4:] else ""
        yield f"conversations that fail {criterion_label(criteria[id])}: {by_turn}{more}"
        then = f"{found.recovered} of {found.failed} recover, {found.ended_well} end well; " if found.failed else ""
        yield f"  {then}replies get worse in {found.escalated} of {found.measured} of three or more replies"


def _missing_counts(view: RunView) -> Iterator[str]:
    if view.refused_first:
        cases, of = counted(len(view.refused_first), "case"), " or ".join(view.failures.categories)
        yield f"judges refused on {cases} of {of} criteria: {name_list(map(visible, view.refused_first))}"
    if view.unscored:
        cases = counted(len(view.unscored), "case")
        yield f"judged, and a criterion has no score: {cases}: {name_list(map(visible, view.unscored))}"


def _failing_cases(view: RunView) -> Iterator[str]:
    """The failing cases with their prompts and answers, the gravest first."""
    ids, locale = failing_ids(view), report_locale("en")
    if not ids:
        return
    yield f"{locale.count('failing_cases_title', len(ids), all=locale.whole(len(view.items)))}:"
    for case in failing_cases(view):
        yield f"  {case.id} · {locale.names(case.criteria)} · {quoted_texts(case, locale)}"
    if len(ids) > SHOWN:
        yield f"  {locale.count('failing_cases_more', len(ids) - SHOWN)} {CASES}"


def _failures(view: RunView) -> Iterator[str]:
    """What is said of failures before any score."""
    found = view.failures.first
    of = "" if len(view.failures.categories) > 2 else f" of {' or '.join(view.failures.categories)}"
    verb = "fails" if found.failed == 1 else "fail"
    yield f"failures: {found.failed} of {counted(len(view.items), 'case')} {verb} a criterion{of}"
    yield from _failing_criteria(view)
    if pairs := sum(one.by_rule for one in view.failures.by_criterion.values()):
        left_out = counted(pairs, "pair")
        yield f"  rules (applies_to, scope) leave out {left_out} of case and criterion: no judge is asked, none counts as passed"
    if found.not_applicable:
        yield f"  none of these criteria applies to {counted(found.not_applicable, 'case')}"
    if found.scored < found.cases:
        yield f"  {counted(found.cases - found.scored, 'case')} could not be scored"
    if found.high is not None:
        yield f"  of other cases like these, {_bound(found.high)} could fail"
    if elsewhere := failing_elsewhere(view):
        more = counted(len(elsewhere), "more case")
        verb = "fails" if len(elsewhere) == 1 else "fail"
        yield f"  {more} {verb} another criterion: {name_list(map(visible, elsewhere), SHOWN_CASES)}"


def _bound(share: float) -> str:
    return "less than 1%" if share < 0.01 else f"up to {share:.0%}"


def _failing_criteria(view: RunView) -> Iterator[str]:
    """A line for each criterion of the categories that count first that a case fails, unless a line of the release says it."""
    release, criteria, failures = run_release(view), view.spec.criteria_by_id(), view.failures
    floors = [floor for floor in release.floors if floor.kind == "max_failures" and floor.state != "met"] if release else []
    said = {id for floor in floors for id in floor.criteria}
    for id, count in sorted(failures.by_criterion.items(), key=lambda pair: -pair[1].failed):
        if count.failed and id not in said and criteria[id].category in failures.categories:
            cases = [visible(case) for case, failed in failures.by_case.items() if id in failed]
            yield f"  {criterion_label(criteria[id])}: {counted(count.failed, 'case')}: {name_list(cases, SHOWN_CASES)}"


def _failed_calls(view: RunView) -> Iterator[str]:
    """Why answers and verdicts are missing: the most frequent reasons with their cases."""
    found: dict[tuple[str, str, str], list[str]] = {}
    reasons: dict[str, str] = {}  # reasons that differ only in what they are about count as one
    for case, answer in view.stored.states.items():
        if answer.state != "answered":
            reason = reasons.setdefault(_kind_of(answer.reason, case), answer.reason)
            found.setdefault(("the target", answer.state, reason), []).append(case)
    for case, criterion, judge, state, why in failed_passes(view.columns, view.judgments):
        reason = reasons.setdefault(_kind_of(why, case, criterion), why)
        found.setdefault((judge, state, reason), []).append(case)
    by_count = sorted(found.items(), key=lambda one: -len(one[1]))
    if by_count:
        yield "why answers and verdicts are missing:"
    for (who, state, reason), cases in by_count[:SHOWN_REASONS]:
        shown = visible(" ".join(reason.split()))[:REASON_LENGTH]
        distinct = dict.fromkeys(cases)
        named = f"{'case' if len(distinct) == 1 else 'cases'} {name_list(visible(case) for case in distinct)}"
        told = f"{who}, {state.replace('_', ' ')}: {shown or 'no reason is known'}"
        yield f"  {told} ({counted(len(cases), 'time')}: {named})"
    if len(by_count) > SHOWN_REASONS:
        yield f"  and {counted(len(by_count) - SHOWN_REASONS, 'more reason')}: see run.log and results.json"


def _kind_of(reason: str, *names: str) -> str:
    for name in names:
        reason = reason.replace(name, "")
    return _NUMBER.sub("", reason)


def _scores_table(view: RunView) -> Table:
    failures, waived = view.failures.by_criterion, any(one.not_applicable for one in view.failures.by_criterion.values())
    named = [f"corrected by {view.calibration.id}"] if view.calibration else []
    table = plain_table(
        "score of",
        figures=("score", "interval", *named, "failed", *(["n/a"] if waived else []), "weight", "coverage", "alpha", "AC2"),
    )
    criteria, shares = view.spec.criteria_by_id(), final_shares(view.scores.tree)
    for path, node in paths(view.scores.tree):
        criterion, found = criteria.get(node.name), failures.get(node.name)
        if not path:
            continue
        name = criterion.name if criterion else view.spec.labels.get(".".join(path))
        failed = [f"{found.failed} of {found.scored}" if found else ""]
        failed += [_waived(found)] if waived else []
        interval, share = view.scores.intervals.get(path), f"{shares[path]:.1%}"
        spread = f"{interval.low:.2f}-{interval.high:.2f}" if interval else ""
        mended = [_corrected(view, node.name)] if view.calibration else []
        parts = (shown_score(node.score, found), spread, *mended, *failed, share, f"{node.coverage:.1%}")
        cells = (*parts, *_coefficients(view, node.name))
        style = "red" if found and found.failed else "bold" if len(path) == 1 else ""
        table.add_row(*(Text(cell, style=style) for cell in (f"{'  ' * (len(path) - 1)}{name}", *cells)))
    return table


def _corrected(view: RunView, criterion: str) -> str:
    found = view.calibration.criteria.get(criterion) if view.calibration else None
    return corrected_text(found, report_locale("en"))


def _waived(found: FailureCount | None) -> str:
    """The cases that a criterion does not apply to, with those of them that a rule names."""
    if found is None:
        return ""
    return f"{found.not_applicable} ({found.by_rule} by rule)" if found.by_rule else str(found.not_applicable)


def _coefficients(view: RunView, criterion: str) -> tuple[str, str]:
    found = view.agreement.by_criterion.get(criterion)
    values = (None, None) if found is None else (found.alpha.alpha, found.ac2.ac2)
    alpha, ac2 = ("" if value is None else f"{value:z.2f}" for value in values)
    return alpha, ac2


def _health_table(view: RunView) -> Table:
    some_waived = any(health.outcomes["not_applicable"] for health in view.health)
    waived = ("n/a",) if some_waived else ()
    table = plain_table("judge", "qualification", "scored", *waived, "failed", "repaired", "s/call", "tokens", "cost")
    standings = {standing.judge: STATES[standing.word] for standing in view.standings}
    for health in view.health:
        failed = ", ".join(f"{count} {name}" for name, count in health.outcomes.items() if count and name not in GIVEN_NAMES)
        table.add_row(
            Text(health.judge),
            standings[health.judge],
            f"{health.outcomes['scored']}/{health.planned}",
            *((str(health.outcomes["not_applicable"]),) if some_waived else ()),
            failed or "0",
            str(health.repaired_heuristic + health.repaired_model),
            f"{health.seconds:.2f}",
            f"{health.prompt_tokens + health.completion_tokens:,}",
            "" if health.cost is None else f"{health.cost:.4f} {health.currency}",
        )
    if some_waived:
        table.caption = "n/a: the criterion does not apply to the case"
        table.caption_justify = "left"
    return table


def _as_written(view: RunView) -> Iterator[str]:
    """Which judges were to give expected scores and gave none for some verdicts."""
    for health in view.health:
        asked = any(judge.name == health.judge and judge.method == "expected" for judge in view.spec.judges)
        if asked and health.written:
            told = f"{health.expected:,} of {health.expected + health.written:,} scores are expected scores"
            yield f"{health.judge}: {told}; {health.written:,} are as the judge wrote them (no or doubtful log-probabilities)"


def _cost(view: RunView) -> Iterator[str]:
    """What the target and the judges cost, as far as prices are known."""
    locale, found = report_locale("en"), run_costs(view)
    parts = (f"{one.name} {locale.money(one.cost, one.currency)}" for one in found if one.cost is not None)
    if found:
        whole = locale.costs(totals(found))
        yield f"cost: {whole} ({', '.join(parts)})" if whole else "cost: not known, no model has a price"


def shown_score(score: float | None, count: FailureCount | None = None) -> str:
    """A score with two decimals, `unscored`, or `n/a` where a criterion applies to none of the cases that were counted."""
    if score is not None:
        return f"{score:.2f}"
    return "n/a" if count and not count.cases else "unscored"
