"""What drives a change: how much each case, criterion and judge adds to the difference of two runs on the same cases.

The score of a case is Σ share·score over its criteria, with the weights of the tree, and that of a criterion the mean of its
judges' scores. Where both sides have a score, a criterion contributes the mean of its two shares times its change, a judge the
same part of its own change. What is left comes from scores that only one side has: they give the others another share. The parts
add up to the difference, so that each can be stated as a share of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from msgspec import Struct

from areopage.scoring import CriterionScore, Node, RecordScores

_DIGITS = 12
"""Sums of the same parts may differ by the last bit: shares are rounded to this number of decimals, so that they add up to 1."""

ONE_SIDED = ""
"""The name of the part that comes from scores, or judges, that only one side has."""


class Contribution(Struct, frozen=True, kw_only=True):
    """A part of a difference.

    Args:
        name: the id of a case or a criterion, or a judge's name; see `ONE_SIDED`.
        amount: in the unit of the difference.
        share: of the difference; None where that is 0.
    """

    name: str
    amount: float
    share: float | None


class Drivers(Struct, frozen=True, kw_only=True):
    """The parts of a difference in three ways, the largest first; each way adds up to `difference`."""

    difference: float
    cases: tuple[Contribution, ...]
    criteria: tuple[Contribution, ...]
    judges: tuple[Contribution, ...]


def score_drivers(first: Mapping[str, RecordScores], second: Mapping[str, RecordScores], ids: Sequence[str]) -> Drivers:
    """Divide the mean difference of final scores, first − second, among cases, criteria and judges.

    `ids` are the cases with a final score on both sides, at least one.
    """
    cases: dict[str, float] = {}
    criteria: dict[str, list[float]] = {}
    judges: dict[str, list[float]] = {}
    for id in ids:
        left, right = first[id], second[id]
        cases[id] = (_final(left) - _final(right)) / len(ids)
        for criterion, judge, amount in _parts(left, right):
            criteria.setdefault(criterion, []).append(amount / len(ids))
            judges.setdefault(judge, []).append(amount / len(ids))
    difference = fsum(cases.values())
    return Drivers(
        difference=difference,
        cases=listed(cases, difference),
        criteria=listed({name: fsum(amounts) for name, amounts in criteria.items()}, difference),
        judges=listed({name: fsum(amounts) for name, amounts in judges.items()}, difference),
    )


def failure_drivers(new: Mapping[str, Sequence[str]], mended: Mapping[str, Sequence[str]]) -> tuple[Contribution, ...]:
    """Divide the change of the number of failing cases among criteria, given those of each case that fails on one side alone.

    A case that fails several criteria counts in equal parts for each; a mended one counts below 0.
    """
    amounts: dict[str, list[float]] = {}
    for changed, sign in ((new, 1.0), (mended, -1.0)):
        for criteria in changed.values():
            for criterion in criteria:
                amounts.setdefault(criterion, []).append(sign / len(criteria))
    return listed({name: fsum(parts) for name, parts in amounts.items()}, float(len(new) - len(mended)))


def listed(amounts: Mapping[str, float], difference: float) -> tuple[Contribution, ...]:
    """The parts of a difference, the largest first."""
    order = sorted(amounts, key=lambda name: (-abs(amounts[name]), name))
    whole = difference if abs(difference) > 1e-12 else 0.0
    shares = {name: round(amounts[name] / whole, _DIGITS) if whole else None for name in order}
    return tuple(Contribution(name=name, amount=amounts[name], share=shares[name]) for name in order)


def effective_shares(tree: Node) -> dict[str, float]:
    """The share of each criterion with a score in the final score of a case, by its id; they sum to 1."""
    if not tree.parts:
        return {tree.name: 1.0}
    scored = [part for part in tree.parts if part.score is not None]
    whole = fsum(part.weight for part in scored)
    shares: dict[str, float] = {}
    for part in scored:
        if part.weight:
            shares |= {name: share * part.weight / whole for name, share in effective_shares(part).items()}
    return shares


def _final(record: RecordScores) -> float:
    return record.tree.score or 0.0


def _parts(left: RecordScores, right: RecordScores) -> Iterable[tuple[str, str, float]]:
    shares = effective_shares(left.tree), effective_shares(right.tree)
    scores = _scores(left), _scores(right)
    values = tuple({leaf.name: leaf.score for leaf in record.tree.leaves} for record in (left, right))
    rest = 0.0
    for name in dict.fromkeys([*shares[0], *shares[1]]):
        left_share, right_share = shares[0].get(name, 0.0), shares[1].get(name, 0.0)
        now, then = values[0].get(name) or 0.0, values[1].get(name) or 0.0
        if name not in shares[0] or name not in shares[1]:
            rest += left_share * now - right_share * then
            continue
        rest += (left_share - right_share) * (now + then) / 2.0
        share = (left_share + right_share) / 2.0
        for judge, change in _judges(scores[0][name], scores[1][name], now - then):
            yield name, judge, share * change
    if rest:
        yield ONE_SIDED, ONE_SIDED, rest


def _scores(record: RecordScores) -> dict[str, CriterionScore]:
    return {score.criterion: score for score in record.criteria}


def _judges(left: CriterionScore, right: CriterionScore, change: float) -> Iterable[tuple[str, float]]:
    """The parts of a criterion's change by judge; judges on one side alone, and what they do to the others' parts, are one."""
    now, then = (
        {judge_score.judge: judge_score.score for judge_score in score.judges if judge_score.score is not None}
        for score in (left, right)
    )
    both = [judge for judge in now if judge in then]
    if not both:
        yield ONE_SIDED, change
        return
    part = (1.0 / len(now) + 1.0 / len(then)) / 2.0
    amounts = {judge: part * (now[judge] - then[judge]) for judge in both}
    yield from amounts.items()
    if len(both) < max(len(now), len(then)):
        yield ONE_SIDED, change - fsum(amounts.values())
