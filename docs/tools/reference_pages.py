"""The reference that the code knows: commands, keys, endpoints, records. Each function makes a page of Markdown."""

import inspect
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import click
import msgspec

import areopage
from areopage.app.schemas import RECORDS, published_schemas, schema_file
from areopage.app.sections import AppSection
from areopage.cli.main import app
from areopage.gate.config import GateConfig
from areopage.server.app import Api, routers
from areopage.suites.config import SuiteConfig
from schema_tables import Links, Schema, anchor_of, description, in_cell, referenced, table, type_text

SCHEMA_FOLDER = "schemas"
METHODS = ("get", "post", "put", "patch", "delete")


def commands_page() -> str:
    """Every command with its arguments and options."""
    head = "What `areopage COMMAND --help` prints. See [command line](cli.md) for exit codes and common rules."
    lines = ["# Commands and options", "", head, ""]
    for names, command in _commands(app, ()):
        lines += _command(names, command)
    return "\n".join(lines)


def _commands(group: click.Group, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield (*names, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*names, name))


def _command(names: tuple[str, ...], command: click.Command) -> list[str]:
    full = " ".join(names)
    level = "##" if len(names) == 1 else "###"
    head = [f"{level} {full}", "", inspect.cleandoc(command.help or "").replace("<", "&lt;"), ""]
    if isinstance(command, click.Group):
        return head
    context = click.Context(command, info_name=f"areopage {full}")
    usage = " ".join(["areopage", full, *command.collect_usage_pieces(context)])
    rows = [record for one in command.params if (record := _parameter(one, context)) is not None]
    found = ["| option | meaning |", "|---|---|", *rows, ""] if rows else []
    return [*head, "```text", usage, "```", "", *found]


def _parameter(parameter: click.Parameter, context: click.Context) -> str | None:
    if isinstance(parameter, click.Argument):
        help_text = getattr(parameter, "help", None) or ""
        return f"| `{parameter.make_metavar(context)}` | {in_cell(help_text)} |"
    record = parameter.get_help_record(context)
    return None if record is None else f"| `{record[0]}` | {in_cell(record[1])} |"


