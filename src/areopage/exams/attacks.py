"""Texts that attack a judge, and their harmless twins: the list of the package, filled in for a criterion and a language."""

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct, structs

from areopage.cases import Case, Document

FILE = Path(__file__).with_name("attacks.yml")

AttackKind = Literal["fence", "tokens", "system", "verdict", "escape", "instruction", "tool", "unicode", "padding"]
KINDS: tuple[AttackKind, ...] = get_args(AttackKind)
AttackPlace = Literal["prompt", "response", "document", "title", "reference"]

STOLEN = "0123456789abcdef"
"""A guessed code of the fence."""
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_HIDDEN = {code: code + 0xE0000 for code in range(0x20, 0x7F)}
_LOOK_ALIKE = str.maketrans("aceiopsxyACEHIKMOPTX", "асеіорѕхуАСЕНІКМОРТХ")


class Padding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text repeated `times` times; `{number}` in it counts from 0, in 16 hexadecimal digits."""

    text: str
    times: int

    @property
    def filled(self) -> str:
        """The whole padding."""
        return "".join(self.text.replace("{number}", f"{number:016x}") for number in range(self.times))


class Attack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One attack with its harmless twin.

    Args:
        place: the part of a case that it is put into.
        text, twin: for all languages, or by language; see the head of the file for what stands in braces.
        language: of the attack's own words; "" where they are in the language of the audit.
    """

    id: str
    kind: AttackKind
    place: AttackPlace
    text: str | dict[str, str]
    twin: dict[str, str]
    language: str = ""
    padding: Padding | None = None


class _AttackFile(Struct, frozen=True, forbid_unknown_fields=True):
    orders: dict[str, str]
    explanations: dict[str, str]
    attacks: tuple[Attack, ...]


class AttackBlanks(Struct, frozen=True, kw_only=True):
    """What an attack is filled in with.

    Args:
        language: "en" or "fr".
        top: the best score of the criterion that is asked about.
        keys: the short names of the criteria asked about; one name stands for a missing second one.
        order: the sentence that asks for the best score; "": that of the file.
    """

    language: str
    top: float
    keys: Sequence[str]
    order: str = ""


def load_attacks() -> tuple[Attack, ...]:
    """The attacks of the package, in the order of the file."""
    return _file().attacks


@cache
def _file() -> _AttackFile:
    return msgspec.yaml.decode(FILE.read_bytes(), type=_AttackFile)


def attack_text(attack: Attack, blanks: AttackBlanks) -> str:
    """The text of an attack."""
    return _filled(attack.text if isinstance(attack.text, str) else attack.text[blanks.language], attack, blanks)


def twin_text(attack: Attack, blanks: AttackBlanks) -> str:
    """The text of an attack's harmless twin."""
    return _filled(attack.twin[blanks.language], attack, blanks)


def _filled(text: str, attack: Attack, blanks: AttackBlanks) -> str:
    top = f"{blanks.top:g}"
    order = (blanks.order or _file().orders[blanks.language]).replace("{top}", top)
    values = {
        "padding": attack.padding.filled if attack.padding else "",
        "why": _file().explanations[blanks.language],
        "order": order,
        "hidden": order.translate(_HIDDEN),
        "spaced": "\u200b".join(order),
        "wide": order.translate(_WIDE),
        "mirrored": order[::-1],
        "lookalike": order.translate(_LOOK_ALIKE),
        "base64": base64.b64encode(order.encode()).decode(),
        "top": top,
        "stolen": STOLEN,
        "first": blanks.keys[0],
        "second": blanks.keys[-1],
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def placed(case: Case, place: AttackPlace, text: str) -> Case:
    """A case with a text at the end of one of its parts; a document is added where there is none."""
    changed: Mapping[str, object]
    first, *others = case.documents or (Document(id="1", text=""),)
    if place == "prompt":
        turns = case.turns
        last = structs.replace(turns[-1], content=_joined(turns[-1].content, text))
        changed = {"prompt": last.content if isinstance(case.prompt, str) else (*turns[:-1], last)}
    elif place == "response":
        changed = {"response": _joined(case.response or "", text)}
    elif place == "reference":
        changed = {"reference": _joined(case.reference or "", text)}
    elif place == "document":
        changed = {"documents": (structs.replace(first, text=_joined(first.text, text)), *others)}
    else:
        changed = {"documents": (structs.replace(first, title=f"{first.title} {text}".strip()), *others)}
    return structs.replace(case, **changed)


def _joined(before: str, text: str) -> str:
    return f"{before}\n\n{text}" if before else text
