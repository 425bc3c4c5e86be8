"""Recognise the columns of a dataset by their names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct

from areopage.cases.rows import clip
from areopage.errors import DatasetError, name_list
from areopage.text import plain

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        field: tuple(names.split(", "))
        for field, names in {
            "id": "id, guid, uuid, prompt_id, question_id, case_id, record_id, identifiant",
            "prompt": (
                "prompt, prompt_text, question, question_text, query, input, user_input, user_prompt, messages, requête, invite"
            ),
            "category": "category, catégorie",
            "subcategory": "subcategory, sous-catégorie",
            "maturity": (
                "maturity, maturity_band, age, age_group, age_band, age_range, audience, maturité, tranche d'âge, "
                "groupe d'âge, public cible"
            ),
            "source": "source, origin, provenance, origine",
            "criteria_selection": "criteria_selection, criteria, critères, sélection de critères",
            "tags": "tags, tag, étiquettes, mots-clés",
            "system": "system, system_prompt, system_message, invite système, message système",
            "child": "child, simulated_child, enfant_simulé",
            "response": (
                "response, response_text, answer, answer_text, output, completion, generation, model_response, model_answer, "
                "model_output, réponse"
            ),
            "reference": (
                "reference, reference_answer, expected, expected_answer, expected_output, expected_response, gold, "
                "gold_answer, ground_truth, référence, réponse attendue, réponse de référence"
            ),
            "documents": (
                "documents, context, contexts, context_chunks, retrieved_contexts, chunks, passages, contexte, contextes"
            ),
        }.items()
    }
)
"""The spellings of each field. `text` is left out on purpose: it names a document or an answer as often as a prompt."""


_OF_EXPORTS = (
    (frozenset({"origin", "case_id", "received_at"}), ("origin", "case_id")),
    (frozenset({"suite_version", "run_id", "score_global"}), ("criteria",)),
)
"""The columns by which `ledger export` and `monitor export` are known, and those that mean something else there."""

_SHORT_NAME = 100  # characters: longer names are not kept


LATE_HEADER = "looks like the header, which must be the first filled row: delete what stands above it"


class ColumnPlan(Struct, frozen=True):
    """Where each field stands in a row (by position), and the columns that no field takes with the names they keep."""

    fields: Mapping[str, int]
    unread: tuple[tuple[int, str], ...]


def is_export(names: Sequence[str]) -> bool:
    """Whether a table of these columns was written by `ledger export` or `monitor export`."""
    return any(marks <= set(names) for marks, _ in _OF_EXPORTS)


def fold_name(name: str) -> str:
    """Strip a column's name of what authors vary: case, accents, spaces, underscores, hyphens, punctuation."""
    return _folded_short(name) if len(name) <= _SHORT_NAME else plain(name).replace(" ", "")


@lru_cache(maxsize=1_024)  # each document of each answer has the same names
def _folded_short(name: str) -> str:
    return plain(name).replace(" ", "")


@lru_cache(maxsize=128)
def plan_columns(names: tuple[str, ...], left_out: frozenset[str] = frozenset()) -> ColumnPlan:
    """Map the columns of a table, or the keys of an object, to the fields of a case.

    Raises:
        DatasetError: two columns claim one field, or none is a prompt. The message names no file: the caller knows it.
    """
    fields: dict[str, int] = {}
    unread: list[tuple[int, str]] = []
    others = {name for marks, mine in _OF_EXPORTS if marks <= set(names) for name in mine}
    for position, name in enumerate(names):
        field = field_named(name)
        if field is None or field in left_out or name in others:
            unread.append((position, name))
        elif field in fields:
            first = names[fields[field]]
            both = f"{clip(first, 40)!r} and {clip(name, 40)!r}"
            raise DatasetError(f"columns {both} both mean {field}: rename or remove one of them")
        else:
            fields[field] = position
    if "prompt" not in fields:
        listed = name_list(repr(clip(name, 40)) for name in names if name)
        accepted = name_list(ALIASES["prompt"], limit=20)
        raise DatasetError(f"no column contains the prompt: found {listed or 'no names'}; it may be called {accepted}")
    return ColumnPlan(fields, _distinct(unread))


def field_named(name: str) -> str | None:
    """Return the field that a column's name stands for."""
    return _fields_by_name().get(fold_name(name))


def names_prompt(names: Sequence[str]) -> bool:
    """Say whether one of the columns would be taken for the prompt."""
    return any(field_named(name) == "prompt" for name in names)


def is_later_header(cells: Sequence[object], names: Sequence[str]) -> bool:
    """Say whether a row below a header names more fields than it, the prompt among them, so that a title was taken for it."""
    fields = {field_named(cell) for cell in cells if isinstance(cell, str) and len(cell) <= _SHORT_NAME} - {None}
    return "prompt" in fields and len(fields) > max(1, sum(field_named(name) is not None for name in names))


@lru_cache(maxsize=1)
def _fields_by_name() -> Mapping[str, str]:
    return {fold_name(alias): field for field, aliases in ALIASES.items() for alias in aliases}


def _distinct(unread: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Give every unread column a name of its own: `note`, `note_2`; one without a name is `column_3`."""
    named: dict[str, int] = {}
    count: dict[str, int] = {}
    for position, name in unread:
        unique = wanted = name or f"column_{position + 1}"
        while unique in named:
            count[wanted] = count.get(wanted, 1) + 1
            unique = f"{wanted}_{count[wanted]}"
        named[unique] = position
    return tuple((position, name) for name, position in named.items())
