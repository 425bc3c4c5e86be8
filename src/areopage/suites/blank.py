"""Make a suite from nothing: a configuration, and criteria whose texts are to be written."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from areopage.criteria import CRITERION_ID, Scale
from areopage.errors import CriteriaError, UserError
from areopage.locales import LANGUAGES
from areopage.suites.config import SuiteConfig
from areopage.suites.scaffold import new_entry, new_folder, new_prompts

_CONFIG = Path(__file__).with_name("new_suite") / "config.yml"
_FIRST_VERSION = "__v1_0"


def blank_suite(folder: Path, criteria: Sequence[str], languages: Sequence[str]) -> list[Path]:
    """Write a suite with these criteria into a new folder; return the files that hold texts to be written.

    Each criterion weighs as much as its siblings and is critical: none of them may fail before a release.

    Args:
        criteria: ids; one without a version gets the first.
        languages: the first is the suite's own.
    """
    ids = _ids_of(criteria)
    unknown = [language for language in languages if language not in LANGUAGES]
    if unknown or not languages:
        raise UserError(f"the languages of a suite are {' and '.join(LANGUAGES)}, not {', '.join(unknown) or 'none'}")
    config = Template(_CONFIG.read_text(encoding="utf-8")).substitute(
        name=folder.name,
        languages=", ".join(languages),
        weights=textwrap.indent(_weights(ids), "  ").rstrip("\n"),
    )
    paths = SuiteConfig().criteria
    with new_folder(folder) as made:
        scale = Scale()
        texts = {made / "config.yml": config, made / paths.registry_file: _registry(ids, languages)}
        for id in ids:
            texts |= new_prompts(made / paths.base_path, id, languages, scale, readers=False)
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (made / "data").mkdir()
    return [folder / path.relative_to(made) for path in texts]


def _ids_of(criteria: Sequence[str]) -> list[str]:
    ids = [criterion if "__v" in criterion else criterion + _FIRST_VERSION for criterion in criteria]
    if not ids:
        raise UserError("a suite has one criterion at least: give --criteria category.subcategory.name,...")
    for id in ids:
        if CRITERION_ID.fullmatch(id) is None:
            raise CriteriaError(f"{id!r} is not an id: write category.subcategory.name in a-z, 0-9 and _")
        if ids.count(id) > 1:
            raise CriteriaError(f"{id} is given twice")
    return ids


def _registry(ids: Sequence[str], languages: Sequence[str]) -> str:
    entries = "".join(textwrap.indent(new_entry(id, languages), "  ") for id in ids)
    members = "".join(f"      - {id}\n" for id in ids)
    return f"criteria:\n{entries}\npresets:\n  all:\n    criteria:\n{members}"


def _weights(ids: Sequence[str]) -> str:
    paths = [id.partition("__v")[0].split(".") for id in ids]
    categories = _distinct(category for category, _, _ in paths)
    lines = [f"categories: {_equal(categories)}", "subcategories:"]
    lines += [f'  "{name}": {_equal(_distinct(sub for category, sub, _ in paths if category == name))}' for name in categories]
    lines.append("criteria:")
    for key in _distinct(f"{category}.{sub}" for category, sub, _ in paths):
        names = _distinct(name for category, sub, name in paths if f"{category}.{sub}" == key)
        lines.append(f'  "{key}": {_equal(names)}')
    return "\n".join(lines)


def _equal(names: Sequence[str]) -> str:
    """A mapping of names to weights of two decimals that sum to 1; the last takes what is left."""
    hundredths = [100 // len(names)] * len(names)
    hundredths[-1] += 100 - sum(hundredths)
    return "{" + ", ".join(f'"{name}": {part / 100:.2f}' for name, part in zip(names, hundredths, strict=True)) + "}"


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
