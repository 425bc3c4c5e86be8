"""Turn one row into a Case, or say why it cannot be one."""

import hashlib
import math
import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.columns import ColumnPlan
from areopage.cases.documents import read_documents
from areopage.cases.maturity import normalise_maturity
from areopage.cases.records import Case, Turn
from areopage.cases.rows import Row

_DOTTED = re.compile(r"([^\W\d][\w-]*)\.([^\W\d][\w-]*)(?:\.([^\W\d][\w-]*))?")


class BuildRules(Struct, frozen=True, kw_only=True):
    """What holds for every row of a load.

    `default_maturity` is for rows that name none; "" means that the suite knows no audience. Lengths are in characters;
    None is no limit.
    """

    default_maturity: str
    max_prompt_length: int | None = None
    max_response_length: int | None = None

    @property
    def left_out(self) -> frozenset[str]:
        """The fields that are not read: where no audience is known, "notaries" is no maturity but only metadata."""
        return frozenset() if self.default_maturity else frozenset({"maturity"})


class Built(Struct, frozen=True):
    """A case, and whether its maturity is the default.

    `spare_id` is for a case that brought no id, should another row have the same content and differ in other columns
    (two models that refuse in the same words); "" where the row named its id.
    """

    case: Case
    maturity_defaulted: bool
    spare_id: str = ""


def build_case(row: Row, plan: ColumnPlan, path: Path, rules: BuildRules) -> Built:
    """Build the case of a row.

    Raises:
        ValueError: the row cannot be used; the message is the reason, in one line.
    """
    fields = {field: row.cells[position] for field, position in plan.fields.items()}
    metadata = {name: row.cells[position] for position, name in plan.unread if not _is_empty(row.cells[position])}
    prompt = _read_prompt(fields["prompt"])
    response = _read_long_text(fields, "response")
    reference = _read_long_text(fields, "reference")
    documents = read_documents(fields.get("documents"))
    maturity = normalise_maturity(fields.get("maturity")) or ""
    category, subcategory = _read_category(fields, metadata)
    case = Case(
        id=_read_label(fields, "id"),
        prompt=prompt,
        response=response,
        documents=documents,
        reference=reference,
        category=category,
        subcategory=subcategory,
        maturity=maturity,
        source=_read_label(fields, "source") or path.name,
        criteria_selection=_read_label(fields, "criteria_selection"),
        metadata=metadata,
    )
    _refuse_unusable(case, rules)
    # The id is taken before the default is filled in: another default must not rename the cases.
    case_id, spare_id = (case.id, "") if case.id else _content_ids(case, path.stem)
    filled = msgspec.structs.replace(case, id=case_id, maturity=maturity or rules.default_maturity)
    return Built(filled, maturity_defaulted=bool(rules.default_maturity) and not maturity, spare_id=spare_id)


def _read_prompt(value: Any) -> str | tuple[Turn, ...]:
    if isinstance(value, list):
        try:
            turns = msgspec.convert(value, tuple[Turn, ...])
        except msgspec.ValidationError as fault:
            raise ValueError(f"prompt: not a list of turns with role (user, assistant) and content: {fault}") from fault
        if not turns or not all(turn.content.strip() for turn in turns):
            raise ValueError("the prompt is empty, or one of its turns is")
        if turns[-1].role != "user":
            raise ValueError("prompt: the last turn must be the user's: put the answer into response")
        return turns
    prompt = _text_of(value, "prompt")
    if not prompt.strip():
        raise ValueError("the prompt is empty")
    return prompt


def _read_long_text(fields: dict[str, Any], field: str) -> str | None:
    """Return the text as written, None where the cell is empty."""
    text = _text_of(fields.get(field), field)
    return text if text.strip() else None


def _read_label(fields: dict[str, Any], field: str) -> str:
    return _text_of(fields.get(field), field).strip()


def _read_category(fields: dict[str, Any], metadata: dict[str, Any]) -> tuple[str, str]:
    """Split a dotted category into category, sub-category and criterion; what the row says elsewhere wins."""
    category, subcategory = _read_label(fields, "category"), _read_label(fields, "subcategory")
    if dotted := _DOTTED.fullmatch(category):
        category, subcategory = dotted[1], subcategory or dotted[2]
        if dotted[3]:
            metadata.setdefault("criterion", dotted[3])
    return category, subcategory


def _refuse_unusable(case: Case, rules: BuildRules) -> None:
    length = sum(len(turn.content) for turn in case.turns)
    if rules.max_prompt_length is not None and length > rules.max_prompt_length:
        raise ValueError(f"the prompt has {length:,} characters, {rules.max_prompt_length:,} are allowed")
    response_length = len(case.response or "")
    if rules.max_response_length is not None and response_length > rules.max_response_length:
        raise ValueError(f"the response has {response_length:,} characters, {rules.max_response_length:,} are allowed")
    texts = [case.id, case.prompt_text, case.response or "", case.reference or ""]
    if any("\0" in text for text in [*texts, *(document.text for document in case.documents)]):
        # Neither PostgreSQL nor a C string can hold it.
        raise ValueError("the row contains a NUL character")


def _content_ids(case: Case, stem: str) -> tuple[str, str]:
    """Derive an id from what is judged, so that neither order nor other columns change it, and one from the whole row."""
    judged = (case.prompt, case.response, case.reference, case.documents, case.maturity)
    case_id = f"{stem}-{_digest(judged, 16)}"
    return case_id, f"{case_id}-{_digest(case, 8)}"


def _digest(value: Any, length: int) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:length]


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and math.isnan(value))


def _text_of(value: Any, field: str) -> str:
    """Return a cell as text: a whole number without ".0", nothing for an empty cell or a missing number."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{field} must be text")
