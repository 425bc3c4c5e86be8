"""What a model thought, and what it answered, where a server leaves both in one text.

Spellings: tags (`<think>`, `<thinking>`, `<thought>`, `<reasoning>`, and names that end so, such as `<seed:think>` and
`<inner_thoughts>`; with attributes, in any case, escaped, nested, several), `[THINK]` (Mistral), `◁think▷` (Kimi),
`<|START_THINKING|>` (Cohere), `<|begin_of_thought|>`, `<unused94>` and `<|channel>thought` (Gemma), turns of thoughts in ChatML,
and the channels of Harmony (gpt-oss), with their tokens or as servers leave them that strip tokens: `analysis…assistantfinal…`.

A tag inside a whole JSON object, or in code, is a quotation. Of a judge, who is asked for an object alone, a block of any other
name at the beginning of the text is thoughts as well, unless the name says that it is the answer.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

State = Literal["none", "closed", "open", "unopened"]
"""`none`: no thoughts; `closed`: they end before the answer; `open`: they do not end; `unopened`: they end and do not begin."""

_NAMES = r"(?:[\w.-]{1,20}[_:.-])?(?:think(?:ing)?|thoughts?|reasoning|monologue|pensées?)(?:[_-](?:process|content|text|block))?"
_JUDGES_NAMES = rf"{_NAMES}|(?:[\w.-]{{1,20}}[_:.-])?(?:analysis|analyse|reflection|réflexion|reason|scratchpad|cot)"
_WRAPPED = re.compile(r"\s*(?:<(?P<tag>[^\W\d_][\w:.-]{0,40})(?:\s[^<>]{0,200})?>|\[(?P<mark>[^\W\d_][\w :.-]{0,40})\])")
_OF_ANSWERS = re.compile(
    r"(final|answer|output|result|response|verdict|json|eval|judge?ment|jugement|scor|rating|grad|note|assess|r[ée]ponse|sortie|code"
    r"|xml|root|data|tool|function|html|body|pre$|p$|div$|span$|b$|strong$|br$|hr$|ul$|li$|h\d$|assistant|inst).*",
    re.IGNORECASE,
)
"""The names of what a judge may put around its verdict."""
_HARMONY = re.compile(
    r"<\|channel\|>\s*(?P<channel>\w+)[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
_HARMONY_FRAME = re.compile(r"<\|(?:start\|>\s*\w*|(?:end|return|call)\|>)")
_ROLE = re.compile(
    r"<\|im_start\|>\s*(?:think\w*|reasoning|analysis)\b(?P<text>.*?)(?:(?P<end><\|im_end\|>)|\Z)", re.DOTALL | re.IGNORECASE
)
"""A turn of thoughts in the format of ChatML."""
_STRIPPED = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?P<joined>[^\s:;,.a-zà-ÿ’'])?", re.DOTALL)
_FINAL = "assistantfinal"
_MOST_TAGS = 2_000


def _tags(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?:[<＜]|&lt;)(?P<close>/|end_of_)?(?:start_of_|begin_of_)?(?:ant)?(?:{names})(?:\s[^<>＜＞]{{0,200}})?(?:[>＞]|&gt;)
      | \[(?P<close2>/)?(?:THINK(?:ING)?|REASONING)\]
      | ◁(?P<close3>/)?think▷
      | <\|(?P<close4>end_of_|end_|/)?(?:begin_of_|start_of_|start_|begin_)?(?:thoughts?|thinking|think|reasoning)
        (?P<close6>_end)?(?:_begin|_start)?\|>
      | <\|inner_(?:prefix|(?P<close7>suffix))\|>
      | <\|channel>\s*thought\b | (?P<close8><channel\|>)
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
    if begins := _STRIPPED.match(text):  # a Harmony message whose tokens were stripped
        thoughts, final, answer = text.rpartition(_FINAL)
        if final:
            return Thoughts(thoughts=thoughts.strip(), answer=answer.strip(), state="closed")
        if begins["joined"]:
            return Thoughts(thoughts=text.strip(), answer="", state="open")
    text = _ROLE.sub(lambda turn: f"<think>{turn['text']}{'</think>' if turn['end'] else ''}", text)
    tagged = _tagged(text, _JUDGES_TAGS if judge else _TAGS, anywhere=judge)
    return _wrapped(text) or tagged if judge and tagged.state == "none" else tagged


def _wrapped(text: str) -> Thoughts | None:
    begins = _WRAPPED.match(text)
    if begins is None or _OF_ANSWERS.fullmatch(begins["tag"] or begins["mark"]):
        return None
    end = f"</{begins['tag']}>" if begins["tag"] else f"[/{begins['mark']}]"
    thoughts, closed, answer = text[begins.end() :].partition(end)
    return Thoughts(thoughts=thoughts.strip(), answer=answer if closed else "", state="closed" if closed else "open")


def _channels(text: str) -> Thoughts:
    """The final channel of a Harmony message is the answer; the others, and text outside of channels, are thoughts."""
    parts = [(match["channel"].lower(), match["text"].strip()) for match in _HARMONY.finditer(text)]
    answers = [body for channel, body in parts if channel == "final"]
    thoughts = [body for channel, body in parts if channel != "final"]
    if not parts:
        return Thoughts(thoughts=text.strip(), answer="", state="open")
    spans = [match.span() for match in _HARMONY.finditer(text)]
    gaps = zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True)
    outside = [_HARMONY_FRAME.sub("", text[end:start]).strip() for end, start in gaps]
    thoughts += [part for part in outside if part]
    return Thoughts(thoughts="\n".join(thoughts), answer="\n".join(answers), state="closed" if answers else "open")


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
    if depth > 0 and (anywhere or not text[text.rfind("\n", 0, opened) + 1 : opened].strip()):
        thoughts.append(text[end:])
        end, state = len(text), "open"
    elif depth > 0:
        end = opened
    if state == "none":
        return Thoughts(thoughts="", answer=text, state=state)
    answer.append(text[end:])
    return Thoughts(thoughts="\n".join(part.strip() for part in thoughts), answer="".join(answer), state=state)


def _counted(text: str, tags: re.Pattern[str]) -> Iterator[re.Match[str]]:
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
