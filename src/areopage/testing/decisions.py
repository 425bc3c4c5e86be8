"""What a run of a test's answers decides, and how it is told."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from areopage.bench import Compared, DifferentPanels, RunView, compare_runs, fewest_pairs
from areopage.errors import counted
from areopage.ledger import Ledger, Run
from areopage.locales import one_line
from areopage.report import criterion_label, level_findings, passes_of, report_locale, score_difference
from areopage.report import failures_text as difference_text
from areopage.scoring import LevelDifference, Passes, ShareDecision, ShareVerdict, decide_shares, is_failure, kept_run_level

_SHOWN_CASES = 5
_LONGEST = 200


class Decision(Struct, frozen=True, kw_only=True):
    """What is decided about a claim.

    Args:
        lines: what is found, the most important first.
        run: the id of the run that it rests on; "" where no answer could be judged.
        shares: by a criterion's id.
    """

    verdict: ShareVerdict
    lines: tuple[str, ...]
    run: str = ""
    shares: Mapping[str, ShareDecision] = {}

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)


def together(decisions: list[Decision]) -> Decision:
    """Several decisions on one run as one: a failure fails, and all must pass for a pass."""
    order: tuple[ShareVerdict, ...] = ("fail", "undecided", "pass")
    ranked = sorted(decisions, key=lambda one: order.index(one.verdict))
    shares = {name: share for one in decisions for name, share in one.shares.items()}
    lines = tuple(line for one in ranked for line in one.lines)
    return Decision(verdict=ranked[0].verdict, lines=lines, run=ranked[0].run, shares=shares)


def decide_share(
    view: RunView, at_least: float, confidence: float, *, unanswered: int = 0, disputed_count: bool = True
) -> Decision:
    """Whether enough answers pass each criterion.

    Args:
        unanswered: further answers that are empty, so that nothing is known of them.
        disputed_count: scores of which some judges say that they are failures, and others that they are not, count as the jury's
            mean says; else nothing is known of them.
    """
    found = decide_shares(_counts(view, unanswered, disputed_count), at_least, confidence)
    by_id = view.spec.criteria_by_id()
    lines: list[str] = []
    for verdict in ("fail", "undecided", "pass"):
        for id, share in found.items():
            if share.verdict == verdict:
                lines.append(f"{criterion_label(by_id[id])} ({id}): {share_text(share, at_least, confidence)}")
                lines += _examples(view, id) if verdict == "fail" else []
    verdicts = {share.verdict for share in found.values()} or {"undecided"}
    whole: ShareVerdict = "fail" if "fail" in verdicts else "undecided" if "undecided" in verdicts else "pass"
    return Decision(verdict=whole, lines=tuple(lines) or ("no criterion applies to any answer",), run=view.run.id, shares=found)


def _counts(view: RunView, unanswered: int, disputed_count: bool) -> dict[str, Passes]:
    """What is known of the answers, by criterion; those that apply to no answer are left out."""
    spec, found = view.spec, dict[str, Passes]()
    limits = spec.failures.limits(spec.criteria, spec.scale)
    open_pairs = frozenset[tuple[str, str]]() if disputed_count else view.disputed
    fails: dict[str, list[bool | None]] = {}
    for record in view.scores.records:
        for score in record.criteria:
            if score.applies:
                known = score.score is not None and (score.case_id, score.criterion) not in open_pairs
                fails.setdefault(score.criterion, []).append(is_failure(score, limits, spec.scale) if known else None)
    for id, states in fails.items():
        missing = states.count(None) + unanswered
        found[id] = Passes(passed=states.count(False), failed=states.count(True), missing=missing)
    return found


def share_text(share: ShareDecision, at_least: float, confidence: float) -> str:
    """A decision in a sentence."""
    counts = share.counts
    judged = counts.passed + counts.failed
    told = f"{counts.passed} of {counted(judged, 'answer')} pass"
    if counts.missing:
        told += f", {counts.missing} without a verdict"
    claim = f"at least {_percent(at_least)}"
    if at_least == 1.0:
        return {
            "fail": f"{told}; each must",
            "pass": told,
            "undecided": f"{told}; not decided",
        }[share.verdict]
    if share.verdict == "fail":
        return f"{told}: less than {_percent(at_least)} with {_percent(confidence)} confidence (at most {_percent(share.high)})"
    if share.verdict == "pass":
        return f"{told}: {claim} with {_percent(confidence)} confidence (at least {_percent(share.low)})"
    between = f"between {_percent(share.low)} and {_percent(share.high)}" if share.low is not None else "unknown"
    more = f"; about {counted(share.needed, 'answer')} would decide if the share stays" if share.needed else ""
    return f"{told}: not decided whether {claim} do (the share is {between}){more}"


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{100 * share:.3g} %"


def _examples(view: RunView, criterion: str) -> Iterator[str]:
    """The first answers that fail a criterion, with what judges say."""
    failing = [case_id for case_id, ids in view.failures.by_case.items() if criterion in ids]
    for case_id in failing[:_SHOWN_CASES]:
        case = next(one for one in view.cases if one.id == case_id)
        yield f"  case {one_line(case_id)}: {one_line(case.prompt_text, _LONGEST)}"
        yield f"    answer: {one_line(case.response or '', _LONGEST)}"
        record = view.scores.records.find(case_id)
        scores = [score for score in record.criteria if score.criterion == criterion] if record else []
        told = [one for score in scores for one in passes_of(view, score) if one.explanation]
        if told:
            yield f"    {told[0].judge}: {one_line(told[0].explanation, _LONGEST)}"
    if len(failing) > _SHOWN_CASES:
        yield f"  and {len(failing) - _SHOWN_CASES} more: areopage bench show {view.run.id}"


def decide_regression(ledger: Ledger, baseline: Run | None, run: Run, confidence: float) -> Decision:
    """Whether a run is worse than the kept one, by the tests and the correction of `areopage bench compare`.

    A release verdict that changed is no reason: floors that allow a number of failures change with chance.

    Args:
        confidence: in [0.5, 1). An unchanged system is found worse in at most the rest of its runs, for all baselines but as
            large a share of them, see `kept_run_level`.
    """
    if baseline is None:
        why = "no baseline is kept for this test: run pytest --areopage-keep-baseline on the version to compare with"
        return Decision(verdict="undecided", lines=(why,), run=run.id)
    level = _level(confidence)
    try:
        found = compare_runs(ledger, [baseline, run], level=level).others[0]
    except DifferentPanels as fault:
        if {one.part for one in fault.differs} != {"cases"}:
            parts = ", ".join(map(str, fault.differs))
            why = f"the baseline {baseline.id} cannot be compared ({parts}): keep a new one with --areopage-keep-baseline"
            return Decision(verdict="undecided", lines=(why,), run=run.id)
        found = compare_runs(ledger, [baseline, run], anyway=True, level=level).others[0]
    return _compared(found, baseline, run, confidence)


def _level(confidence: float) -> float:
    """The level of the primary test, and of all others together: each has half of the risk."""
    return kept_run_level((1.0 - confidence) / 2.0)


def _compared(found: Compared, baseline: Run, run: Run, confidence: float) -> Decision:
    locale, shared = report_locale("en"), counted(found.shared.cases, "case")

    def texts(one: LevelDifference) -> tuple[str, str]:
        return difference_text(one.difference, locale), score_difference(one.difference.score, locale)

    worse = found.found("worse")
    if worse:
        told = (f"  {line}" for line in level_findings(worse, found.other.spec, locale, texts))
        risk = f"an unchanged system fails in at most {_percent(1.0 - confidence)} of its runs"
        baselines = f"for at least {_percent(confidence)} of all baselines"
        head = f"worse than the baseline {baseline.id} on {shared}, beyond chance ({risk}, {baselines}):"
        changed = [one for one in found.changed if one.newly]
        cases = [f"  newly failing: {one_line(one.case.id)}: {one_line(one.case.prompt_text, _LONGEST)}" for one in changed]
        more = [f"  and {len(cases) - _SHOWN_CASES} more"] if len(cases) > _SHOWN_CASES else []
        return Decision(
            verdict="fail",
            lines=(head, *told, *cases[:_SHOWN_CASES], *more),
            run=run.id,
        )
    if found.outcome == "too_little":
        fewest = fewest_pairs(_level(confidence))
        answers, groups = counted(found.shared.cases, "answer"), counted(found.clusters, "case")
        needed = f"{answers} to {groups}, and at least {fewest} cases are needed at {_percent(confidence)} confidence"
        reason = f"too few cases ({needed})" if found.clusters < fewest else "one of the two runs is incomplete"
        why = f"not compared with the baseline {baseline.id}: {reason}"
        return Decision(verdict="undecided", lines=(why,), run=run.id)
    return Decision(verdict="pass", lines=(f"not worse than the baseline {baseline.id} beyond chance ({shared})",), run=run.id)
