"""What a run of a test's answers decides, and how it is told."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from areopage.bench import RunView, pass_views
from areopage.errors import counted
from areopage.locales import one_line
from areopage.testing.share_decisions import AnswerCounts, ShareDecision, ShareVerdict, decide_shares

SHOWN_CASES = 5
LONGEST = 200


class ClaimDecision(Struct, frozen=True, kw_only=True):
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


def together(decisions: list[ClaimDecision]) -> ClaimDecision:
    """Several decisions on one run as one: a failure fails, and all must pass for a pass."""
    order: tuple[ShareVerdict, ...] = ("fail", "undecided", "pass")
    ranked = sorted(decisions, key=lambda decision: order.index(decision.verdict))
    shares = {name: share for decision in decisions for name, share in decision.shares.items()}
    lines = tuple(line for decision in ranked for line in decision.lines)
    return ClaimDecision(verdict=ranked[0].verdict, lines=lines, run=ranked[0].run, shares=shares)


def decide_share(
    view: RunView, at_least: float, confidence: float, *, unanswered: int = 0, disputed_count: bool = True
) -> ClaimDecision:
    """Whether enough answers pass each criterion.

    Args:
        unanswered: further answers that are empty, so that nothing is known of them.
        disputed_count: scores of which some judges say that they are failures, and others that they are not, count as the jury's
            mean says; else nothing is known of them.
    """
    repeats = _equal_repeats(view)
    decided = decide_shares(_counts(view, unanswered, disputed_count, repeats), at_least, confidence)
    by_id = view.spec.criteria_by_id()
    lines: list[str] = []
    for verdict in ("fail", "undecided", "pass"):
        for id, share in decided.items():
            if share.verdict == verdict:
                lines.append(f"{by_id[id].title} ({id}): {share_text(share, at_least, confidence)}")
                lines += _examples(view, id) if verdict == "fail" else []
    if repeats and lines:
        lines.append("each prompt that was put several times got equal answers, which count once: more prompts decide")
    verdicts = {share.verdict for share in decided.values()} or {"undecided"}
    whole: ShareVerdict = "fail" if "fail" in verdicts else "undecided" if "undecided" in verdicts else "pass"
    return ClaimDecision(
        verdict=whole, lines=tuple(lines) or ("no criterion applies to any answer",), run=view.run.id, shares=decided
    )


def _equal_repeats(view: RunView) -> frozenset[str]:
    """The ids of the answers that only repeat another one to the same prompt; none where any prompt got different answers.

    Where a target answers by the prompt alone, answers to one prompt are one observation, however often it is put.
    """
    answers: dict[str, set[str]] = {}
    repeats: set[str] = set()
    for case in view.cases:
        to_prompt = answers.setdefault(case.prompt_text, set())
        if to_prompt:
            repeats.add(case.id)
        to_prompt.add(case.response or "")
    return frozenset(repeats) if all(len(texts) == 1 for texts in answers.values()) else frozenset()


def _counts(view: RunView, unanswered: int, disputed_count: bool, repeats: frozenset[str]) -> dict[str, AnswerCounts]:
    """What is known of the answers, by criterion; those that apply to no answer are left out, and `repeats`."""
    spec, counts = view.spec, dict[str, AnswerCounts]()
    limits = spec.failures.limits(spec.criteria, spec.scale)
    open_pairs = frozenset[tuple[str, str]]() if disputed_count else view.disputed
    fails: dict[str, list[bool | None]] = {}
    for record in view.scores.records:
        for score in record.criteria:
            if score.applies and score.case_id not in repeats:
                is_scored = score.score is not None and (score.case_id, score.criterion) not in open_pairs
                fails.setdefault(score.criterion, []).append(score.fails(limits, spec.scale) if is_scored else None)
    for id, states in fails.items():
        missing = states.count(None) + unanswered
        counts[id] = AnswerCounts(passed=states.count(False), failed=states.count(True), missing=missing)
    return counts


def share_text(share: ShareDecision, at_least: float, confidence: float) -> str:
    """A decision in a sentence."""
    counts = share.counts
    judged = counts.passed + counts.failed
    passing = f"{counts.passed} of {counted(judged, 'answer')} pass"
    if counts.missing:
        passing += f", {counts.missing} without a verdict"
    claim = f"at least {percent(at_least)}"
    if at_least == 1.0:
        return {
            "fail": f"{passing}; each must",
            "pass": passing,
            "undecided": f"{passing}; not decided",
        }[share.verdict]
    if share.verdict == "fail":
        return f"{passing}: less than {percent(at_least)} with {percent(confidence)} confidence (at most {percent(share.high)})"
    if share.verdict == "pass":
        return f"{passing}: {claim} with {percent(confidence)} confidence (at least {percent(share.low)})"
    between = f"between {percent(share.low)} and {percent(share.high)}" if share.low is not None else "unknown"
    more = f"; about {counted(share.needed, 'answer')} would decide if the share stays" if share.needed else ""
    return f"{passing}: not decided whether {claim} do (the share is {between}){more}"


def percent(share: float | None) -> str:
    """A share in percent."""
    return "?" if share is None else f"{100 * share:.3g} %"


def _examples(view: RunView, criterion: str) -> Iterator[str]:
    failing = [case_id for case_id, ids in view.failures.by_case.items() if criterion in ids]
    for case_id in failing[:SHOWN_CASES]:
        case = next(case for case in view.cases if case.id == case_id)
        yield f"  case {one_line(case_id)}: {one_line(case.prompt_text, LONGEST)}"
        yield f"    answer: {one_line(case.response or '', LONGEST)}"
        record = view.scores.records.find(case_id)
        scores = [score for score in record.criteria if score.criterion == criterion] if record else []
        explained = [judged for score in scores for judged in pass_views(view, score) if judged.explanation]
        if explained:
            yield f"    {explained[0].judge}: {one_line(explained[0].explanation, LONGEST)}"
    if len(failing) > SHOWN_CASES:
        yield f"  and {len(failing) - SHOWN_CASES} more: areopage bench show {view.run.id}"
