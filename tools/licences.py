"""Check licences: of what Areopage installs, by a bill of materials, and of its data. Exit 1 names what is not allowed.

python tools/licences.py BILL.json        the components of this bill (CycloneDX JSON)
python tools/licences.py                  what Areopage and its extras need, as installed beside this Python
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from license_expression import AND, OR, LicenseExpression, LicenseSymbol, LicenseWithExceptionSymbol, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "areopage"
PERMISSIVE = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "HPND",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Python-2.0",
    "Unlicense",
    "Zlib",
]
# Installed beside Areopage, unchanged and as libraries that the user can replace: psycopg, certifi.
LIBRARIES = ["LGPL-3.0-only", "LGPL-3.0-or-later", "MPL-2.0"]
ALLOWED = frozenset(PERMISSIVE + LIBRARIES)
# Metadata in words that are no SPDX identifier.
NAMES: Mapping[str, str] = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: MIT License": "MIT",
}
# Distributions whose metadata name no licence, or name it in a way that no tool reads; looked up in the files that they install.
BY_HAND: Mapping[str, str] = {"protobuf": "BSD-3-Clause"}


def needed(pyproject: Path, extra: str = "all") -> set[str]:
    """Canonical names of the distributions that Areopage and an extra need here, as installed.

    Raises:
        PackageNotFoundError: one of them is not installed.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    todo = [Requirement(line) for line in [*project["dependencies"], f"{project['name']}[{extra}]"]]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        requirement = todo.pop()
        name, asked = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, asked) in seen:
            continue
        seen.add((name, asked))
        if name == project["name"]:
            todo += [Requirement(line) for one in asked for line in extras[one]]
            continue
        for line in metadata.distribution(name).requires or ():
            next_one = Requirement(line)
            if next_one.marker is None or any(next_one.marker.evaluate({"extra": one}) for one in (asked or {""})):
                todo.append(next_one)
    return {name for name, _ in seen} - {project["name"]}


def bill_of(python: Path) -> dict[str, Any]:
    """The bill of materials of a Python's environment, CycloneDX."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "bill.json"
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--no-validate", "-o", str(place), str(python)]
        subprocess.run(command, check=True)  # not validated: it is read here and not published
        bill: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return bill


def expression_of(component: Mapping[str, Any]) -> str:
    """The licences of a component as one SPDX expression; empty where the metadata names none that can be read."""
    by_hand = BY_HAND.get(canonicalize_name(component["name"]))
    if by_hand:
        return by_hand
    found: list[str] = []
    for entry in component.get("licenses", ()):
        licence = entry.get("license", {})
        name = licence.get("name", "")
        words = entry.get("expression") or licence.get("id") or NAMES.get(name, "")
        if words and words not in found:
            found.append(words)
    return " AND ".join(f"({words})" for words in found)


def allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met with allowed licences alone."""
    parsed = _licensing().parse(expression)
    return parsed is not None and _met(parsed)


_licensing = cache(get_spdx_licensing)  # it reads the list of all licences


def _met(part: LicenseExpression) -> bool:
    if isinstance(part, OR):
        return any(map(_met, part.args))
    if isinstance(part, AND):
        return all(map(_met, part.args))
    if isinstance(part, LicenseWithExceptionSymbol):
        return _met(part.license_symbol)  # an exception only adds permissions
    return isinstance(part, LicenseSymbol) and part.key in ALLOWED


def offences(bill: Mapping[str, Any], names: set[str] | None = None) -> Iterator[str]:
    """A line for each component, of those named or of all, whose licence is not allowed or not known."""
    listed = {canonicalize_name(component["name"]) for component in bill["components"]}
    yield from (f"{name}: not in the bill of materials" for name in sorted((names or set()) - listed))
    for component in bill["components"]:
        name = canonicalize_name(component["name"])
        if (names is None or name in names) and not allowed(expression := expression_of(component)):
            yield f"{name} {component.get('version', '')}: {expression or 'no licence that can be read'}"


def data_licences(package: Path = PACKAGE) -> dict[str, str]:
    """The licence of each file of the package that is not Python, by its path; empty where no pattern names the file."""
    groups = yaml.safe_load((package / "data_licences.yml").read_text(encoding="utf-8"))
    files = [
        str(path.relative_to(package))
        for path in sorted(package.rglob("*"))
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    ]
    return {
        file: next((group["licence"] for group in groups if any(fnmatch(file, one) for one in group["paths"])), "")
        for file in files
    }


def main(arguments: list[str]) -> int:
    """Print what is not allowed; 1 if there is any."""
    if arguments:
        bill = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        found, of = list(offences(bill)), len(bill["components"])
    else:
        names = needed(ROOT / "pyproject.toml")
        found, of = list(offences(bill_of(Path(sys.executable)), names)), len(names)
    data = data_licences()
    found += [f"{file}: {licence or 'not named'}" for file, licence in data.items() if not allowed(licence)]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"licences: {of} distributions and {len(data)} data files, {len(found)} not allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
