"""From a judge's text to the objects that stand in it, and from an object to an outcome.

strict JSON → fences and thoughts stripped → json-repair. A score outside the scale is never moved into it.
`jury.reader` decides which of the objects count.
"""

import html
import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from areopage.criteria import Scale
from areopage.jury.lenient_objects import HIDDEN, plain_object
from areopage.jury.refusals import is_refusal
from areopage.jury.score_texts import LABEL, is_in_doubt, may_group, score_in
from areopage.scoring import NotApplicable, Outcome, Refused, Scored, Unparsed
from areopage.text import split_thoughts

SCORE_KEY = re.compile(
    r"[\"'“]?(?<![A-Za-z0-9_])score(?![A-Za-z0-9_])[\"'”]?\s*[:=：]\s*(?P<quote>[\"'“]?)[*_`]{0,3}\+?"
    r"(?P<number>-?(?:[0-9]{1,6}(?:[.,][0-9]{1,30})?|\.[0-9]{1,30}))",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?P<value>[^,}\n]{1,40}+)(?P<end>[,}\n]?)")
_QUOTED_KEY = re.compile(r"[\"'“]score[\"'”]", re.IGNORECASE)
# what must follow a number for it to be whole: the closing quote where there was an opening one ("4, may be cut from "4,5")
_SCORE_END = re.compile(
    rf"(?:\.(?![0-9]))?+[*_`]{{0,3}}+(?:[^\S\n]*+/[^\S\n]*+[0-9]{{1,6}}(?:\.[0-9]{{1,30}})?+)?+[*_`]{{0,3}}+[^\S\n]*+(?:{LABEL}[^\S\n]*+)?+(?:[,}}\n]|//|/\*|#)"
)  # or a comment
_QUOTED_SCORE_END = re.compile(r"\s*+(?:/\s*+\d{1,6}(?:\.\d{1,30})?\s*+)?[\"'”]", re.ASCII)
_KEY_PLACE = re.compile(r"(?:[{,]|[\"'”\]][^\S\n]*+\n)\s*+[\"'“]?score[\"'”]?\s*+[:=：]", re.IGNORECASE)
_BRACE = re.compile("[{｛]")
_ESCAPED = re.compile(r'\{(?:\s|\\[nrt])*+\\"')
_DOUBLED = re.compile(r"\{\s*+\{")
_PROSE_BRACES = re.compile(r"[{｛]++(?![^{}｛｝]*score)[^{}｛｝\"'“”＂:=：＝]*+[}｝]++", re.IGNORECASE)
"""Braces of a sentence, a formula or code (`{1, 2}`, `\\frac{1}{2}`, `{{name}}`): no object can begin there, and none goes on."""
_HIDDEN = re.compile(f"[{HIDDEN}]+")
_NUMBER = re.compile(r"\W*[0-9][0-9.,/%\s]*\W*")
APPLICABLE = "applicable"
VERDICT_KEYS = frozenset({"score", APPLICABLE})
"""The keys of which a verdict has one."""
_APPLICABLE_KEY = re.compile(rf"[\"'“]{APPLICABLE}[\"'”]", re.IGNORECASE)
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
    hook, decoder = strict_decoder(guarded)
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
    if (respelt := _respelt(bare, decoder)) is not None:
        answer, bare = respelt
        return Opened(objects=(answer,), starts=(0,), whole=False, broken=False, bare=bare, steps=("strict", "stripped"))
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


def _respelt(bare: str, decoder: json.JSONDecoder) -> tuple[dict[str, Any], str] | None:
    """The object that an answer is as a whole: with its quotation marks escaped, as HTML, or in two pairs of braces.

    Its text, which is compared with the one under judgment, comes with it.
    """
    text = bare.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        if _ESCAPED.match(text):
            text = json.loads(f'"{text}"', strict=False)
            value = decoder.decode(text)
        elif '"' not in text and "&quot;" in text:
            value = decoder.decode(html.unescape(text))
        elif _DOUBLED.match(text):
            text = text[1:-1].strip()
            value = decoder.decode(text)
        else:
            return None
    except (ValueError, RecursionError):
        return None
    return (value, text) if isinstance(value, dict) else None


