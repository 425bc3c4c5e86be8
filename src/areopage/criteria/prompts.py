"""The judge's prompt about one or more criteria: the constant part first, so that servers can keep it, then the case.

One criterion is asked about by its own texts, examples and output format. Several are asked about under their short names, with
one output format for all and no examples: each example shows the verdict of one criterion alone.

Where a criterion may not apply to a case, its judge is offered `"applicable": false` with an explanation in place of a score.

Of a conversation, a criterion on the whole of it or on one reply is shown the turns, numbered, each within a fence of its own.

Text that comes from outside stands within a fence; see `areopage.criteria.fence`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases import Case, Persona
from areopage.criteria.fence import HARDENED, Hardening, defused, fenced, nonce_of
from areopage.criteria.reader import READER_PLACEHOLDERS, ReaderWords, reader_profile, reader_values
from areopage.criteria.records import Criterion, Scale
from areopage.criteria.scopes import Scope

TOKEN = re.compile(r"\{\{|\}\}|\{([a-z_]+)\}|[{}]")

CONTENT_PLACEHOLDERS = frozenset({"prompt", "response", "conversation", "documents", "reference"})
PLACEHOLDERS = READER_PLACEHOLDERS | CONTENT_PLACEHOLDERS
_ALMOST = 0.8
TEMPLATE_VERSION = "4"
FRAMING_FILE = Path(__file__).with_name("framing.yml")
REMARKS = ("feedback", "strengths", "weaknesses", "suggestions")
# keys of an answer, or of a verdict within it, that no criterion may go by
_RESERVED = frozenset({*REMARKS, "applicable", "score", "explanation", "evidence_extracts"})


def misspelt_placeholders(template: str) -> list[str]:
    """Each name in braces that is almost a placeholder, with the line of the template it stands on; it is kept as text."""
    notes: list[str] = []
    for token in TOKEN.finditer(template):
        near = get_close_matches(token.group(1) or "", sorted(PLACEHOLDERS), n=1, cutoff=_ALMOST)
        if near and token.group(1) not in PLACEHOLDERS:
            line = template.count("\n", 0, token.start()) + 1
            notes.append(f"{token.group()} (its line {line}) is no placeholder: did you mean {{{near[0]}}}?")
    return notes


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template; a placeholder without a value stays as it is.

    A doubled brace stands for one, unless the template has single braces, too: then its author doubles none, and all stay.
    """
    pieces, end = _pieces(template)
    return "".join([f"{text}{values.get(name, f'{{{name}}}')}" for text, name in pieces]) + end


