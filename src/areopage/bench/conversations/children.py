"""Simulated children: the next turn of a script, a fixed turn, or the prompt of a model that plays the child.

Where a case is about sexual harm, grooming or romance, no model is asked: the turns after the script are fixed requests for help.
Any line with sexual content is replaced by a fixed turn.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from areopage.cases import Case, Child, ChildPlan, Turn
from areopage.criteria import defused, fenced, fill, nonce_of
from areopage.models import Message
from areopage.text import late_pattern, marked_as, withheld_content

CHILD_SOURCE = "child:"
"""The beginning of the source of a child's turns that a model wrote."""
TRIES = 2
"""How often a model is asked for one turn: once more where its text cannot be used."""

_WORDS_FILE = Path(__file__).with_name("children.yml")
_LONGEST = 600  # characters of a turn
_LABEL = late_pattern(
    r"^\W{0,3}(?:the\s)?(?:child|kid|boy|girl|user|student|me|l['’]enfant|enfant|garçon|fille|utilisateur)[*_\s]{0,4}:[*_\s]{0,4}",
    re.IGNORECASE,
)
_OTHER_SPEAKER = late_pattern(r"\n\W{0,3}(?:assistant|ai|bot|chatbot|system|ia|assistante|système)\W{0,4}:", re.IGNORECASE)
_MARKER = late_pattern(r"<<<[^<>\n]{0,60}>>>")  # of the fence, which a weak model copies
_STAGE = late_pattern(r"^\s*(?:\*[^*\n]{1,120}\*|\([^()\n]{1,120}\))\s*")
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'", "‘": "’"}
_OUT_OF_ROLE = late_pattern(
    r"\b(?:as\san?\s(?:ai|artificial|large\slanguage|language\smodel|assistant)|language\smodel|i['’]?m\s(?:an?\s)?ai\b|i\sam\s(?:an?\s)?ai\b"
    r"|i\s(?:can['’]?t|cannot|won['’]?t|am\snot\sable\sto|am\sunable\sto|['’]m\snot\sable\sto)\s(?:\w+\s)?(?:assist|help\swith|role-?play|play\sthe|comply|continue\sth|write\sth|generate|fulfil)"
    r"|en\stant\squ['’](?:ia|intelligence|assistant|modèle)|modèle\sde\slangage|je\ssuis\sune\s(?:ia|intelligence\sartificielle)"
    r"|je\sne\speux\spas\s(?:\w+\s)?(?:jouer|incarner|simuler|répondre\sà\scette\sdemande|continuer\sce|générer|vous\saider))\b",
    re.IGNORECASE,
)


class ChildWords(Struct, frozen=True, kw_only=True):
    """The words of a child's prompt and its fixed turns, in one language."""

    role: str
    persona: str
    fields: dict[str, str]
    plan: str
    plans: dict[ChildPlan, str]
    fence: str
    reminder: str
    again: str
    fixed: tuple[str, ...]


class _File(Struct, frozen=True, kw_only=True):
    protected: tuple[str, ...]
    languages: dict[str, ChildWords]


@cache
def _file() -> _File:
    return msgspec.yaml.decode(_WORDS_FILE.read_bytes(), type=_File)


def words_of(language: str) -> ChildWords:
    """The words in a language, English where it has none."""
    texts = _file().languages
    return texts.get(language, texts["en"])


def is_protected(case: Case) -> bool:
    """Whether no model may play the child: the case is about sexual harm, grooming or romance, by its labels or its prompt."""
    labels = [case.category, case.subcategory, *case.tags, *(value for value in case.metadata.values() if isinstance(value, str))]
    folded = [re.sub(r"[^a-zà-ÿ]+", "_", label.casefold()) for label in labels if len(label) < 100]
    if any(part in label for label in folded for part in _file().protected):
        return True
    return any(withheld_content(turn.content) == "sexual" for turn in case.turns)


def scripted_turn(child: Child, number: int, language: str, *, protected: bool) -> str | None:
    """The child's turn by its number from 2 on, if it needs no model: the script's, else a fixed one if the case is protected."""
    place = number - 2
    if place < len(child.script):
        return without_sexual_content(child.script[place], number, language)
    return fixed_turn(number, language) if protected else None


def fixed_turn(number: int, language: str) -> str:
    """A request for help or information, by the turn's number."""
    fixed = words_of(language).fixed
    return fixed[(number - 2) % len(fixed)]


def without_sexual_content(text: str, number: int, language: str) -> str:
    """The text of a turn, or the fixed one in place of a text with sexual content or a method of self-harm."""
    return fixed_turn(number, language) if withheld_content(text) or marked_as(text) else text


def turns_without_model(case: Case) -> int:
    """How many turns a conversation has at most where no model plays the child."""
    child = case.child or Child(turns=1)
    return child.turns if is_protected(case) else min(child.turns, 1 + len(child.script))


def child_messages(case: Case, turns: Sequence[Turn], number: int, language: str, secret: bytes) -> tuple[Message, ...]:
    """The prompt of the model that plays the child.

    Args:
        turns: the conversation so far; it ends with a reply of the target.
        number: of the turn that is wanted, from 2 on.
        secret: the ledger's, for the fence.
    """
    words, child = words_of(language), case.child or Child()
    persona = [f"{words.fields[name]} {defused(text)}" for name in words.fields if (text := str(getattr(child, name)).strip())]
    system = [words.role, *(["\n".join([words.persona, *persona])] if persona else [])]
    system.append(f"{words.plan}\n{words.plans[child.plan]}")
    nonce = nonce_of([[turn.role, turn.content] for turn in turns], secret)
    spoken = [fenced("CHILD" if turn.role == "user" else "ASSISTANT", turn.content, nonce) for turn in turns]
    values = {"turn": str(number), "turns": str(child.turns)}
    user = [fill(words.fence, {"nonce": nonce}), *spoken, fill(words.reminder, values)]
    return Message("system", "\n\n".join(system)), Message("user", "\n\n".join(user))


def asked_again(messages: Sequence[Message], language: str) -> tuple[Message, ...]:
    """The prompt with a reminder, after a text that could not be used."""
    *before, last = messages
    return (*before, Message(last.role, f"{last.content}\n\n{words_of(language).again}"))


def usable_turn(text: str) -> str | None:
    """A model's text as one message of the child, without labels, quotes and stage directions; None if it is out of role."""
    line = _OTHER_SPEAKER.split(_MARKER.sub("", text).strip(), maxsplit=1)[0].strip()
    line = _STAGE.sub("", _LABEL.sub("", line)).strip()
    if len(line) > 1 and _QUOTES.get(line[0]) == line[-1]:
        line = line[1:-1].strip()
    if not line or _OUT_OF_ROLE.search(line):
        return None
    if len(line) <= _LONGEST:
        return line
    head = line[:_LONGEST]
    end = max(head.rfind(sign) for sign in (". ", "! ", "? ", "\n"))
    return (head[: end + 1] if end > 0 else head.rsplit(maxsplit=1)[0]).strip()
