"""A JSON schema as tables of Markdown: each key with its type, its default and what it means."""

import json
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

from markdown.extensions.toc import slugify

Schema = Mapping[str, Any]
Links = Mapping[str, tuple[str, str]]
"""For each record that a page describes its title and its address."""

_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "over {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "under {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}
_TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null", "object": "keys with values"}


def name_of(reference: str) -> str:
    """The name at the end of a `$ref`."""
    return reference.rpartition("/")[2]


def anchor_of(heading: str) -> str:
    """The anchor that MkDocs gives to a heading."""
    return str(slugify(heading, "-"))


def in_cell(text: str) -> str:
    """A text for one cell of a table, with its code spans kept."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def type_text(schema: Schema, links: Links) -> str:
    """The type of a value, in words.

    Args:
        links: the records that the page describes.
    """
    if "$ref" in schema:
        name = name_of(schema["$ref"])
        return "[{}]({})".format(*links[name]) if name in links else name
    if "const" in schema:
        return f"`{json.dumps(schema['const'], ensure_ascii=False)}`"
    if "enum" in schema:
        return " or ".join(f"`{'null' if one is None else one}`" for one in schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_text(one, links) for one in schema[key]))
    return _plain_type(schema, links)


def _plain_type(schema: Schema, links: Links) -> str:
    kind = schema.get("type", "any value")
    if kind == "array":
        inner = schema.get("items") or (schema.get("prefixItems") or [{}])[0]
        return f"list of {type_text(inner, links)}" if inner else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        return f"by name: {type_text(schema['additionalProperties'], links)}"
    if isinstance(kind, list):
        return " or ".join(_TYPES.get(one, str(one)) for one in kind)
    limits = [text.format(f"{schema[key]:,}") for key, text in _LIMITS.items() if key in schema and kind != "object"]
    shown = str(schema["format"]) if schema.get("format") in ("date-time", "date", "duration") else _TYPES.get(kind, str(kind))
    return ", ".join([shown, *limits])


def default_text(schema: Schema, *, required: bool) -> str:
    """The default of a key; a long one is cut."""
    if required:
        return "required"
    if "default" not in schema:
        return ""
    text = json.dumps(schema["default"], ensure_ascii=False)
    return "as below" if text.startswith("{") and len(text) > 2 else f"`{in_cell(text)}`"


def table(schema: Schema, links: Links) -> str:
    """The properties of an object, a row each."""
    properties, required = schema.get("properties", {}), set(schema.get("required", ()))
    if not properties:
        return ""
    described = any(value.get("description") for value in properties.values())
    head = "| key | type | default |" + (" meaning |" if described else "")
    lines = [head, "|---" * (4 if described else 3) + "|"]
    for key, value in properties.items():
        row = f"| `{key}` | {in_cell(type_text(value, links))} | {default_text(value, required=key in required)} |"
        lines.append(row + (f" {in_cell(value.get('description', ''))} |" if described else ""))
    return "\n".join(lines) + "\n"


def description(schema: Schema) -> str:
    """What stands in the docstring, its `Args:` as a list."""
    head, _, arguments = cleandoc(schema.get("description", "")).partition("\n\nArgs:\n")
    if not arguments:
        return _paragraphs(head)
    items: list[str] = []
    for line in arguments.splitlines():
        name, colon, rest = line.strip().partition(":")
        if colon and line.startswith("    ") and not line.startswith("     "):
            items.append(f"- `{name}`:{rest}")
        elif items:
            items[-1] += f" {line.strip()}"
    return _paragraphs(head) + "\n" + "\n".join(one.replace("<", "&lt;") for one in items) + "\n"


def _paragraphs(text: str) -> str:
    return "\n".join(line.strip() for line in text.replace("<", "&lt;").splitlines()) + "\n"


def referenced(schema: Any) -> Iterator[str]:
    """The names that a schema refers to, in order, also twice."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "$ref":
                yield name_of(value)
            elif key != "default":
                yield from referenced(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from referenced(value)
