"""What a model thought, and what it answered, where a server leaves both in one text.

Spellings: tags (`<think>`, `<thinking>`, `<thought>`, `<reasoning>`, `<seed:think>`; with attributes, in any case, nested,
several), `[THINK]` (Mistral), `◁think▷` (Kimi), `<|START_THINKING|>` (Cohere), `<|begin_of_thought|>`, `<unused94>` (Gemma), and
the channels of Harmony (gpt-oss), with their tokens or as servers leave them that strip tokens: `analysis…assistantfinal…`.

A tag inside a whole JSON object, or in code, is a quotation.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

State = Literal["none", "closed", "open", "unopened"]
"""`none`: no thoughts; `closed`: they end before the answer; `open`: they do not end; `unopened`: they end and do not begin."""

_NAMES = r"think(?:ing)?(?:_process)?|thoughts?|reasoning|inner_monologue"
_JUDGES_NAMES = rf"{_NAMES}|analysis|reflection|reason|scratchpad|cot"
_HARMONY = re.compile(
    r"<\|channel\|>\s*(?P<channel>\w+)[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
_HARMONY_FRAME = re.compile(r"<\|(?:start\|>\s*\w*|(?:end|return|call)\|>)")
_STRIPPED = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?P<joined>[^\s:;,.a-zà-ÿ’'])?", re.DOTALL)
_FINAL = "assistantfinal"
_MOST_TAGS = 2_000


def _tags(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        [<＜](?P<close>/)?(?:seed:|ant:?)?(?:{names})(?:\s[^<>＜＞]{{0,200}})?[>＞]
      | \[(?P<close2>/)?THINK(?:ING)?\]
      | ◁(?P<close3>/)?think▷
      | <\|(?P<close4>end_of_|end_|/)?(?:begin_of_|start_|begin_)?(?:thought|thinking|think)\|>
      | <unused9(?:4|(?P<close5>5))>
        """,
        re.VERBOSE | re.IGNORECASE,
    )


_TAGS, _JUDGES_TAGS = _tags(_NAMES), _tags(_JUDGES_NAMES)
_DECODER = json.JSONDecoder(strict=False)


class Thoughts(Struct, frozen=True, kw_only=True):
    """The thoughts and the answer in a text; without thoughts the answer is the text itself."""

    thoughts: str
    answer: str
    state: State


def split_thoughts(text: str, *, judge: bool = False) -> Thoughts:
    """Part what a model thought from what it answered.

    Args:
        judge: the text is a judge's: tags that only some readers hide (`<analysis>`) count too, and so does one within a line
            that is not closed. In other texts a lone tag within a line is a word of the answer.
    """
    if "<|channel|>" in text:
        return _channels(text)
    if (stripped := _without_tokens(text)) is not None:
        return stripped
    return _tagged(text, _JUDGES_TAGS if judge else _TAGS, anywhere=judge)


def _channels(text: str) -> Thoughts:
    """The final channel of a Harmony message is the answer; the others, and text outside of channels, are thoughts."""
    parts = [(match["channel"].lower(), match["text"].strip()) for match in _HARMONY.finditer(text)]
    answers = [body for channel, body in parts if channel == "final"]
    thoughts = [body for channel, body in parts if channel != "final"]
    if not parts:
        return Thoughts(thoughts=text.strip(), answer="", state="open")
    outside = [_HARMONY_FRAME.sub("", text[begin:end]).strip() for begin, end in _gaps(text)]
    thoughts += [part for part in outside if part]
    return Thoughts(thoughts="\n".join(thoughts), answer="\n".join(answers), state="closed" if answers else "open")


def _gaps(text: str) -> Iterator[tuple[int, int]]:
    """The places of what no Harmony message holds."""
    end = 0
    for match in _HARMONY.finditer(text):
        yield end, match.start()
        end = match.end()
    yield end, len(text)


def _without_tokens(text: str) -> Thoughts | None:
    """A Harmony message whose tokens were stripped; None where the text is none."""
    begins = _STRIPPED.match(text)
    if begins is None:
        return None
    thoughts, final, answer = text.rpartition(_FINAL)
    if final:
        return Thoughts(thoughts=thoughts.strip(), answer=answer.strip(), state="closed")
    return Thoughts(thoughts=text.strip(), answer="", state="open") if begins["joined"] else None


def _tagged(text: str, tags: re.Pattern[str], *, anywhere: bool) -> Thoughts:
    answer: list[str] = []
    thoughts: list[str] = []
    depth, end = 0, 0
    state: State = "none"
    opened = 0
    for match in _counted(text, tags):
        if not _closes(match):
            if depth == 0:
                answer.append(text[end : match.start()])
                opened, end = match.start(), match.end()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                thoughts.append(text[end : match.start()])
                end, state = match.end(), "closed" if state != "unopened" else state
        else:
            thoughts.append("".join((*answer, text[end : match.start()])))
            answer, end, state = [], match.end(), "unopened"
    if depth > 0 and (anywhere or _begins_a_line(text, opened)):
        thoughts.append(text[end:])
        end, state = len(text), "open"
    elif depth > 0:
        end = opened
    if state == "none":
        return Thoughts(thoughts="", answer=text, state=state)
    answer.append(text[end:])
    return Thoughts(thoughts="\n".join(part.strip() for part in thoughts), answer="".join(answer), state=state)


def _counted(text: str, tags: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The tags that are no quotation, in order."""
    inside, braces, depth = 0, True, 0
    place, fences, ticks = 0, 0, 0
    for number, match in enumerate(tags.finditer(text)):
        if number == _MOST_TAGS:
            return
        start = match.start()
        fences += text.count("```", place, start)
        line = max(text.rfind("\n", place, start) + 1, place)
        ticks = (0 if line > place or not place else ticks) + text.count("`", line, start)
        if start < inside:
            place = start
            continue
        at = text.find("{", max(inside, place), start) if braces and depth == 0 else -1
        while at >= 0 and start >= inside:
            try:
                _, inside = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                braces = False
                break
            at = text.find("{", inside, start)
        place = start
        if start < inside or (depth == 0 and (fences % 2 == 1 or ticks % 2 == 1)):
            continue
        depth = max(depth - 1, 0) if _closes(match) else depth + 1
        yield match


def _closes(tag: re.Match[str]) -> bool:
    return any(tag.groups())


def _begins_a_line(text: str, place: int) -> bool:
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()
