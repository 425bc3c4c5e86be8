"""Rules of a registry that say, without a call to a judge, which cases a criterion applies to.

A rule hides what it excludes, so that doubt counts for judging: a case that leaves open what a rule asks for is judged.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct, convert, structs

from areopage.cases import MATURITIES, Case
from areopage.errors import ConfigError
from areopage.yaml_document import YamlDocument

FIELDS = ("category", "subcategory", "tags", "maturity")
_NOT = "not"


class CaseMatch(Struct, frozen=True, kw_only=True):
    """Names of which a case must have one, field by field; an empty field asks for nothing.

    A sub-category is named alone or as `category.subcategory`. Capitals make no difference.
    """

    category: tuple[str, ...] = ()
    subcategory: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    maturity: tuple[str, ...] = ()

    def names(self) -> Iterator[tuple[str, str]]:
        """Each field with each of its names."""
        return ((field, name) for field in FIELDS for name in getattr(self, field))

    def fields_met(self, case: Case) -> Iterator[bool | None]:
        """Whether a case meets each field that asks for something; None where the case leaves it open.

        Tags are a list that a case has in full: a case without a tag does not leave it open.
        """
        if self.category:
            yield _met(self.category, [case.category])
        if self.subcategory:
            yield _met(self.subcategory, [case.subcategory, case.subcategory and f"{case.category}.{case.subcategory}"])
        if self.tags:
            yield bool(_met(self.tags, case.tags))
        if self.maturity:
            yield _met(self.maturity, [case.maturity])


class CaseRule(CaseMatch, frozen=True, kw_only=True):
    """Cases that meet every field, and none of `excluded`."""

    excluded: CaseMatch = CaseMatch()

    def every_name(self) -> Iterator[tuple[str, str]]:
        """Each field with each of its names, those of `excluded` too."""
        yield from self.names()
        yield from self.excluded.names()


def _met(wanted: Sequence[str], values: Iterable[str]) -> bool | None:
    names = [value.casefold() for value in values if value]
    return any(name.casefold() in names for name in wanted) if names else None


def applies(rules: Sequence[CaseRule], case: Case) -> bool:
    """Whether a criterion with these rules may apply to a case: one rule lets it, or there is none."""
    lets = (False not in rule.fields_met(case) and True not in rule.excluded.fields_met(case) for rule in rules)
    return not rules or any(lets)


def read_rules(raw: Any, document: YamlDocument, *place: str | int) -> tuple[tuple[CaseRule, ...], list[ConfigError]]:
    """Read `applies_to`: one rule, or a list of rules of which one must let a case through."""
    if raw is None:
        return (), []
    faults: list[ConfigError] = []
    rules: list[CaseRule] = []
    several = isinstance(raw, list)
    for position, rule in enumerate(raw if several else [raw]):
        here = (*place, position) if several else place
        if not isinstance(rule, dict) or _NOT not in rule:
            rules.append(convert(_names(rule, document, here, faults), CaseRule))
            continue
        excluded = convert(_names(rule[_NOT], document, (*here, _NOT), faults), CaseMatch)
        others = {key: value for key, value in rule.items() if key != _NOT}
        wanted = _names(others, document, here, faults) if others else {}
        rules.append(structs.replace(convert(wanted, CaseRule), excluded=excluded))
    if several and not raw:
        faults.append(document.error(_WANTED, *place))
    return tuple(rules), faults


_WANTED = "must be a mapping of category, subcategory, tags, maturity or not to lists of names, or a list of such mappings"


def _names(
    raw: Any, document: YamlDocument, place: tuple[str | int, ...], faults: list[ConfigError]
) -> dict[str, tuple[str, ...]]:
    """The fields of a rule; what cannot be used is left out and added to the faults."""
    if not isinstance(raw, dict) or not raw:
        faults.append(document.error(_WANTED, *place))
        return {}
    fields: dict[str, tuple[str, ...]] = {}
    for key, value in raw.items():
        listed = [value] if isinstance(value, str) else value
        if key not in FIELDS:
            near = get_close_matches(str(key), [*FIELDS, _NOT], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(FIELDS)} or {_NOT}"
            faults.append(document.error(f"unknown key: {hint}", *place, key))
        elif not isinstance(listed, list) or not listed or not all(isinstance(name, str) and name for name in listed):
            faults.append(document.error("must be a list of names", *place, key))
        elif key == "maturity" and (wrong := [name for name in listed if name not in MATURITIES]):
            faults.append(document.error(f"there is no maturity {wrong[0]!r}: use {', '.join(MATURITIES)}", *place, key))
        else:
            fields[key] = tuple(listed)
    return fields
