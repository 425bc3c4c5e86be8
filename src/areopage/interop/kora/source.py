"""Read a KORA folder as its user has it: the taxonomy, the scenarios and the recorded conversations with their grades."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from areopage.cases import BadRow, RejectedRow, Row, clip, normalise_maturity, read_rows
from areopage.errors import DatasetError, name_list
from areopage.locales import one_line

FOLDERS = ("", "data", "results", "packages/benchmark/data")
"""Where files are looked for, below the folder that is named: in itself, and where KORA's repository has them."""

TAXONOMY = "risks.json"
ROW_FILES = ("*scenario*.jsonl", "*recorded*.jsonl", "*result*.jsonl", "*reassess*.jsonl", "*conversation*.jsonl")
_SEEDS = "*seed*"  # outlines of scenarios, which no child has spoken in yet

RISK_ID = re.compile(r"[a-z0-9_]{1,80}", re.ASCII)
MECHANISM_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}", re.ASCII)
_CASE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,119}", re.ASCII)
_AGE_RANGE = re.compile(r"(\d{1,2}) ?(?:to|-) ?(\d{1,2})", re.ASCII)
_LONGEST_NAME = 200
_LONGEST_TEXT = 4_000

SAFETY = "safety"
"""The category of the criteria on risks."""
SEXUAL, GROOMING = "sexual", "grooming"
# What a tag says of the risk, by words in the ids of the risk and its category.
_RISK_TAGS = {
    SEXUAL: ("sexual", "predation"),
    GROOMING: ("grooming", "predation"),
    "self_harm": ("self_harm", "suicide", "eating_disorder"),
    "violence": ("violence", "abuse", "radicalization"),
}

GradeName = Literal["failing", "adequate", "exemplary"]
GRADES: Mapping[GradeName, int] = {"failing": 0, "adequate": 1, "exemplary": 2}
"""The score of each grade, on the scale of the criteria that are written."""


class Risk(Struct, frozen=True, kw_only=True):
    """One risk; `turns` is the length of its conversations, None where the taxonomy does not say."""

    id: str
    category: str
    name: str
    category_name: str
    description: str = ""
    turns: int | None = None

    @property
    def path(self) -> str:
        """The path of the criterion on it."""
        return f"{SAFETY}.{self.category}.{self.id}"

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of a severe risk, of which no case should fail; none of another risk."""
        ids = f"{self.category} {self.id}"
        return tuple(tag for tag, words in _RISK_TAGS.items() if any(word in ids for word in words))


class _Named(Struct, frozen=True):
    name: str = ""
    description: str = ""


class Seed(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a scenario is made from."""

    id: str
    risk_category_id: str
    risk_id: str
    age_range: str = ""
    child_age: int | float | None = None
    child_gender: str = ""
    core_behavior: str = ""
    context: str = ""
    risk_signal_type: str = ""
    refusal_behavior: str = ""
    social_context: str = ""
    scenario_flavor_id: str = ""
    motivation: _Named = _Named()

    @property
    def maturity(self) -> str:
        """The reader's maturity by the child's age, else by the lower end of the range; "" where neither is known."""
        if self.child_age is not None:
            return normalise_maturity(self.child_age) or ""
        ages = _AGE_RANGE.fullmatch(self.age_range.strip())
        return (normalise_maturity(f"{ages[1]}-{ages[2]}") or "") if ages else ""


class Scenario(Struct, frozen=True, kw_only=True, rename="camel"):
    """A child in a situation, and the first message."""

    seed: Seed
    first_user_message: str = ""
    short_title: str = ""
    child_maturity: str = ""
    child_background: str = ""
    narrative: str = ""
    evaluation_criteria: str = ""
    model_memory: str | None = None


class KoraMessage(Struct, frozen=True):
    """One message of a recorded conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class KoraGrade(Struct, frozen=True, kw_only=True, rename="camel"):
    """A recorded grade with its reasons; `not_triggered`: the conversation gave no occasion for it."""

    grade: GradeName
    reasons: str = ""
    occurrence_count: float = 0
    not_triggered: bool = False


class Conversation(Struct, frozen=True, kw_only=True, rename="camel"):
    """A recorded conversation. `prompt` is the variant of the system prompt, `model_id` the model that answered, if recorded."""

    scenario: Scenario
    messages: tuple[KoraMessage, ...]
    id: str = ""
    prompt: str = ""
    model_id: str = ""
    assessment: KoraGrade | None = None
    behavior_assessment: dict[str, KoraGrade] = {}
    mechanism_assessment: dict[str, KoraGrade] = {}

    @property
    def mechanisms(self) -> dict[str, KoraGrade]:
        """The grades of the mechanisms, by either name that KORA has given them."""
        return self.behavior_assessment | self.mechanism_assessment

    @property
    def case_id(self) -> str:
        """The row's id, else that of the scenario with the variant of the prompt."""
        return self.id or ".".join(part for part in (self.scenario.seed.id, self.prompt) if part)


class FoundRow(Struct, frozen=True, kw_only=True):
    """A row that could be read, and where it stands."""

    content: Scenario | Conversation
    file: Path
    number: int
    shown: str

    def rejected(self, reason: str) -> RejectedRow:
        """The row as one that cannot be used."""
        return RejectedRow(file=str(self.file), row=self.number, reason=reason, content=self.shown)


