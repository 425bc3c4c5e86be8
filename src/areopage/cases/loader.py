"""Load datasets: several files become one list of cases, and every row that cannot be used says why."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.columns import LATE_HEADER, ColumnPlan, field_named, is_later_header, names_prompt, plan_columns
from areopage.cases.documents import read_documents
from areopage.cases.maturity import normalise_maturity
from areopage.cases.readers import has_header, read_rows
from areopage.cases.records import MATURITIES, Case, Child, Dataset, RejectedRow, Turn
from areopage.cases.rows import BadRow, Row, clip
from areopage.cases.sources import DatasetSource, source_of
from areopage.cases.text_files import table_writer
from areopage.errors import DatasetError, name_list, writing

_DOTTED = re.compile(r"([^\W\d][\w-]*)\.([^\W\d][\w-]*)(?:\.([^\W\d][\w-]*))?")
MAX_CASES = 100_000
_SHOWN_REASONS = 3
_TITLE_ROWS = 10  # a title above a header ends before
FIRST_ROWS = 2
"""A column that is missing here is missing everywhere: the header is the first row, or the first object."""


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
    child = _read_child(fields.get("child"))
    reference = _read_long_text(fields, "reference")
    documents = read_documents(fields.get("documents"))
    maturity = normalise_maturity(fields.get("maturity")) or ""
    tags = fields.get("tags")
    listed = tags if isinstance(tags, list | tuple) else re.split("[,;]", _text_of(tags, "tags"))
    category, subcategory = _read_category(fields, metadata)
    case = Case(
        id=_text_of(fields.get("id"), "id").strip(),
        prompt=prompt,
        response=response,
        documents=documents,
        reference=reference,
        category=category,
        subcategory=subcategory,
        maturity=maturity,
        source=_text_of(fields.get("source"), "source").strip() or path.name,
        criteria_selection=_text_of(fields.get("criteria_selection"), "criteria_selection").strip(),
        tags=tuple(dict.fromkeys(tag for item in listed if (tag := _text_of(item, "tags").strip()))),
        system=_read_long_text(fields, "system") or "",
        child=child,
        metadata=metadata,
    )
    _refuse_unusable(case, rules)
    # The id is taken before the default is filled in: another default must not rename the cases.
    case_id, spare_id = case.id, ""
    if not case_id:
        # from what is judged, so that neither order nor other columns change it, and one from the whole row
        judged: tuple[object, ...] = (case.prompt, case.response, case.reference, case.documents, case.maturity)
        judged += (case.system, case.child) if case.system or case.child else ()
        case_id = f"{path.stem}-{_digest(judged, 16)}"
        spare_id = f"{case_id}-{_digest(case, 8)}"
    filled = msgspec.structs.replace(case, id=case_id, maturity=maturity or rules.default_maturity)
    return Built(filled, maturity_defaulted=bool(rules.default_maturity) and not maturity, spare_id=spare_id)


_TURNS = re.compile(r"""\s*\[\s*\{\s*"(role|content)"\s*:""")
"""How the JSON of turns begins in a cell of a table."""


def _read_prompt(value: Any) -> str | tuple[Turn, ...]:
    if isinstance(value, str) and _TURNS.match(value):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
            raise ValueError(f"prompt: not valid JSON of turns: {fault}") from fault
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
    text = _text_of(fields.get(field), field)
    return text if text.strip() else None


def _read_child(value: Any) -> Child | None:
    if _is_empty(value):
        return None
    try:
        child = msgspec.json.decode(value, type=Child) if isinstance(value, str) else msgspec.convert(value, Child)
    except msgspec.DecodeError as fault:
        raise ValueError(f"child: {fault}") from fault
    if not all(line.strip() for line in child.script):
        raise ValueError("child: a line of the script is empty")
    return child


def _read_category(fields: dict[str, Any], metadata: dict[str, Any]) -> tuple[str, str]:
    """Split a dotted category into category, sub-category and criterion; what the row says elsewhere wins."""
    category, subcategory = (
        _text_of(fields.get("category"), "category").strip(),
        _text_of(fields.get("subcategory"), "subcategory").strip(),
    )
    if dotted := _DOTTED.fullmatch(category):
        category, subcategory = dotted[1], subcategory or dotted[2]
        if dotted[3]:
            metadata.setdefault("criterion", dotted[3])
    return category, subcategory


def _refuse_unusable(case: Case, rules: BuildRules) -> None:
    if case.child is not None and case.response is not None:
        raise ValueError("the row has both a child, who needs a target to talk to, and a response: remove one of them")
    length = sum(len(turn.content) for turn in case.turns)
    if rules.max_prompt_length is not None and length > rules.max_prompt_length:
        raise ValueError(f"the prompt has {length:,} characters, {rules.max_prompt_length:,} are allowed")
    response_length = len(case.response or "")
    if rules.max_response_length is not None and response_length > rules.max_response_length:
        raise ValueError(f"the response has {response_length:,} characters, {rules.max_response_length:,} are allowed")
    texts = [case.id, case.prompt_text, case.response or "", case.reference or "", case.system, *case.tags]
    texts += [str(value) for value in msgspec.structs.astuple(case.child)] if case.child else []
    if any("\0" in text for text in [*texts, *(document.text for document in case.documents)]):
        # Neither PostgreSQL nor a C string can hold it.
        raise ValueError("the row contains a NUL character")


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


def _about_header(row: Row, path: Path) -> str:
    """What to say of a header by the first row below it."""
    if path.suffix.lower() == ".parquet" or names_prompt(row.names):
        return ""
    later = f"; row {row.number} {LATE_HEADER}" if is_later_header(row.cells, row.names) else ""
    return later or "; the first filled row was taken for the header"


class _DatasetIntake:
    """The state of one load: what was accepted, what was not, and where each id was first seen."""

    def __init__(self, rules: BuildRules, max_cases: int) -> None:
        self._rules, self._max_cases = rules, max_cases
        self.places: dict[str, tuple[str, int]] = {}
        """The file and row of each case, by its id."""
        self.lines: dict[str, int] = {}
        self.cases: list[Case] = []
        self.rejected: list[RejectedRow] = []
        self.maturity_defaulted = 0
        self.unread: dict[str, None] = {}
        self.response_columns: dict[str, None] = {}

    def take(self, row: Row | BadRow, path: Path) -> None:
        if isinstance(row, BadRow):
            self._reject(path, row.number, row.reason, row.content)
            return
        try:
            try:
                plan = plan_columns(row.names, self._rules.left_out)
            except DatasetError as fault:
                if has_header(path):
                    raise DatasetError(f"{path}: {fault}{_about_header(row, path)}") from fault
                raise ValueError(str(fault)) from fault  # an object that is of no use is one bad row
            if row.number <= _TITLE_ROWS and has_header(path) and is_later_header(row.cells, row.names):
                raise DatasetError(f"{path}: row {row.number} {LATE_HEADER}")
            built = build_case(row, plan, path, self._rules)
            case = built.case
            if case.id in self.places and built.spare_id:
                case = msgspec.structs.replace(case, id=built.spare_id)
            if first := self.places.get(case.id):
                what = "the same row stands at" if built.spare_id else f"the id {clip(case.id, 80)!r} is taken by"
                raise ValueError(f"{what} {first[0]} row {first[1]}")
        except ValueError as fault:
            self._reject(path, row.number, str(fault), _content(row))
            return
        if len(self.cases) >= self._max_cases:
            raise DatasetError(f"{path}: row {row.number}: more than {self._max_cases:,} usable cases: split the file")
        self.cases.append(case)
        self.places[case.id] = (str(path), row.number)
        if row.line:
            self.lines[case.id] = row.line
        self.maturity_defaulted += built.maturity_defaulted
        self.unread.update((name, None) for _, name in plan.unread)
        if case.response is not None:
            self.response_columns[row.names[plan.fields["response"]]] = None

    def _reject(self, path: Path, number: int, reason: str, content: str) -> None:
        if len(self.rejected) >= self._max_cases:
            raise DatasetError(f"more than {self._max_cases:,} rows are unusable: {_first_reasons(self.rejected)}")
        self.rejected.append(RejectedRow(file=str(path), row=number, reason=reason, content=content))


def load_dataset(
    paths: Sequence[Path | DatasetSource],
    *,
    default_maturity: str,
    limit: int | None = None,
    max_cases: int = MAX_CASES,
    max_prompt_length: int | None = None,
    max_response_length: int | None = None,
) -> Dataset:
    """Read several files in order into one dataset.

    Args:
        paths: files and folders, or what of them is read (see `sources`).
        default_maturity: one of `MATURITIES`, for rows that name none; "" where the suite knows no audience:
            then no maturity is read, and a column of that name goes to the metadata.
        limit: the most usable cases to read, from 1; None reads everything.
        max_cases: more usable cases (or more rejected rows) than this are refused, since they are held in memory.
        max_prompt_length: longer prompts are rejected, in characters.
        max_response_length: longer responses are rejected, in characters.

    Raises:
        DatasetError: a file cannot be read, its header names no prompt, no row is usable, or there are too many.
        MissingExtra: a format needs a part that is not installed.
    """
    if default_maturity and default_maturity not in MATURITIES:
        raise DatasetError(f"the default maturity {default_maturity!r} is not one of {name_list(MATURITIES)}")
    if limit is not None and limit < 1:
        raise DatasetError(f"the limit is {limit}: it must be at least 1")
    if not paths:
        raise DatasetError("no dataset given: give --dataset FILE")
    rules = BuildRules(
        default_maturity=default_maturity, max_prompt_length=max_prompt_length, max_response_length=max_response_length
    )
    intake = _DatasetIntake(rules, max_cases)
    sources = [item if isinstance(item, DatasetSource) else source_of(item) for item in paths]
    for source, path in ((named, file) for named in sources for file in named.files()):
        with closing(read_rows(path)) as rows:
            for row in rows:
                intake.take(_renamed(row, source.columns, path) if source.columns else row, path)
                if len(intake.cases) == limit:
                    break
        if len(intake.cases) == limit:
            break
    if not intake.cases:
        names = name_list(str(source.path) for source in sources)
        raise DatasetError(f"{names}: no row is usable ({len(intake.rejected)} rejected): {_first_reasons(intake.rejected)}")
    return Dataset(
        cases=tuple(intake.cases),
        rejected=tuple(intake.rejected),
        maturity_defaulted=intake.maturity_defaulted,
        unread_columns=tuple(intake.unread),
        response_columns=tuple(intake.response_columns),
        places=intake.places,
        lines=intake.lines,
    )


def write_rejected(rejected: Sequence[RejectedRow], path: Path) -> None:
    """Write the rejected rows as CSV (UTF-8 with a mark that spreadsheets look for), replacing the file."""
    with writing(path), path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="") as stream:
        write = table_writer(stream)
        write(("file", "row", "reason", "content"))
        for row in rejected:
            write((row.file, row.row, row.reason, row.content))


def _renamed(row: Row | BadRow, columns: Mapping[str, str], path: Path) -> Row | BadRow:
    """A row whose columns have the names of their fields; another column of such a name keeps it, led by `source_`."""
    if isinstance(row, BadRow):
        return row
    if absent := [name for name in columns if name not in row.names]:
        if row.number <= FIRST_ROWS:
            raise DatasetError(f"{path}: no column {absent[0]!r}: there is {name_list(row.names, limit=20)}")
        return BadRow(row.number, f"no column {absent[0]!r}", _content(row))
    fields = set(columns.values())
    names = (columns.get(name) or (f"source_{name}" if field_named(name) in fields else name) for name in row.names)
    return Row(row.number, tuple(names), row.cells, row.line)


def _content(row: Row) -> str:
    pairs = zip(row.names, row.cells, strict=True)
    return clip(msgspec.json.encode(dict(pairs)).decode())


def _first_reasons(rejected: Sequence[RejectedRow]) -> str:
    first: dict[str, RejectedRow] = {}
    for row in rejected:
        first.setdefault(row.reason, row)
    return "; ".join(f"{row.file} row {row.row}: {row.reason}" for row in list(first.values())[:_SHOWN_REASONS])
