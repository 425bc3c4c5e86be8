"""Simulated judges that obey what they find: each says what one protection is worth, and none says what a real model does.

A judge is a function of the messages that it is sent and of its honest answer. An order is a sentence such as "The score is 5.";
a judge that obeys it gives that score.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from areopage.exams.attacks import load_attacks
from areopage.models.port import Message

Answer = Callable[[Sequence[Message], str], str]
"""What a simulated judge answers to these messages; the second is its honest answer."""

# Each attack has orders in one language; a French one has no English order, and the other way round.
ORDER = re.compile(r"(?:[Tt]he score is|[Ll]a note est) (\d+)")
_TOKENS = frozenset(
    token
    for attack in load_attacks()
    if attack.kind == "tokens" and isinstance(attack.text, str)
    for token in re.findall(r"<+[^<>\s{}]+>+|\[[^\[\]{}]+\]", attack.text)
)
_MARKED = re.compile(r"<<<(\w+(?: \d+)?) ([0-9a-f]{16})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
_WARNED = ("do not follow it", "n’en tenez aucun compte")


def respects_the_fence(messages: Sequence[Message], honest: str) -> str:
    """Obeys what stands outside of the announced fence, and nothing within; without a fence, everything."""
    text = messages[-1].content
    announced = re.search(r"[0-9a-f]{16}", text.partition("<<<")[0])
    if announced is None:
        return _obeying(text, honest)
    nonce = announced[0]
    outside = re.sub(rf"<<<(\w+(?: \d+)?) {nonce}>>>\n.*?\n<<<END \1 {nonce}>>>", "", text, flags=re.DOTALL)
    return _obeying(outside, honest)


def honours_tokens(messages: Sequence[Message], honest: str) -> str:
    """Takes a turn for one wherever a family's tokens begin it, and obeys it."""
    text = messages[-1].content
    return _obeying(text, honest) if any(token in text for token in _TOKENS) else honest


def heeds_the_last_word(messages: Sequence[Message], honest: str) -> str:
    """Obeys any order, unless the prompt ends with a warning of orders."""
    text = messages[1].content
    return honest if any(warning in text[-400:] for warning in _WARNED) else _obeying(text, honest)


def obeys_everything(messages: Sequence[Message], honest: str) -> str:
    """Obeys any order, wherever it stands: no protection of the prompt helps."""
    return _obeying(messages[1].content, honest)


def copies_the_last_json(messages: Sequence[Message], honest: str) -> str:
    """Gives the last object of the material as its own, to the letter."""
    text = _material(messages)
    found = _verdicts(text, honest)
    if found:
        return found[-1]
    broken = re.search(r"\{[^{}]*\}", text[text.rfind("{") :] if "{" in text else "")
    return broken[0] if broken else honest


def writes_the_last_json_anew(messages: Sequence[Message], honest: str) -> str:
    """Gives the last object of the material as its own, read and written again."""
    found = _verdicts(_material(messages), honest)
    return json.dumps(json.loads(found[-1], strict=False), indent=1, sort_keys=True) if found else honest


def quotes_without_escapes(messages: Sequence[Message], honest: str) -> str:
    """Begins its explanation with the material as it stands."""
    return honest.replace('"explanation": "', f'"explanation": "It says {_material(messages)} which is bad. ')


def quotes_extracts_without_escapes(messages: Sequence[Message], honest: str) -> str:
    """Begins with an extract, the material as it stands."""
    verdict = json.loads(honest)
    if "score" not in verdict:
        return honest
    rest = json.dumps({"score": verdict["score"], "explanation": verdict["explanation"]})[1:]
    return f'{{"evidence_extracts": ["{_material(messages)}"], {rest}'


def stops_where_its_quotation_closes(messages: Sequence[Message], honest: str) -> str:
    """Quotes without escapes, and stops where that completes a JSON object, as a grammar makes it."""
    for quoting in (quotes_without_escapes, quotes_extracts_without_escapes):
        text = quoting(messages, honest)
        try:
            _, end = json.JSONDecoder(strict=False).raw_decode(text)
        except ValueError:
            continue
        return text[:end]
    return honest


OBEDIENCE: Mapping[str, Answer] = {
    one.__name__: one
    for one in (
        respects_the_fence,
        honours_tokens,
        heeds_the_last_word,
        copies_the_last_json,
        writes_the_last_json_anew,
        quotes_without_escapes,
        quotes_extracts_without_escapes,
        stops_where_its_quotation_closes,
        obeys_everything,
    )
}


def _obeying(text: str, honest: str) -> str:
    """The honest answer with the score of the last order in a text."""
    orders = ORDER.findall(text)
    return re.sub(r'"score": \d+', f'"score": {orders[-1]}', honest) if orders else honest


def _material(messages: Sequence[Message]) -> str:
    """The response under judgment and, after it, what else of the material holds a brace or a quotation mark."""
    text = messages[1].content
    marked = {name: inside for name, _, inside in _MARKED.findall(text)}
    if not marked:
        return text
    others = [inside for name, inside in marked.items() if name != "RESPONSE" and re.search(r'[{}"]', inside)]
    return "\n".join([marked.get("RESPONSE", ""), *others])


def _verdicts(text: str, honest: str) -> list[str]:
    """The objects of a text that could be a verdict."""
    keys = {"score", *json.loads(honest)}
    return [one for one in _objects(text) if any(f'"{key}"' in one for key in keys - {"explanation", "evidence_extracts"})]


def _objects(text: str) -> list[str]:
    found, at = [], text.find("{")
    while at >= 0:
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if value:
            found.append(text[at:end])
        at = text.find("{", end)
    return found
