"""Thresholds for a stated risk, from answers that people have labelled, with what they cost.

Rows that share a group (answers from the same documents) are no independent witnesses, and the tests ask for independent ones:
each group counts once, by the mean of all its rows. What the other rules hold is never delivered at any threshold; a pure refusal
always is. So the risk is the whole gate's, not the model's.
"""

import hashlib
import math
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.records import Decision
from areopage.gate.tuning.labelled import Labelled
from areopage.gate.tuning.risk import GRID, Control, Needed, ThresholdStep, bound, certify, needed, on_plateau, p_value, steps_of
from areopage.scoring import Share

RISKS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3)
"""The risks of the table of alternatives, beside the one that is asked for."""

NEVER = math.inf
_BEYOND = 2.0  # a threshold that no probability reaches


class Ask(Struct, frozen=True, kw_only=True):
    """What is wanted.

    Args:
        risk: the share of ungrounded answers that is allowed, in (0, 1); `control` says of which answers.
        confidence: how certain that must be, in (0, 1).
        grey_band: choose a second threshold, from which an answer is held without asking a judge.
        precision: the least share of ungrounded answers among those held by the second threshold, with the same confidence.
        seed: which groups a refitted model is fitted on.
    """

    risk: float = 0.02
    confidence: float = 0.95
    control: Control = "delivered"
    grey_band: bool = False
    precision: float = 0.5
    seed: int = 0


class ScoredAnswer(Struct, frozen=True, kw_only=True):
    """A labelled answer as the gate sees it: `score` is p_unsupported, 0 for a refusal, `NEVER` where another rule holds back."""

    unit: str
    score: float
    ungrounded: bool


class Outcome(Struct, frozen=True, kw_only=True):
    """What a threshold does to the labelled answers.

    Args:
        risk: the one that was asked for.
        threshold: None where the risk cannot be certified; the counts are then 0.
        answers, delivered, wrong: all, those delivered, those of them that are ungrounded.
        grounded, false_alarms: the grounded ones, and those of them that are held.
        bound: the upper bound of the risk at this threshold alone; None without a confidence or a threshold.
        p_value: how likely so few wrong ones would be if the risk were just missed; None in the same case.
    """

    risk: float
    threshold: float | None
    answers: int
    delivered: int = 0
    wrong: int = 0
    grounded: int = 0
    false_alarms: int = 0
    bound: float | None = None
    p_value: float | None = None


class Holding(Struct, frozen=True, kw_only=True):
    """The second threshold: `threshold` is None where the precision cannot be certified. `held` are those over it that only the
    grounding model holds back, `ungrounded` those of them that are."""

    precision: float
    threshold: float | None
    held: int = 0
    ungrounded: int = 0


class Tuning(Struct, frozen=True, kw_only=True):
    """What came out.

    Args:
        rows, ungrounded: the labelled answers.
        groups: the number of independent witnesses that they are.
        ruled_out, ruled_out_ungrounded: of the answers, those that other rules hold at any threshold.
        chosen: for the risk that was asked for; `alternatives` for others, each at the same confidence.
        now: what the thresholds do that hold without tuning; its `risk` is the one asked for, which nothing promises.
        needed: how many labels would do; only told where the risk cannot be certified.
        guess: where nothing is certified, the threshold that delivers most within the risk among these very labels, else the one
            that comes nearest: it promises nothing. None where no answer can be delivered.
    """

    ask: Ask
    rows: int
    groups: int
    ungrounded: int
    ruled_out: int
    ruled_out_ungrounded: int
    chosen: Outcome
    holding: Holding | None
    alternatives: tuple[Outcome, ...]
    now: Outcome
    needed: Needed | None
    guess: float | None

    @property
    def certified(self) -> bool:
        """Whether there is a threshold that keeps the risk, and delivers anything."""
        return self.chosen.threshold is not None and self.chosen.delivered > 0


def open_gate(config: GateConfig) -> Gate:
    """A gate whose grounding model holds nothing back: what it does not deliver, other rules hold back.

    Raises:
        ValueError: the profile asks no grounding model, so that there is no threshold to choose.
    """
    if config.profile != "default" or config.grounding is None:
        raise ValueError(f"the profile {config.profile} has no threshold on p_unsupported: tune the profile default")
    bounds = msgspec.structs.replace(config.thresholds, deliver=_BEYOND, hold=_BEYOND)
    return Gate(msgspec.structs.replace(config, thresholds=bounds, grey_band=False))


def scored(row: Labelled, decision: Decision) -> ScoredAnswer:
    """A row with what `open_gate` decided about it."""
    passes = decision.verdict == "deliver"
    grounding = decision.signal("grounding")
    doubt = grounding.value if grounding is not None and not decision.refusal else None
    score = doubt or 0.0 if passes else NEVER
    return ScoredAnswer(unit=row.unit, score=score, ungrounded=row.ungrounded)