@lru_cache(maxsize=1_024)  # each template is filled for many cases
def _pieces(template: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """The placeholders of a template, each with the text before it; and the text behind the last one."""
    tokens = list(TOKEN.finditer(template))
    doubled = not any(token.group() in ("{", "}") for token in tokens)
    pieces: list[tuple[str, str]] = []
    text, at = "", 0
    for token in tokens:
        text += template[at : token.start()]
        at = token.end()
        if token.group(1) is None:
            text += token.group()[0] if doubled else token.group()
        else:
            pieces.append((text, token.group(1)))
            text = ""
    return tuple(pieces), text + template[at:]


def without_content(template: str) -> str:
    """A template without the lines that hold a content placeholder, nor the heading that led to them.

    V1.1 prompts end with a heading and one line each for the prompt and the response. The case is put after the constant
    part, fenced, so these lines must go.
    """
    kept = [
        line
        for line in template.splitlines()
        if not any(token.group(1) in CONTENT_PLACEHOLDERS for token in TOKEN.finditer(line))
    ]
    if len(kept) < len(template.splitlines()):
        while kept and (not kept[-1].strip() or kept[-1].rstrip().endswith(":")):
            kept.pop()
    return "\n".join(kept)


class JudgePrompt(Struct, frozen=True, kw_only=True):
    """A judge's prompt: `system` is the same for every case of the same criteria, unless their texts name the reader.

    `constant`: how many characters at the beginning of `user` are the same for every case with the same reader.
    """

    system: str
    user: str
    constant: int = 0


class ConversationWords(Struct, frozen=True, kw_only=True):
    """The words about conversations in one language; {count} is how many replies there are.

    `turn` leads a conversation of which one reply is judged; the others are for criteria on the whole conversation.
    """

    turn: str
    whole: str
    reminder: str
    reminder_of_each: str
    separately: str
    explanation: str
    extracts: str


class Framing(Struct, frozen=True, kw_only=True):
    """The words around criteria in one language; {name}, {names}, {count}, {min}, {max} and {nonce} are filled in.

    `reader` describes the reader; `conversation` is for criteria on conversations; `not_applicable` is for one criterion that may
    not apply; `criterion` and what follows it are for several criteria.
    """

    task: str
    guide: str
    examples: str
    output: str
    fence: str
    reminder: str
    reader: ReaderWords
    conversation: ConversationWords
    not_applicable: str
    criterion: str
    separately: str
    whole_number: str
    number: str
    applicable: str
    not_applicable_among: str
    explanation: str
    extracts: str
    feedback: str
    strengths: str
    weaknesses: str
    suggestions: str
    reminder_of_each: str


@cache
def framing_of(language: str) -> Framing:
    """The words around criteria in a language, English where it has none."""
    texts = msgspec.yaml.decode(FRAMING_FILE.read_bytes(), type=dict[str, Framing])
    return texts.get(language, texts["en"])


def judge_prompt(
    criteria: Sequence[Criterion], case: Case, persona: Persona | None, secret: bytes, hardening: Hardening = HARDENED
) -> JudgePrompt:
    """Put one or more criteria and a case together.

    Args:
        criteria: at least one, all of one scope; the words around them are in the language of the first.
        case: for criteria on one reply, the conversation up to that reply.
        persona: the reader, who is described to the judge and fills the placeholders {age_group}, {maturity} and {reading_level};
            None: there is no description, and they read "any age".
        secret: the ledger's secret.
        hardening: what an audit leaves out.
    """
    words = framing_of(criteria[0].language)
    reader = {name: defused(value) for name, value in reader_values(case, persona).items()}
    scope = criteria[0].scope
    framing = words.conversation if scope == "conversation" else words
    reminder = framing.reminder_of_each if len(criteria) > 1 else framing.reminder
    profile = reader_profile(persona, words.reader)
    texts = dict.fromkeys(criterion.age_context for criterion in criteria)  # each distinct text once
    contexts = [*([profile] if profile else []), *(fill(text, reader) for text in texts if text and case.maturity)]
    user = [*contexts, *_fenced_case(_shown(case, scope), criteria[0].language, secret, hardening)]
    user += [reminder] if hardening.reminder else []
    constant = [*contexts, *([words.fence.partition("{nonce}")[0]] if hardening.fence else [])]
    return JudgePrompt(
        system=_constant_part(tuple(criteria), tuple(reader.items())),
        user="\n\n".join(user),
        constant=len("\n\n".join(constant)),
    )


@lru_cache(maxsize=256)  # many cases share their criteria and reader
def _constant_part(criteria: tuple[Criterion, ...], reader_items: tuple[tuple[str, str], ...]) -> str:
    words, reader = framing_of(criteria[0].language), dict(reader_items)
    several = len(criteria) > 1
    names = short_names(criteria)
    sections = list(dict.fromkeys(fill(criterion.role, reader) for criterion in criteria))
    if several:
        separately = words.conversation.separately if criteria[0].scope == "conversation" else words.separately
        sections.append(fill(separately, {"count": str(len(criteria)), "names": ", ".join(names)}))
    for name, criterion in zip(names, criteria, strict=True):
        heading = fill(words.criterion, {"name": name}) + "\n" if several else ""
        sections.append(f"{heading}{words.task}\n{fill(criterion.task, reader)}")
        sections.append(f"{words.guide}\n{fill(criterion.scoring_guide, reader)}")
        if criterion.examples and not several:
            sections.append(f"{words.examples}\n{fill(criterion.examples, reader)}")
    own_format = fill(without_content(criteria[0].output_format), reader)
    sections.append(f"{words.output}\n{_output_format(criteria, words) if several else own_format}")
    optional = [name for name, criterion in zip(names, criteria, strict=True) if criterion.may_not_apply]
    if optional:
        sections.append(fill(words.not_applicable_among, {"names": ", ".join(optional)}) if several else words.not_applicable)
    return "\n\n".join(sections)


def short_names(criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """The key of each criterion in an answer about several: its name, or as much of its id as tells all of them apart."""
    forms: tuple[Callable[[Criterion], str], ...] = (
        lambda criterion: criterion.name,
        lambda criterion: f"{criterion.subcategory}_{criterion.name}",
        lambda criterion: criterion.path.replace(".", "_"),
    )
    for form in forms:
        names = [form(criterion) for criterion in criteria]
        if len(set(names)) == len(names) and not _RESERVED.intersection(names):
            return tuple(names)
    return tuple(criterion.id.replace(".", "_") for criterion in criteria)


def _output_format(criteria: Sequence[Criterion], words: Framing) -> str:
    """The format of an answer about several criteria; remarks come last, so that a truncated answer loses them first."""
    lines: list[str] = []
    framing = words.conversation if criteria[0].scope == "conversation" else words
    for name, criterion in zip(short_names(criteria), criteria, strict=True):
        bounds = {"min": f"{criterion.scale.min:g}", "max": f"{criterion.scale.max:g}"}
        score = fill(words.whole_number if _is_whole(criterion.scale) else words.number, bounds)
        extracts = f'["{framing.extracts}", "..."]'
        applicable = f'"applicable": {words.applicable}, ' if criterion.may_not_apply else ""
        said = f'"explanation": "{framing.explanation}", {applicable}"score": {score}, "evidence_extracts": {extracts}'
        lines.append(f'  "{name}": {{{said}}}')
    lines.append(f'  "feedback": "{words.feedback}"')
    lines.extend(f'  "{name}": ["{getattr(words, name)}", "..."]' for name in REMARKS[1:])
    return "{\n" + ",\n".join(lines) + "\n}"


class _ShownCase(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a case that a judge is shown; `documents` are titles and texts.

    `turns` are those of the prompt for a criterion on a conversation: its number, role and text.
    """

    prompt: str
    response: str | None
    documents: tuple[tuple[str, str], ...]
    reference: str | None
    maturity: str
    scope: Scope = "response"
    turns: tuple[tuple[int, str, str], ...] = ()


def _shown(case: Case, scope: Scope = "response") -> _ShownCase:
    if scope == "reply":
        scope = "turn" if case.is_conversation else "response"
    return _ShownCase(
        prompt=case.prompt_text if scope == "response" else "",
        response=case.response,
        documents=tuple([(document.title, document.text) for document in case.documents]),
        reference=case.reference,
        maturity=case.maturity,
        scope=scope,
        turns=() if scope == "response" else tuple([(at, turn.role, turn.content) for at, turn in case.numbered_turns()]),
    )


def case_part(case: Case, like: Criterion) -> str:
    """The part of a prompt that only the case decides; the code of its markers is that of no ledger."""
    return "\n\n".join(_fenced_case.__wrapped__(_shown(case, like.scope), like.language, b"", HARDENED))


@lru_cache(maxsize=512)  # each pass, criterion and judge asks for it
def _fenced_case(shown: _ShownCase, language: str, secret: bytes, hardening: Hardening) -> tuple[str, ...]:
    """The texts of a case between their markers, and before them the text that explains the markers."""
    words, nonce = framing_of(language), nonce_of(shown, secret)
    documents = [f"{title}\n{text}" if title else text for title, text in shown.documents]
    return (
        *([fill(words.fence, {"nonce": nonce})] if hardening.fence else []),
        *(fenced(f"DOCUMENT {position}", text, nonce, hardening) for position, text in enumerate(documents, 1)),
        *([fenced("REFERENCE", shown.reference, nonce, hardening)] if shown.reference is not None else []),
        *_fenced_turns(shown, words.conversation, nonce, hardening),
    )


def _fenced_turns(shown: _ShownCase, words: ConversationWords, nonce: str, hardening: Hardening) -> list[str]:
    """The prompt and the response, or the turns of a conversation: those who wrote them cannot know the markers' code."""
    response = shown.response or ""
    if shown.scope == "response":
        return [fenced("PROMPT", shown.prompt, nonce, hardening), fenced("RESPONSE", response, nonce, hardening)]
    last = 1 + sum(role == "assistant" for _, role, _ in shown.turns)
    lead = fill(words.whole if shown.scope == "conversation" else words.turn, {"count": str(last)})
    name = f"TURN {last} ASSISTANT" if shown.scope == "conversation" else "RESPONSE"
    before = [fenced(f"TURN {number} {role.upper()}", text, nonce, hardening) for number, role, text in shown.turns]
    return [lead, *before, fenced(name, response, nonce, hardening)]


def case_content(case: Case, scope: Scope = "response") -> dict[str, Any]:
    """The parts of a case that a judge is shown; a judgment's key depends on them, and not on the case's id."""
    content = msgspec.structs.asdict(_shown(case, scope))
    if scope == "response":
        del content["scope"], content["turns"]
    return content


def case_nonce(case: Case, secret: bytes, scope: Scope = "response") -> str:
    """16 hexadecimal digits that cannot be predicted without the secret."""
    return nonce_of(_shown(case, scope), secret)


@lru_cache(maxsize=256)
def answer_schema(criteria: tuple[Criterion, ...]) -> Mapping[str, Any]:
    """The JSON schema of an answer; its properties have the order of the output format."""
    if len(criteria) == 1:
        # The order is that in which the criterion's output format names the keys. A name counts where it stands in quotes, as a
        # key; only one that never does counts as a word. Whether the criterion applies is said right before the score.
        verdict, text = _verdict_properties(criteria[0]), criteria[0].output_format
        places: dict[str, int] = {}
        for name in verdict:
            match = re.search(rf"[\"']{name}[\"']", text) or re.search(rf"\b{name}\b", text)
            places[name] = match.start() if match else len(text)
        if "applicable" in places:
            places["applicable"] = places["score"]  # the sort keeps the order of the properties
        return object_schema(verdict, sorted(verdict, key=lambda name: places[name]))
    properties: dict[str, Any] = {}
    for name, criterion in zip(short_names(criteria), criteria, strict=True):
        verdict = _verdict_properties(criterion)
        properties[name] = object_schema(verdict, list(verdict))
    texts = {"type": "array", "items": {"type": "string"}}
    properties |= {name: {"type": "string"} if name == "feedback" else texts for name in REMARKS}
    return object_schema(properties, list(properties))


def _verdict_properties(criterion: Criterion) -> dict[str, Any]:
    scale = criterion.scale
    score: dict[str, Any] = {"type": "number", "minimum": scale.min, "maximum": scale.max}
    if _is_whole(scale):  # graded answers are, and servers can hold a model to it
        score = {"type": "integer", "minimum": int(scale.min), "maximum": int(scale.max)}
    applicable = {"applicable": {"type": "boolean"}} if criterion.may_not_apply else {}
    return {
        "explanation": {"type": "string"},
        **applicable,
        "score": {"anyOf": [score, {"type": "null"}]} if applicable else score,
        "evidence_extracts": {"type": "array", "items": {"type": "string"}},
    }


def object_schema(properties: Mapping[str, Any], ordered: Sequence[str]) -> dict[str, Any]:
    """The schema of an object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": {name: properties[name] for name in ordered},
        "required": list(ordered),
        "additionalProperties": False,
    }


def _is_whole(scale: Scale) -> bool:
    return float(scale.min).is_integer() and float(scale.max).is_integer()