@lru_cache(maxsize=64)  # many answers have the same keys
def strict_decoder(guarded: frozenset[str]) -> tuple[PairsHook, json.JSONDecoder]:
    """What makes objects, and reads them: no guarded key stands twice with different values."""
    hook = unique_keys(guarded)
    return hook, json.JSONDecoder(object_pairs_hook=hook)


def nothing_in(bare: str, finish_reason: str) -> Outcome:
    """The outcome of an answer without any object."""
    if not bare.strip():
        return Unparsed(reason="cut while thinking" if finish_reason == "length" else "empty answer")
    if is_refusal(bare):
        return Refused(reason="the judge declines")
    return Unparsed(reason="no JSON object in the answer")


def unique_keys(guarded: frozenset[str]) -> PairsHook:
    """Build a JSON object from pairs; repeated guarded keys, in whatever case, must have equal values."""

    spellings = {key.lower(): key for key in guarded}

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for written, value in pairs:
            key = written if written in guarded else spellings.get(_HIDDEN.sub("", written).strip().lower(), written)
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
    brace, end = _BRACE.search(text), 0
    while brace is not None:
        at = brace.start()
        found = _object_at(text, at, decoder)
        if found is None:
            if braces := _PROSE_BRACES.match(text, at):
                brace = _BRACE.search(text, braces.end())
                continue
            return objects, "".join([*behind, text[end:at] if objects else ""]), True
        behind.append(text[end:at] if objects else "")
        objects[at], end = found
        brace = _BRACE.search(text, end)
    return objects, "".join([*behind, text[end:] if objects else ""]), False


def _object_at(text: str, at: int, decoder: json.JSONDecoder) -> tuple[dict[str, Any], int] | None:
    try:
        return decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    if _PROSE_BRACES.match(text, at) or (plain := plain_object(text, at)) is None:
        return None
    try:
        return decoder.decode(plain[0]), plain[1]
    except (ValueError, RecursionError):
        return None


def gives_score(text: str) -> bool:
    """Whether a text is a number, or gives a score behind a key."""
    return second_score(text, ()) or _NUMBER.fullmatch(text) is not None


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
    if any(may_group(match["number"], scale) and "," in match["number"] for match in matches):
        return Unparsed(reason=f"the score is {matches[0]['number']}")
    if not scores:
        return Unparsed(reason="cut before the score" if finish_reason == "length" else "broken JSON without a score")
    if len(scores) > 1:
        return Unparsed(reason="broken JSON with different scores")
    for match in matches:
        end = (_QUOTED_SCORE_END if match["quote"] else _SCORE_END).match(text, match.end())
        if end is None or is_in_doubt(end[0]):
            return Unparsed(reason=_unfinished(text, match))
    start = _first_brace(text)
    second = _BRACE.search(text, start + 1)
    while second is not None and (braces := _PROSE_BRACES.match(text, second.start())):
        second = _BRACE.search(text, braces.end())
    if _KEY_PLACE.search(text, start, len(text) if second is None else second.start()) is None:
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


def _first_brace(text: str) -> int:
    brace = _BRACE.search(text)
    return brace.start() if brace else 0


def _unfinished(text: str, match: re.Match[str]) -> str:
    """Why a score of a broken object is none: its number may go on, or it is more than a number."""
    value = _VALUE.match(text, match.start("number"))
    written = value["value"].strip() if value else ""
    is_more = value and value["end"] and any(sign not in "0123456789.,-+/eE \"'" for sign in written)
    return f"the score is {written}" if is_more else "cut within the score"


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
    """Read a finite number, or a text that is a score; see `areopage.jury.score_texts`."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:  # an integer of 400 digits
            return None
        return number if math.isfinite(number) else None
    return score_in(value, scale) if isinstance(value, str) else None


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
