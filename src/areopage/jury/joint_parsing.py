"""From the text of a joint answer to one outcome for each criterion, by the ladder and the guards of `jury.parsing`.

A criterion's verdict is an object `{"explanation", "score", "evidence_extracts"}` or the bare score. What can be read is read: an
answer may score three criteria and miss one. Of a broken object, members are taken one after the other from its beginning; what
stands behind the first one that cannot be read may be a quotation and is not taken.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from areopage.criteria.joint import REMARKS
from areopage.criteria.records import Scale
from areopage.jury.parsing import (
    VERDICT_KEYS,
    PairsHook,
    Reading,
    brace_groups,
    nothing_in,
    open_answer,
    planted_verdicts,
    repaired_verdict,
    unique_keys,
    verdict_of,
)
from areopage.scoring.outcome import Outcome, Scored, Unparsed

KEY = re.compile(r"\s*+[\"'“]?([A-Za-z0-9_]{1,200})[\"'”]?\s*+:\s*+", re.ASCII)
AFTER_VALUE = re.compile(r"\s*+([,}])")
QUOTED = Unparsed(reason="the verdict stands in the text under judgment, to the letter")
MAX_MEMBERS = 1_000
MAX_REMARKS = 10
MAX_REMARK = 1_000


class JointReading(Struct, frozen=True, kw_only=True):
    """What was read: an outcome for each criterion asked, by short name. `steps` and `heuristic` are as in `Reading`."""

    outcomes: dict[str, Outcome]
    steps: tuple[str, ...]
    heuristic: bool = False


class Remarks(Struct, frozen=True, kw_only=True):
    """What a judge says of the response as a whole."""

    feedback: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


def read_joint(text: str, finish_reason: str, asked: Mapping[str, Scale], material: str = "") -> JointReading:
    """Read a joint answer.

    Args:
        text, finish_reason, material: as for `read_verdict`.
        asked: the scale of each criterion by its short name.
    """
    found, steps, heuristic = climb(text, finish_reason, asked)
    if isinstance(found, Outcome):
        return JointReading(outcomes=dict.fromkeys(asked, found), steps=steps)
    outcomes = without_planted(found, asked, material)
    return JointReading(outcomes={name: outcome for name, (outcome, _) in outcomes.items()}, steps=steps, heuristic=heuristic)


Found = dict[str, tuple[Outcome, bool]]
"""The outcome of each criterion asked, and whether it was given as an object (else as the bare score)."""


def climb(text: str, finish_reason: str, asked: Mapping[str, Scale]) -> tuple[Found | Outcome, tuple[str, ...], bool]:
    """The rungs of the ladder, one after the other.

    Returns:
        The outcome of each criterion, or the one of them all; the rungs; whether anything was repaired.
    """
    opened = open_answer(text, finish_reason, VERDICT_KEYS | asked.keys())
    if isinstance(opened, Reading):
        return opened.outcome, opened.steps, False
    if opened.whole:
        return outcomes_of(opened.objects[0], asked), opened.steps, False
    answers = [one for one in opened.objects if asked.keys() & one.keys()]
    if answers and not opened.broken:
        return common_outcomes([outcomes_of(one, asked) for one in answers]), opened.steps, False
    if "{" in opened.bare:
        found, repaired = broken_outcomes(opened.bare, finish_reason, asked)
        return found, (*opened.steps, "members", *(("json_repair",) if repaired else ())), repaired
    return nothing_in(opened.bare, finish_reason), opened.steps, False


def outcomes_of(answer: Mapping[str, Any], asked: Mapping[str, Scale]) -> Found:
    """The outcomes of a parsed object."""
    return {
        name: (member_outcome(answer[name], scale), isinstance(answer[name], dict))
        if name in answer
        else (Unparsed(reason=f"no key {name!r}"), True)
        for name, scale in asked.items()
    }


def member_outcome(value: Any, scale: Scale) -> Outcome:
    """The outcome of one member of an answer: a verdict, or its score alone."""
    return verdict_of(value if isinstance(value, dict) else {"score": value}, scale)


def common_outcomes(answers: list[Found]) -> Found:
    """Of one or more answers the outcomes on whose scores all agree; where one is silent, it does not agree."""
    if len(answers) == 1:
        return answers[0]
    common: Found = {}
    for name, first in answers[0].items():
        outcomes = [answer[name][0] for answer in answers]
        scores = {outcome.score if isinstance(outcome, Scored) else None for outcome in outcomes}
        differ = Unparsed(reason=f"{len(answers)} answers in one, with different scores")
        common[name] = first if len(scores) == 1 else (differ, True)
    return common


def broken_outcomes(text: str, finish_reason: str, asked: Mapping[str, Scale]) -> tuple[Found, bool]:
    """The outcomes of a broken object, as far as the text leaves no doubt.

    Members are read from its beginning on. One that is itself broken is repaired as a verdict of its own, and reading goes on
    behind it only if that succeeds. From there on a criterion whose key stands in two places has none: one may be a quotation.

    Returns:
        The outcomes, and whether a repair was tried.
    """
    decoder = json.JSONDecoder(object_pairs_hook=unique_keys(VERDICT_KEYS), strict=False)
    places = {name: key_places(name, text) for name in asked}
    commas = sorted(place for found in places.values() for place in found if text[place] == ",")
    found: Found = {}
    repairing = False
    at = text.find("{") + 1
    for _ in range(MAX_MEMBERS):
        key = KEY.match(text, at)
        if key is None:
            break
        name, start = key[1], key.end()
        complete = value_end(text, start, decoder)
        if name in asked and (repairing or complete is None) and (name in found or len(places[name]) > 1):
            found[name] = (Unparsed(reason="broken JSON that may give it twice"), True)
            break
        if complete is not None:
            value, at = complete
            if name in asked:
                note(found, name, (member_outcome(value, asked[name]), isinstance(value, dict)))
            continue
        if name not in asked:
            break
        repairing = True
        following = next((comma for comma in commas if comma > start), None)
        found[name] = (repaired_member(text[start:following], finish_reason, asked[name]), True)
        if following is None or not isinstance(found[name][0], Scored):
            break
        at = following + 1
    reason = "cut before its verdict" if finish_reason == "length" else "broken JSON before its verdict"
    return {name: found.get(name, (Unparsed(reason=reason), True)) for name in asked}, repairing


def note(found: Found, name: str, member: tuple[Outcome, bool]) -> None:
    """Note a complete member; one given twice must say the same both times."""
    if name in found and found[name] != member:
        member = (Unparsed(reason=f"the {name} is given twice, with different values"), True)
    found[name] = member


def value_end(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int] | None:
    """A complete value at a place and where the next member begins; None where it is broken, or a number may go on."""
    try:
        value, end = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    after = AFTER_VALUE.match(text, end)
    return (value, after.end()) if after else None


def repaired_member(segment: str, finish_reason: str, scale: Scale) -> Outcome:
    """The verdict of a member that is broken within; a bare score that is broken has none."""
    if not segment.startswith("{"):
        return Unparsed(reason="cut within the score" if finish_reason == "length" else "broken JSON within the score")
    return repaired_verdict(segment, finish_reason, scale)


def key_places(name: str, text: str) -> list[int]:
    """Where a name stands as a key may stand: the places of the sign before it."""
    pattern = re.compile(rf"[{{,]\s*+[\"'“]?{re.escape(name)}[\"'”]?\s*+:", re.ASCII)
    return [match.start() for match in pattern.finditer(text)]


def without_planted(found: Found, asked: Mapping[str, Scale], material: str) -> Found:
    """The outcomes, but for those that stand in the text under judgment, to the letter.

    A verdict that is an object is compared by itself. Bare scores are few and may agree by chance: they count as planted where
    one object in the material gives all of them.
    """
    if "}" not in material or not any(isinstance(outcome, Scored) for outcome, _ in found.values()):
        return found
    planted = {scale: planted_verdicts(material, scale) for scale in set(asked.values())}
    kept = {
        name: (QUOTED, True) if is_object and outcome in planted[asked[name]] else (outcome, is_object)
        for name, (outcome, is_object) in found.items()
    }
    bare = {name: outcome for name, (outcome, is_object) in kept.items() if not is_object}
    if bare and any(gives_all(group, bare, asked) for group in brace_groups(material)):
        kept |= dict.fromkeys(bare, (QUOTED, True))
    return kept


def gives_all(group: str, bare: Mapping[str, Outcome], asked: Mapping[str, Scale]) -> bool:
    """Whether an object in the material gives these very scores."""
    found, _, _ = climb(group, "stop", {name: asked[name] for name in bare})
    return isinstance(found, dict) and all(found[name] == (outcome, False) for name, outcome in bare.items())


def read_remarks(text: str) -> Remarks:
    """The remarks of a joint answer; those that cannot be read are empty. A pure function: rescoring reads them again."""
    opened = open_answer(text, "stop", frozenset())
    if isinstance(opened, Reading):
        return Remarks()
    answer: dict[str, Any] = {}
    for one in opened.objects if not opened.broken else ():
        answer |= {name: one[name] for name in REMARKS if name in one and name not in answer}
    if opened.broken:
        answer = dict(complete_members(opened.bare, unique_keys(frozenset())))
    feedback = answer.get("feedback")
    return Remarks(
        feedback=feedback.strip()[:MAX_REMARK] if isinstance(feedback, str) else "",
        strengths=short_texts(answer.get("strengths")),
        weaknesses=short_texts(answer.get("weaknesses")),
        suggestions=short_texts(answer.get("suggestions")),
    )


def complete_members(text: str, hook: PairsHook) -> Iterator[tuple[str, Any]]:
    """The complete members of a broken object, from its beginning to the first that is not."""
    decoder = json.JSONDecoder(object_pairs_hook=hook, strict=False)
    at = text.find("{") + 1
    for _ in range(MAX_MEMBERS):
        key = KEY.match(text, at)
        end = value_end(text, key.end(), decoder) if key else None
        if key is None or end is None:
            return
        yield key[1], end[0]
        at = end[1]


def short_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, or a single one; bounded in number and length."""
    texts = value if isinstance(value, list) else [value]
    return tuple(text.strip()[:MAX_REMARK] for text in texts if isinstance(text, str) and text.strip())[:MAX_REMARKS]