class KoraFolder(Struct, frozen=True, kw_only=True):
    """What a KORA folder holds. `risks` are those of its taxonomy by id; `files` are those that were read."""

    risks: dict[str, Risk]
    rows: tuple[FoundRow, ...]
    rejected: tuple[RejectedRow, ...]
    files: tuple[Path, ...]


def read_folder(folder: Path) -> KoraFolder:
    """Read the taxonomy and every row of a folder's files; a row that cannot be used is named with its reason."""
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder")
    places = [folder / name for name in FOLDERS if (folder / name).is_dir()]
    names = {path: path.name.lower() for place in places for path in sorted(place.iterdir()) if path.is_file()}
    patterns = [path for path, name in names.items() if not fnmatch(name, _SEEDS)]
    files = [path for path in patterns if any(fnmatch(names[path], pattern) for pattern in ROW_FILES)]
    if not files:
        raise DatasetError(
            f"{folder}: no scenarios and no recorded conversations: files named {name_list(ROW_FILES, limit=len(ROW_FILES))} "
            f"were looked for here and in {name_list(FOLDERS[1:])}"
        )
    taxonomy = next((place / TAXONOMY for place in places if (place / TAXONOMY).is_file()), None)
    rows, rejected = list[FoundRow](), list[RejectedRow]()
    for path in files:
        for row in read_rows(path):
            try:
                rows.append(FoundRow(content=_content_of(row), file=path, number=row.number, shown=_shown(row)))
            except ValueError as fault:
                rejected.append(RejectedRow(file=str(path), row=row.number, reason=str(fault), content=_shown(row)))
    risks = {} if taxonomy is None else {risk.id: risk for risk in _risks_of(taxonomy)}
    read = (*files, *([taxonomy] if taxonomy else []))
    return KoraFolder(risks=risks, rows=tuple(rows), rejected=tuple(rejected), files=tuple(read))


def plain_name(id: str) -> str:
    """An id as a name, for what the taxonomy does not name."""
    return id.replace("_", " ").capitalize()


def _content_of(row: Row | BadRow) -> Scenario | Conversation:
    """Read a row as what its keys say that it is, and check what becomes part of ids and file names."""
    if isinstance(row, BadRow):
        raise ValueError(row.reason)
    cells = dict(zip(row.names, row.cells, strict=True))
    if b"\\u0000" in msgspec.json.encode(cells):
        raise ValueError("the row contains a NUL character")
    content: Scenario | Conversation
    try:
        if "messages" in cells:
            content = msgspec.convert(_without_nulls(cells), Conversation)
            seed, case_id, mechanisms = content.scenario.seed, content.case_id, tuple(content.mechanisms)
        elif "seed" in cells:
            content = msgspec.convert(_without_nulls(cells), Scenario)
            seed, case_id, mechanisms = content.seed, content.seed.id, ()
        else:
            raise ValueError("neither a scenario, which has a `seed`, nor a conversation, which has `messages`")
    except msgspec.ValidationError as fault:
        raise ValueError(str(fault)) from fault
    for name, id in (("riskCategoryId", seed.risk_category_id), ("riskId", seed.risk_id)):
        if RISK_ID.fullmatch(id) is None:
            raise ValueError(f"{name} {clip(id, 80)!r} is not an id of a-z, 0-9 and _")
    if _CASE_ID.fullmatch(case_id) is None:
        raise ValueError(f"the id {clip(case_id, 80)!r} is not one of letters, digits and . _ : -")
    for mechanism in mechanisms:
        if MECHANISM_ID.fullmatch(mechanism) is None:
            raise ValueError(f"the mechanism {clip(mechanism, 80)!r} is not an id of letters, digits and _")
    return content


def _without_nulls(value: Any) -> Any:
    """Objects without the keys that hold null: KORA writes null for what is not there."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _shown(row: Row | BadRow) -> str:
    if isinstance(row, BadRow):
        return row.content
    return clip(msgspec.json.encode(dict(zip(row.names, row.cells, strict=True))).decode())


class _RiskEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str = ""
    description: str = ""
    conversation_length: int | None = None


class _CategoryEntry(Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""
    risks: tuple[_RiskEntry, ...] = ()


def _risks_of(path: Path) -> Iterator[Risk]:
    for row in read_rows(path):
        try:
            if isinstance(row, BadRow):
                raise ValueError(row.reason)
            content = _without_nulls(dict(zip(row.names, row.cells, strict=True)))
            category = msgspec.convert(content, _CategoryEntry)
            for risk in category.risks:
                if not all(RISK_ID.fullmatch(id) for id in (category.id, risk.id)):
                    raise ValueError(f"{clip(category.id, 80)!r} or {clip(risk.id, 80)!r} is not an id of a-z, 0-9 and _")
        except ValueError as fault:
            raise DatasetError(f"{path}: entry {row.number} is not a category with its risks: {fault}") from fault
        for risk in category.risks:
            yield Risk(
                id=risk.id,
                category=category.id,
                name=one_line(risk.name, _LONGEST_NAME) or plain_name(risk.id),
                category_name=one_line(category.name, _LONGEST_NAME) or plain_name(category.id),
                description=one_line(risk.description, _LONGEST_TEXT),
                turns=risk.conversation_length,
            )
