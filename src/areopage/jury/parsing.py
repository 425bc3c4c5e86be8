"""From a judge's text to the objects that stand in it, and from an object to an outcome.

strict JSON → fences and thoughts stripped → json-repair. A score outside the scale is never moved into it.
`jury.reader` decides which of the objects count.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from areopage.criteria import Scale
from areopage.scoring import NotApplicable, Outcome, Refused, Scored, Unparsed
from areopage.text import split_thoughts

_TEXT_SCORE = re.compile(
    r"\s*\+?(-?\d{1,6}(?:[.,]\d{0,30})?)\s*(?:(?:/|out\s+of|sur)\s*(\d{1,6}(?:\.\d{1,30})?)\s*)?", re.ASCII | re.IGNORECASE
)
_WIDE = str.maketrans("０１２３４５６７８９／．，＋－", "0123456789/.,+-")
SCORE_KEY = re.compile(
    r"[\"'“]?\bscore\b[\"'”]?\s*[:=]\s*(?P<quote>[\"'“]?)(?P<number>-?\d{1,6}(?:[.,]\d{1,30})?)", re.IGNORECASE | re.ASCII
)
_QUOTED_KEY = re.compile(r"[\"'“]score[\"'”]", re.IGNORECASE)
# what must follow a number for it to be whole: the closing quote where there was an opening one ("4, may be cut from "4,5")
_SCORE_END = re.compile(r"(?:[^\S\n]*+/[^\S\n]*+\d{1,6}(?:\.\d{1,30})?+)?+[^\S\n]*+(?:[,}\n]|//|/\*|#)", re.ASCII)  # or a comment
_QUOTED_SCORE_END = re.compile(r"\s*+(?:/\s*+\d{1,6}(?:\.\d{1,30})?\s*+)?[\"'”]", re.ASCII)
_KEY_PLACE = re.compile(r"(?:[{,]|[\"'”\]][^\S\n]*+\n)\s*+[\"'“]?score[\"'”]?\s*+[:=]", re.IGNORECASE | re.ASCII)
_PROSE_BRACES = re.compile(r"\{++(?![^{}]*score)[^{}\"'“”:=]*+\}++", re.IGNORECASE)
"""Braces of a sentence, a formula or code (`{1, 2}`, `\\frac{1}{2}`, `{{name}}`): no object can begin there, and none goes on."""
APPLICABLE = "applicable"
VERDICT_KEYS = frozenset({"score", APPLICABLE})
"""The keys of which a verdict has one."""
_APPLICABLE_KEY = re.compile(rf"[\"'“]{APPLICABLE}[\"'”]", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\W*(i(?:['’]m| am) (?:sorry|not able|unable)|sorry,|i (?:can(?:no|['’])t|won['’]t|must decline|apologi[sz]e)|as an ai\b|"
    r"je (?:suis (?:désolée?|navrée?|dans l['’]incapacité)|ne (?:peux|puis|suis) pas|refuse|regrette)|désolée?\b|"
    r"en tant qu['’](?:ia\b|intelligence artificielle))",
    re.IGNORECASE,
)
_REFUSING_REASONS = frozenset({"content_filter", "refusal", "safety"})
_MAX_TEXT = 200_000
MAX_REPAIRED = 5_000  # json-repair takes quadratic time on some texts: a second for this number of characters, minutes for all
_MAX_EXTRACTS = 20

PairsHook = Callable[[list[tuple[str, Any]]], dict[str, Any]]


class Opened(Struct, frozen=True, kw_only=True):
    """An answer out of its wrappings: the complete objects at the top level of `bare`, and the rungs tried so far.

    `whole`: it is one object and nothing else; `broken`: a brace opens no complete object; `behind`: the text outside of objects
    that follows the first one. `starts` are the objects' places in `bare`.
    """

    objects: tuple[dict[str, Any], ...]
    starts: tuple[int, ...]
    behind: str = ""
    whole: bool
    broken: bool
    bare: str
    steps: tuple[str, ...]


class Unopened(Struct, frozen=True, kw_only=True):
    """An answer that needs no further look, with its outcome."""

    outcome: Outcome
    steps: tuple[str, ...] = ()


class _DuplicateKey(ValueError):
    """A JSON object gives a key twice, with different values."""


def open_answer(text: str, finish_reason: str, guarded: frozenset[str]) -> Opened | Unopened:
    """Take an answer out of its wrappings.

    Args:
        guarded: the keys that no object may give twice with different values.

    Returns:
        What stands in it, or the outcome of an answer that needs no further look.
    """
    if finish_reason in _REFUSING_REASONS:
        return Unopened(outcome=Refused(reason=f"the server says: {finish_reason}"))
    if len(text) > _MAX_TEXT:
        return Unopened(outcome=Unparsed(reason=f"longer than {_MAX_TEXT} characters"))
    hook, decoder = _strict_decoder(guarded)
    try:
        whole = decoder.decode(text)
    except _DuplicateKey as fault:
        return Unopened(outcome=Unparsed(reason=str(fault)), steps=("strict",))
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, str):  # the object's text, written as a text of JSON
        return open_answer(whole, finish_reason, guarded)
    if isinstance(whole, dict):
        return Opened(objects=(whole,), starts=(text.index("{"),), whole=True, broken=False, bare=text, steps=("strict",))
    thoughts = split_thoughts(text, judge=True)
    bare = "" if thoughts.state == "open" else thoughts.answer
    if thoughts.state == "unopened" and _scores_in(bare) and not _scores_in(thoughts.thoughts) <= _scores_in(bare):
        reason = "a verdict before the end of the thoughts, and another one behind it"
        return Unopened(outcome=Unparsed(reason=reason), steps=("strict", "stripped"))
    objects, behind, broken = _top_level_objects(bare, hook)
    return Opened(
        objects=tuple(objects.values()),
        starts=tuple(objects),
        behind=behind,
        whole=False,
        broken=broken,
        bare=bare,
        steps=("strict", "stripped"),
    )


@lru_cache(maxsize=64)  # many answers have the same keys
def _strict_decoder(guarded: frozenset[str]) -> tuple[PairsHook, json.JSONDecoder]:
    hook = unique_keys(guarded)
    return hook, json.JSONDecoder(object_pairs_hook=hook)


def nothing_in(bare: str, finish_reason: str) -> Outcome:
    """The outcome of an answer without any object."""
    if not bare.strip():
        return Unparsed(reason="cut while thinking" if finish_reason == "length" else "empty answer")
    if _REFUSAL.match(bare):
        return Refused(reason="the judge declines")
    return Unparsed(reason="no JSON object in the answer")


def unique_keys(guarded: frozenset[str]) -> PairsHook:
    """Build a JSON object from pairs; repeated guarded keys, in whatever case, must have equal values."""

    spellings = {key.lower(): key for key in guarded}

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for written, value in pairs:
            key = written if written in guarded else spellings.get(written.strip().lower(), written)
            if key in guarded and key in members and members[key] != value:
                raise _DuplicateKey(f"the {key} is given twice, with different values")
            members[key] = value
        return members

    return made


def _scores_in(text: str) -> set[float]:
    """The numbers that stand behind a key of a score."""
    return {float(match["number"].replace(",", ".")) for match in SCORE_KEY.finditer(text)}


def _top_level_objects(text: str, hook: PairsHook) -> tuple[dict[int, dict[str, Any]], str, bool]:
    """The complete JSON objects of a text by place, the text behind the first, and whether there is a brace that opens none.

    After a brace that opens no complete object nothing more is read: what looks like an object further on may be a quotation
    inside of it. Braces that close again around words or numbers alone are passed over.
    """
    decoder = json.JSONDecoder(object_pairs_hook=hook, strict=False)
    objects: dict[int, dict[str, Any]] = {}
    behind: list[str] = []
    at, end = text.find("{"), 0
    while at >= 0:
        try:
            value, after = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if braces := _PROSE_BRACES.match(text, at):
                at = text.find("{", braces.end())
                continue
            return objects, "".join([*behind, text[end:at] if objects else ""]), True
        behind.append(text[end:at] if objects else "")
        end = after
        if isinstance(value, dict):
            objects[at] = value
        at = text.find("{", end)
    return objects, "".join([*behind, text[end:] if objects else ""]), False


def second_score(behind: str, scores: Collection[float]) -> bool:
    """Whether the text behind a verdict gives a score that is not among these, so that the verdict may be a quotation."""
    return not _scores_in(behind) <= set(scores) or len(_QUOTED_KEY.findall(behind)) > len(SCORE_KEY.findall(behind))


def second_applicability(behind: str) -> bool:
    """Whether the text behind a verdict says again whether the criterion applies, so that the verdict may be a quotation."""
    return _APPLICABLE_KEY.search(behind) is not None


def common_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first outcome if all have the same score, or all say that the criterion does not apply."""
    said = {
        outcome.score if isinstance(outcome, Scored) else APPLICABLE if isinstance(outcome, NotApplicable) else None
        for outcome in outcomes
    }
    if len(said) > 1:
        return Unparsed(reason=f"{len(outcomes)} verdicts in one answer, with different scores")
    return outcomes[0]