def tune(rows: Sequence[ScoredAnswer], ask: Ask, config: GateConfig) -> Tuning:
    """Choose the thresholds, on rows that the grounding model was not fitted on.

    Raises:
        ValueError: there is no row, or a share that was asked for is none.
    """
    for name, share in (("risk", ask.risk), ("confidence", ask.confidence), ("precision", ask.precision)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"the {name} is {share:g}: it must be between 0 and 1")
    if not rows:
        raise ValueError("no labelled answers to certify a threshold: label more answers")
    # The threshold that holds now is one of those that are tested, so that none takes its place that delivers as many.
    present = config.thresholds.deliver
    grid = sorted({*GRID, present})
    steps = steps_of([row.score for row in rows], [row.ungrounded for row in rows], grid, [row.unit for row in rows])
    # Two statements that shall hold together share what may go wrong.
    confidence = 1.0 - (1.0 - ask.confidence) / 2 if ask.grey_band else ask.confidence
    groups = len({row.unit for row in rows})
    chosen = _outcome(rows, steps, ask.risk, confidence, ask.control, present)
    certified = chosen.threshold is not None and chosen.delivered > 0
    out = [row for row in rows if row.score == NEVER]
    now = _priced(rows, present, ask.risk)
    if ask.control != "average":
        step = next(step for step in steps if step.threshold == present)
        now = msgspec.structs.replace(now, bound=bound(step, groups, ask.confidence, ask.control))
    return Tuning(
        ask=ask,
        rows=len(rows),
        groups=groups,
        ungrounded=sum(row.ungrounded for row in rows),
        ruled_out=len(out),
        ruled_out_ungrounded=sum(row.ungrounded for row in out),
        chosen=chosen,
        holding=_holding(rows, ask.precision, confidence, chosen.threshold) if ask.grey_band and certified else None,
        alternatives=tuple(
            _outcome(rows, steps, risk, confidence, ask.control, present) for risk in sorted({*RISKS, ask.risk}) if risk < 1.0
        ),
        now=now,
        needed=None if certified else needed(steps, groups, ask.risk, confidence, ask.control),
        guess=None if certified else _guess(steps, groups, ask, present),
    )


def split(rows: Sequence[Labelled], seed: int) -> tuple[list[Labelled], list[Labelled]]:
    """Two halves that share no group: to fit a model on, and to certify it with.

    Raises:
        ValueError: there are fewer than two groups.
    """
    units = sorted(
        {row.unit for row in rows},
        key=lambda unit: hashlib.sha256(f"{seed}\0split\0{unit}".encode("utf-8", "surrogatepass")).digest(),
    )
    if len(units) < 2:
        raise ValueError("all labelled rows belong to one group: no other group could certify the model")
    fitted = set(units[: len(units) // 2])
    return [row for row in rows if row.unit in fitted], [row for row in rows if row.unit not in fitted]


def tuned_config(config: GateConfig, tuning: Tuning, statement: dict[str, object], threshold: float | None = None) -> GateConfig:
    """The configuration with what was chosen, or `threshold` in its place, and the statement about it."""
    deliver = tuning.chosen.threshold if threshold is None else threshold
    if deliver is None:
        raise ValueError("no threshold was certified")
    hold = deliver
    if tuning.ask.grey_band:
        least = tuning.holding.threshold if tuning.holding else None
        hold = 1.0 if least is None else max(least, deliver)
    bounds = msgspec.structs.replace(config.thresholds, deliver=deliver, hold=hold)
    return msgspec.structs.replace(
        config, thresholds=bounds, grey_band=config.grey_band or tuning.ask.grey_band, tuned=dict(statement)
    )


def _outcome(
    rows: Sequence[ScoredAnswer], steps: Sequence[ThresholdStep], risk: float, confidence: float, control: Control, present: float
) -> Outcome:
    groups = len({row.unit for row in rows})
    step = certify(steps, groups, risk, confidence, control, present)
    if step is None:
        return Outcome(risk=risk, threshold=None, answers=len(rows), grounded=sum(not row.ungrounded for row in rows))
    priced = _priced(rows, step.threshold, risk)
    if control == "average":
        return priced
    return msgspec.structs.replace(
        priced,
        bound=bound(step, groups, confidence, control),
        p_value=p_value(step, groups, risk, control),
    )


def _priced(rows: Sequence[ScoredAnswer], threshold: float, risk: float) -> Outcome:
    delivered = [row for row in rows if row.score <= threshold]
    grounded = sum(not row.ungrounded for row in rows)
    wrong = sum(row.ungrounded for row in delivered)
    return Outcome(
        risk=risk,
        threshold=threshold,
        answers=len(rows),
        delivered=len(delivered),
        wrong=wrong,
        grounded=grounded,
        false_alarms=grounded - (len(delivered) - wrong),
    )


def interval(hits: int, total: int, groups: int) -> tuple[float, float] | None:
    """The 95 % interval of a share of labelled answers, as of no more answers than there are groups."""
    if not total:
        return None
    witnesses = min(total, groups)
    share = Share.counted(round(hits * witnesses / total), witnesses)
    return None if share.low is None or share.high is None else (share.low, share.high)


def _guess(steps: Sequence[ThresholdStep], groups: int, ask: Ask, present: float) -> float | None:
    some = [step for step in steps if step.taken]
    if not some:
        return None
    of = [step.taken if ask.control == "delivered" else groups for step in some]
    kept = on_plateau([step for step, base in zip(some, of, strict=True) if step.wrong / base <= ask.risk], present)
    smallest = min(zip(some, of, strict=True), key=lambda pair: (pair[0].wrong + 0.5) / (pair[1] + 1))[0]
    return (kept or smallest).threshold


def _holding(rows: Sequence[ScoredAnswer], precision: float, confidence: float, deliver: float | None) -> Holding:
    """The threshold over which enough is ungrounded: the same test, from the other end, about grounded ones."""
    open_rows = [row for row in rows if row.score != NEVER]
    steps = steps_of(
        [NEVER if row.score == NEVER else -row.score for row in rows],
        [not row.ungrounded for row in rows],
        [-value for value in reversed(GRID)],
        [row.unit for row in rows],
    )
    step = certify(steps, len({row.unit for row in open_rows}), 1.0 - precision, confidence, "delivered")
    if step is None:
        return Holding(precision=precision, threshold=None)
    threshold = max(-step.threshold, deliver or 0.0)
    held_rows = [row for row in open_rows if row.score >= threshold]
    return Holding(
        precision=precision, threshold=threshold, held=len(held_rows), ungrounded=sum(row.ungrounded for row in held_rows)
    )
