"""Files of a suite that a program writes: YAML, JSON Lines, and texts of others put into templates."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import msgspec
import yaml

from areopage.criteria import defused


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)
)


def yaml_text(data: Mapping[str, Any]) -> str:
    """A mapping as YAML, in its own order."""
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object per line."""
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def filled(template: str, **values: str) -> str:
    """A template with texts of others put in: without control tokens, and braces doubled, for a prompt file is a template."""
    return Template(template).substitute(
        {name: defused(value).replace("{", "{{").replace("}", "}}") for name, value in values.items()}
    )


def equal_weights(names: Sequence[str]) -> dict[str, float]:
    """Weights that sum to 1 to the last digit that is written; the last name takes the rest."""
    part = round(1 / len(names), 4)
    return {**dict.fromkeys(names[:-1], part), names[-1]: round(1 - part * (len(names) - 1), 4)}