def repaired_verdict(text: str, finish_reason: str, scale: Scale, *, may_not_apply: bool = False) -> Outcome:
    """Repair a broken object with json-repair, if its score is unambiguous; that a criterion does not apply is never repaired.

    What may be a quotation is not taken: the score's key must stand where a key stands, before any second opening brace.
    """
    matches = list(SCORE_KEY.finditer(text))
    scores = _scores_in(text)
    if not scores:
        return Unparsed(reason="cut before the score" if finish_reason == "length" else "broken JSON without a score")
    if len(scores) > 1:
        return Unparsed(reason="broken JSON with different scores")
    if any((_QUOTED_SCORE_END if match["quote"] else _SCORE_END).match(text, match.end()) is None for match in matches):
        return Unparsed(reason="cut within the score")
    start = text.find("{")
    second = text.find("{", start + 1)
    if _KEY_PLACE.search(text, start, second if second > 0 else len(text)) is None:
        return Unparsed(reason="broken JSON whose score may be a quotation")
    from json_repair import repair_json  # most runs do without

    try:
        repaired = repair_json(text[start : start + MAX_REPAIRED], return_objects=True)
    except (ValueError, RecursionError, AssertionError, LookupError, TypeError):
        # json-repair gives up on deep nesting, and asserts of itself what some texts disprove
        return Unparsed(reason="broken JSON that cannot be repaired")
    candidates = repaired if isinstance(repaired, list) else [repaired]
    outcomes = [
        verdict_of(candidate, scale, may_not_apply=may_not_apply)
        for candidate in candidates
        if isinstance(candidate, dict) and "score" in candidate
    ]
    if not outcomes:
        return Unparsed(reason="broken JSON that cannot be repaired")
    outcome = common_outcome(outcomes)
    if isinstance(outcome, NotApplicable) or (isinstance(outcome, Scored) and outcome.score not in scores):
        return Unparsed(reason="broken JSON whose repair changes the score")
    return outcome


