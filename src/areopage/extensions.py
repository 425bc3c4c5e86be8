"""Extensions: packages of this distribution that the core does not import.

The package `areopage.NAME` of an extension has a module `registration` with one `EXTENSION`: tables of names, each with the place
of an object as "module:object". The core asks for the names of a kind and imports an object when it is used. An extension that
cannot be imported registers nothing, and its commands, pages and formats do not exist.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from areopage.errors import UserError

NAMES = ("compare", "embedded", "exams", "interop", "rag")
"""The extensions, in the order in which their parts are listed."""

Kind = Literal[
    "claims", "datasets", "downloads", "exports", "figures", "jobs", "models", "pages", "runs", "schemas", "services", "tour"
]  # fmt: skip
"""What the core asks for by name.

- `claims`: what a test may claim of a run: `regression` against the one that is kept.
- `datasets`: readers of dataset files, by suffix, of folders (`folder`) and of logs in JSON (`log`).
- `downloads`: what `models pull` fetches, by provider.
- `exports`: formats of `bench export`.
- `figures`: figures of a run, by their ids.
- `jobs`: scheduled jobs of a monitor, from its ledger and configuration; None where there is nothing to do.
- `models`: providers of language models.
- `pages`: routes of the server, each a `ServerPart`.
- `runs`: what `bench run` and `bench show` do with several targets or languages, and the size of the exam (`exam`) in plans.
- `schemas`: JSON schemas of files, by name.
- `services`: what the server opens and closes: `answers` for questions.
- `tour`: steps of `areopage demo`.
"""


class Command(NamedTuple):
    """A command, or a group of commands.

    Args:
        help: one line.
        place: "module:function"; "" for a group.
        after: the command or group that stands before it in the list; "" for the last place.
    """

    help: str
    place: str = ""
    after: str = ""


class Extension(NamedTuple):
    """What an extension registers.

    Args:
        commands: by their words, such as "suites import kora"; a group stands before its commands.
        parts: for each kind "module:object" by name.
    """

    commands: Mapping[str, Command] = MappingProxyType({})
    parts: Mapping[Kind, Mapping[str, str]] = MappingProxyType({})


def installed() -> Iterator[Extension]:
    """The extensions that can be imported."""
    for name in NAMES:
        package = f"areopage.{name}"
        try:
            yield import_module(f"{package}.registration").EXTENSION
        except ModuleNotFoundError as fault:
            if fault.name != package:
                raise


def registered(kind: Kind) -> dict[str, str]:
    """The places of all objects of a kind, by name."""
    return {name: place for extension in installed() for name, place in extension.parts.get(kind, {}).items()}


def imported(place: str) -> Any:
    """Import the object of a place."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def required(kind: Kind, name: str, purpose: str) -> Any:
    """Import a registered object; where no extension registers it, an error names the user's purpose."""
    place = registered(kind).get(name)
    if place is None:
        raise UserError(f"{purpose} needs an extension that this installation does not have: install areopage anew")
    return imported(place)
