"""A suite in the making, of the files of another tool: its registry, prompt files, configuration and data."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from areopage.cases import RejectedRow, write_rejected
from areopage.criteria import defused
from areopage.errors import UserError
from areopage.locales import LANGUAGES
from areopage.suites import SuiteConfig

VERSION = "__v1_0"
REJECTED = "rejected.csv"


def suite_languages(first: str) -> tuple[str, ...]:
    """The languages of a suite, its own first; UserError where that is not known."""
    if first not in LANGUAGES:
        raise UserError(f"the languages are {' and '.join(LANGUAGES)}, not {first!r}")
    return (first, *(language for language in LANGUAGES if language != first))


class SuiteDraft(Struct, frozen=True, kw_only=True):
    """The registry's entries by the ids of criteria, and the texts of prompt files by their paths."""

    languages: tuple[str, ...]
    entries: dict[str, dict[str, Any]] = {}
    prompts: dict[Path, str] = {}

    def add(self, path: str, prompts: Mapping[str, Mapping[str, Any]], **more: Any) -> None:
        """Add a criterion with its prompt file in each language; `more` are further keys of its entry."""
        category, subcategory, name = path.split(".")
        file = Path(category, subcategory, f"{name}{VERSION}.prompt")
        place = {"category": category, "subcategory": subcategory, "name": name, "file": file.as_posix()}
        self.entries[path + VERSION] = {"version": "1.0", **place, **more}
        for language, prompt in prompts.items():
            is_first = language == self.languages[0]
            self.prompts[file if is_first else file.with_suffix(f".{language}.prompt")] = yaml_text(prompt)

    def write(
        self,
        folder: Path,
        config: Path,
        data: Mapping[str, Iterable[Mapping[str, Any]]],
        rejected: Sequence[RejectedRow],
        *,
        labels: Mapping[str, Any],
        selection: str,
        selected: Sequence[str],
        **values: object,
    ) -> None:
        """Write the suite.

        `config` is the template of `config.yml`, for the languages, the selection and `values`; `data` are the lines of each
        file, and one without lines is not written.
        """
        paths = SuiteConfig().criteria
        for file, text in self.prompts.items():
            _write_text(folder / paths.base_path / file, text)
        registry = {"labels": labels, "criteria": self.entries, "presets": {selection: {"criteria": list(selected)}}}
        _write_text(folder / paths.registry_file, yaml_text(registry))
        filled = {"languages": ", ".join(self.languages), "selection": selection, **values}
        filled["name"] = msgspec.json.encode(folder.name).decode()
        _write_text(folder / "config.yml", Template(config.read_text(encoding="utf-8")).substitute(filled))
        (folder / "data").mkdir()
        for name, rows in data.items():
            if rows:
                lines = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
                (folder / "data" / name).write_bytes(lines)
        if rejected:
            write_rejected(rejected, folder / REJECTED)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)
)


def yaml_text(data: Mapping[str, Any]) -> str:
    """A mapping as YAML, in its own order."""
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _write_text(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def filled(template: str, **values: str) -> str:
    """A template with texts of others put in: without control tokens, and braces doubled, for a prompt file is a template."""
    return Template(template).substitute(
        {name: defused(value).replace("{", "{{").replace("}", "}}") for name, value in values.items()}
    )


def equal_weights(names: Sequence[str]) -> dict[str, float]:
    """Weights that sum to 1 to the last digit that is written; the last name takes the rest."""
    part = round(1 / len(names), 4)
    return {**dict.fromkeys(names[:-1], part), names[-1]: round(1 - part * (len(names) - 1), 4)}