def configuration_keys_page() -> str:
    """Every key of `areopage.yml`, and the file with its defaults."""
    schema = AppSection.model_json_schema()
    rules = msgspec.json.schema(GateConfig)
    links = {name: (name, f"#{anchor_of(name)}") for name in rules["$defs"] if name != "GateConfig"}
    template = files("areopage.app").joinpath("areopage.yml.template").read_text(encoding="utf-8")
    lines = [
        "# Keys of areopage.yml",
        "",
        "Every key has a default. An unknown key is an error that names the line. "
        "See [configuration](configuration.md) for what the sections are for. "
        "An editor can check the file by its [JSON schema](../schemas/areopage.schema.json).",
        "",
        *_sections(schema),
        "## gate",
        "",
        description(rules["$defs"]["GateConfig"]),
        table(rules["$defs"]["GateConfig"], links),
        *(line for name in links for line in _record(f"### {name}", rules["$defs"][name], links)),
        "## The file with its defaults",
        "",
        "`areopage init` writes this file:",
        "",
        '```yaml title="areopage.yml"',
        template.rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def _record(heading: str, schema: Schema, links: Links) -> tuple[str, ...]:
    return heading, "", description(schema), table(schema, links)


def suite_keys_page() -> str:
    """Every key of a suite's `config.yml`."""
    schema = SuiteConfig.model_json_schema()
    lines = [
        "# Keys of a suite",
        "",
        "The keys of a suite’s `config.yml`. See [suites](suites.md) for the folder around it. "
        "[JSON schema](../schemas/suite.schema.json).",
        "",
        *_sections(schema),
    ]
    return "\n".join(lines)


def _sections(schema: Schema) -> list[str]:
    """The keys at the top, then those of each section, which is named by the keys that lead to it first."""
    parts: Mapping[str, Any] = schema.get("$defs", {})
    places: dict[str, str] = {}

    def enter(part: Schema, place: str) -> None:
        for key, value in part.get("properties", {}).items():
            below = f"{place}.{key}" if place else key
            named = f"{below}.NAME" if "additionalProperties" in value else below
            for one in referenced(value):
                if one not in places and one in parts:
                    places[one] = named
                    enter(parts[one], named)

    enter(schema, "")
    links = {one: (f"`{place}`", f"#{anchor_of(place)}") for one, place in places.items()}
    lines = [description(schema), table(schema, links)]
    for one, place in places.items():
        lines += _record(f"## {place}", parts[one], links)
    return lines


def openapi() -> dict[str, Any]:
    """The OpenAPI schema of the server."""
    api = Api(title="Areopage", version=areopage.__version__)
    for router in routers():
        api.include_router(router)
    return api.openapi()


def endpoints_page() -> str:
    """Every endpoint of the API with its parameters, its body and its replies."""
    schema = openapi()
    records: Mapping[str, Any] = schema["components"]["schemas"]
    links = {name: (name, f"#{anchor_of(name)}") for name in records}
    lines = [
        "# Endpoints",
        "",
        "See [HTTP API](api.md) for keys, limits and examples. "
        "A server has the same as [OpenAPI 3.1](../schemas/openapi.json) at `/openapi.json`.",
        "",
    ]
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                lines += _endpoint(method, path, methods[method], links)
    lines += ["## Bodies and replies", ""]
    for name, record in records.items():
        lines += _record(f"### {name}", record, links)
    return "\n".join(lines)


def _endpoint(method: str, path: str, operation: Mapping[str, Any], links: Links) -> list[str]:
    lines = [f"## {method.upper()} {path}", "", _words(operation.get("description") or operation.get("summary", "")), ""]
    parameters = operation.get("parameters", ())
    if parameters:
        lines += ["| parameter | in | type | meaning |", "|---|---|---|---|"]
        for one in parameters:
            kind = in_cell(type_text(one.get("schema", {}), links))
            lines.append(f"| `{one['name']}` | {one['in']} | {kind} | {in_cell(one.get('description', ''))} |")
        lines.append("")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        lines += [f"Body ({kind}): {type_text(content.get('schema', {}), links)}", ""]
    lines += ["| reply | content | meaning |", "|---|---|---|"]
    for code, reply in operation.get("responses", {}).items():
        shown = [in_cell(type_text(one["schema"], links)) for one in reply.get("content", {}).values() if one.get("schema")]
        lines.append(f"| {code} | {', '.join(shown)} | {in_cell(reply.get('description', ''))} |")
    return [*lines, ""]


def _words(text: str) -> str:
    return text.replace("<", "&lt;")


def records_page() -> str:
    """The public records, and the schemas that are published beside the page."""
    kinds = tuple(getattr(areopage, name) for name in RECORDS)
    (_, parts) = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    first = {name: parts[name] for name in RECORDS}
    rest = {name: part for name, part in parts.items() if name not in first and "properties" in part}
    links = {name: (name, f"#{anchor_of(name)}") for name in (*first, *rest)}
    lines = [
        "# Records and schemas",
        "",
        "The records of `import areopage` that have a form in JSON, and the schemas of the files that Areopage reads and writes.",
        "",
        "| file | schema |",
        "|---|---|",
        *(f"| {one.of} | [{schema_file(name)}](../schemas/{schema_file(name)}) |" for name, one in published_schemas().items()),
        f"| the HTTP API | [{OPENAPI}](../schemas/{OPENAPI}) |",
        "",
    ]
    for name, part in (first | rest).items():
        lines += _record(f"## {name}", part, links)
    return "\n".join(lines)


OPENAPI = "openapi.json"


def api_file() -> str:
    """The schema of the HTTP API, which is published beside those of files."""
    return _json(openapi())


def _json(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


PAGES = {
    "reference/commands.md": commands_page,
    "reference/configuration_keys.md": configuration_keys_page,
    "reference/suite_keys.md": suite_keys_page,
    "reference/endpoints.md": endpoints_page,
    "reference/records.md": records_page,
}
"""The generated pages by their place."""
