"""How an answer would be read without a protection: from the judge's own text, without another call."""

import json
from collections.abc import Mapping
from typing import Any

from json_repair import repair_json

from areopage.jury import MAX_REPAIRED, PROMPT_CUT, PlannedCall, material_of, read_answer
from areopage.ledger import Judgment
from areopage.scoring import Outcome, Unparsed
from areopage.text import split_thoughts
from areopage.trust.questions import EVERYTHING


def outcome_without(judgment: Judgment, call: PlannedCall, name: str) -> Outcome:
    """The outcome of a judgment on one criterion if a protection of reading were left out.

    Args:
        name: "planted", "doubt" or "window"; "everything" for all of them.
    """
    (criterion,), raw = call.criteria, judgment.raw_text
    stored = judgment.verdicts[0].outcome
    if not raw or (PROMPT_CUT in judgment.steps and name not in ("window", EVERYTHING)):
        return stored
    material = "" if name in ("planted", EVERYTHING) else material_of(call.case)
    if name in ("doubt", EVERYTHING):
        raw = _last_verdict(raw)
    read = read_answer(raw, "stop" if judgment.repair_text else judgment.finish_reason, (criterion,), material)
    outcome = read.outcomes[criterion.id]
    if isinstance(outcome, Unparsed) and judgment.repair_text and name != EVERYTHING:
        return read_answer(judgment.repair_text, judgment.finish_reason, (criterion,), material).outcomes[criterion.id]
    return outcome


def _last_verdict(text: str) -> str:
    """What a plain repair of broken JSON makes of an answer: the last of its objects that has a score."""
    bare = split_thoughts(text, judge=True).answer
    try:
        repaired: Any = repair_json(bare[max(bare.find("{"), 0) :][:MAX_REPAIRED], return_objects=True)
    except (ValueError, RecursionError, AssertionError, LookupError, TypeError):
        return text
    objects = [
        item for item in (repaired if isinstance(repaired, list) else [repaired]) if isinstance(item, Mapping) and "score" in item
    ]
    return json.dumps(objects[-1]) if objects else text
