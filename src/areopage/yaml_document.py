"""YAML files that remember the line of each key, so that a mistake can be shown where it stands."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from yaml.composer import Composer

from areopage.errors import ConfigError

_PACKAGE = Path(__file__).parent
KeyPath = tuple[str, ...]
MAX_BYTES = 4_000_000
MAX_VALUES = 1_000_000
_READ_OTHERWISE = re.compile(r"[\t\ufeff]|!(?!\S)")
"""What libyaml's parser reads in another way than PyYAML's own: tabs, byte order marks, and tags without a name."""


class YamlDocument(Struct, frozen=True, kw_only=True):
    """A file's data, and the 1-based line of each key path (list positions count as keys "0", "1", ...)."""

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]

    def line(self, *keys: str | int) -> int | None:
        """The line of a key path, or of the nearest parent that has one."""
        wanted = tuple(str(key) for key in keys)
        while wanted and wanted not in self.lines:
            wanted = wanted[:-1]
        return self.lines.get(wanted)

    def error(self, message: str, *keys: str | int) -> ConfigError:
        """An error at a key."""
        return ConfigError(message, path=self.path, line=self.line(*keys), key=".".join(str(key) for key in keys) or None)


if yaml.__with_libyaml__:

    class _QuickLoader(Composer, yaml.CSafeLoader):
        """libyaml parses, ten times faster, and Python builds the nodes: libyaml would overflow the stack on deep ones."""

        def __init__(self, text: str) -> None:
            yaml.CSafeLoader.__init__(self, text)
            Composer.__init__(self)

else:
    _QuickLoader = yaml.SafeLoader  # type: ignore[assignment,misc]


def read_yaml(path: Path, *, may_be_empty: bool = False) -> YamlDocument:
    """Read a YAML mapping; with `may_be_empty`, a file that holds nothing but comments is one without keys.

    Raises:
        ConfigError: the file is missing, cannot be read, is not YAML, repeats a key or is not a mapping.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"larger than {MAX_BYTES:,} bytes: this is not a configuration file", path=path)
        content = path.read_bytes()
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except FileNotFoundError:
        raise ConfigError("no such file", path=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8 text: save it as UTF-8", path=path) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from None
    return parse_yaml(text, path, may_be_empty=may_be_empty)


def parse_yaml(text: str, path: Path, *, may_be_empty: bool = False) -> YamlDocument:
    """Parse the text of a YAML mapping, empty or not, with the errors of `read_yaml`; `path` is named in them."""
    try:
        data, lines = _carefully_read(text, path) if _READ_OTHERWISE.search(text) else _data_of(_QuickLoader(text), path)
    except Exception:  # noqa: BLE001 - what is wrong is told as PyYAML's own parser tells it
        data, lines = _carefully_read(text, path)
    if data is None and may_be_empty:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError("must be a mapping of keys to values", path=path, line=1)
    return YamlDocument(path=path, data=data, lines=lines)


def parse_foreign_yaml(text: str, path: Path) -> YamlDocument:
    """Parse the text of a YAML mapping of a program that reads YAML 1.2: `no`, `18:30` and `on` are texts, `0123` is 123."""
    data, lines = _carefully_read(text, path, CoreLoader)
    if not isinstance(data, dict):
        raise ConfigError("must be a mapping of keys to values", path=path, line=1)
    return YamlDocument(path=path, data=data, lines=lines)


class CoreLoader(_QuickLoader):
    """Plain scalars by the core schema of YAML 1.2.2, section 10.3.2; PyYAML's own are those of YAML 1.1."""


CoreLoader.yaml_implicit_resolvers = {}


def _whole_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text.startswith(("0x", "0o")) else int(text)


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float | int:
    text = str(loader.construct_scalar(node)).lower().removeprefix("+")
    value = float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


_EXACT = 2.0**53
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", list("-+.")),
    ("merge", r"<<", ["<"]),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first)
CoreLoader.add_constructor("tag:yaml.org,2002:int", _whole_number)
CoreLoader.add_constructor("tag:yaml.org,2002:float", _number)


def _carefully_read(text: str, path: Path, reads: Callable[[str], Any] = yaml.SafeLoader) -> tuple[Any, dict[KeyPath, int]]:
    try:
        loader = reads(text)
    except yaml.reader.ReaderError as error:
        at = text.count("\n", 0, error.position) + 1
        raise ConfigError("not valid YAML: control character", path=path, line=at) from None
    try:
        return _data_of(loader, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise ConfigError(f"not valid YAML: {error.problem or error.context}", path=path, line=line) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"not valid YAML: {' '.join(str(error).split())}", path=path) from None
    except (LookupError, AttributeError, TypeError):
        # PyYAML lets these out where a value does not fit the tag before it
        raise ConfigError("not valid YAML: a value does not fit its tag (`!!...`)", path=path) from None
    finally:
        loader.dispose()


def _data_of(loader: Any, path: Path) -> tuple[Any, dict[KeyPath, int]]:
    node = loader.get_single_node()
    lines: dict[KeyPath, int] = {}
    if node is None:
        return None, lines
    _note_lines(node, (), lines, path, {})
    return loader.construct_document(node), lines


def _note_lines(node: yaml.Node, keys: KeyPath, lines: dict[KeyPath, int], path: Path, sizes: dict[int, int]) -> int:
    """Remember the line of every key below a node; a repeated key is an error, since YAML would drop the first.

    A node is entered once, and `sizes` keeps how many values it stands for: aliases of aliases would otherwise make a small
    file cost without end, here or where its data are written out. Size 0 marks a node that is being read.

    Returns:
        How many values the node stands for, aliases written out.
    """
    line = node.start_mark.line + 1
    if id(node) in sizes:
        if sizes[id(node)] == 0:
            raise ConfigError("an alias contains itself", path=path, line=line, key=".".join(keys) or None)
        return sizes[id(node)]
    sizes[id(node)] = 0
    size = 1
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError("a key must be a plain word", path=path, line=line, key=".".join(keys) or None)
            key = str(key_node.value)
            if key in seen:
                raise ConfigError("duplicate key", path=path, line=line, key=".".join((*keys, key)))
            seen.add(key)
            lines[(*keys, key)] = line
            size += _note_lines(value_node, (*keys, key), lines, path, sizes)
    elif isinstance(node, yaml.SequenceNode):
        for position, value_node in enumerate(node.value):
            lines[(*keys, str(position))] = value_node.start_mark.line + 1
            size += _note_lines(value_node, (*keys, str(position)), lines, path, sizes)
    if size > MAX_VALUES:
        raise ConfigError(f"aliases repeat more than {MAX_VALUES:,} values", path=path, line=line, key=".".join(keys) or None)
    sizes[id(node)] = size
    return size


def leads_out(folder: Path, path: Path) -> bool:
    """Whether a path leads out of a folder, also by links; the package's own files may be links into an installer's cache."""
    if _PACKAGE in folder.absolute().parents and ".." not in path.parts:
        return not path.absolute().is_relative_to(folder.absolute())
    return not path.resolve().is_relative_to(folder.resolve())