def verdict_of(verdict: Mapping[str, Any], scale: Scale, *, may_not_apply: bool = False) -> Outcome:
    """Read the outcome of a parsed object.

    Args:
        may_not_apply: the object may say that the criterion does not apply, with an explanation and without a score.
    """
    if may_not_apply and verdict.get(APPLICABLE, True) is not True:
        return _not_applicable(verdict)
    score = _score_of(verdict.get("score"), scale)
    if score is None:
        return Unparsed(reason=f"the score is {_shown(verdict.get('score'))}" if "score" in verdict else "no key 'score'")
    if not scale.contains(score):
        return Unparsed(reason=f"the score {score:g} is outside {scale.min:g} to {scale.max:g}")
    raw = verdict.get("evidence_extracts")
    extracts = raw if isinstance(raw, list) else [raw] if isinstance(raw, str) and raw else []
    explanation = verdict.get("explanation", "")
    return Scored(
        score=score,
        explanation=explanation if isinstance(explanation, str) else _json_of(explanation),
        evidence=tuple(extract for extract in extracts if isinstance(extract, str))[:_MAX_EXTRACTS],
    )


def _not_applicable(verdict: Mapping[str, Any]) -> Outcome:
    """Read an object that does not say that its criterion applies. One that has a score as well is in doubt: it is not taken."""
    explanation = verdict.get("explanation")
    if verdict[APPLICABLE] is not False:
        return Unparsed(reason=f"the key {APPLICABLE!r} is {_shown(verdict[APPLICABLE])}")
    if verdict.get("score") is not None:
        return Unparsed(reason="it says that the criterion does not apply, and gives a score")
    if not isinstance(explanation, str) or not explanation.strip():
        return Unparsed(reason="it does not say why the criterion does not apply")
    return NotApplicable(explanation=explanation)


def _score_of(value: Any, scale: Scale) -> float | None:
    """Read a finite number, or a text such as "4", "4,5" or "4/5".

    The denominator must be the scale's end.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:  # an integer of 400 digits
            return None
        return number if math.isfinite(number) else None
    match = _TEXT_SCORE.fullmatch(value.translate(_WIDE)) if isinstance(value, str) else None
    if match is None or (match.group(2) is not None and float(match.group(2)) != scale.max):
        return None
    return float(match.group(1).replace(",", "."))


def _shown(value: Any) -> str:
    """Shorten a value for a reason."""
    text = _json_of(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _json_of(value: Any) -> str:
    """A parsed value as JSON text; "..." if nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "..."
