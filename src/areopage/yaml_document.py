"""YAML files that remember the line of each key, so that a mistake can be shown where it stands."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from areopage.errors import ConfigError

KeyPath = tuple[str, ...]
MAX_BYTES = 4_000_000


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


class BoundedLoader(yaml.SafeLoader):
    """PyYAML's safe loader; merges of merges (`<<`) cost what they hold and not what they repeat."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put merged keys in place, each once: of keys alike the last counts, as in the mapping that is made of them."""
        super().flatten_mapping(node)
        last = {(key.tag, str(key.value)): (key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
        if len(last) < len(node.value):
            others = [(key, value) for key, value in node.value if not isinstance(key, yaml.ScalarNode)]
            node.value = [*others, *last.values()]


def read_yaml(path: Path) -> YamlDocument:
    """Read a YAML mapping.

    Raises:
        ConfigError: the file is missing, cannot be read, is not YAML, repeats a key or is not a mapping.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"larger than {MAX_BYTES:,} bytes: this is not a configuration file", path=path)
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError("no such file", path=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8 text: save it as UTF-8", path=path) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> YamlDocument:
    """Parse the text of a YAML mapping; `path` is named in errors.

    Raises:
        ConfigError: as in `read_yaml`.
    """
    try:
        loader = BoundedLoader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError("not valid YAML: a control character stands here", path=path, line=line) from None
    try:
        node = loader.get_single_node()
        lines: dict[KeyPath, int] = {}
        if node is not None:
            note_lines(node, (), lines, path, set())
        data = None if node is None else loader.construct_document(node)
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
    if not isinstance(data, dict):
        raise ConfigError("must be a mapping of keys to values", path=path, line=1)
    return YamlDocument(path=path, data=data, lines=lines)


def note_lines(node: yaml.Node, keys: KeyPath, lines: dict[KeyPath, int], path: Path, visited: set[int]) -> None:
    """Remember the line of every key below a node; a repeated key is an error, since YAML would drop the first.

    A node is entered once: aliases of aliases would otherwise make a small file cost without end.
    """
    if id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[Hashable] = set()
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError("a key must be a plain word", path=path, line=line, key=".".join(keys) or None)
            key = str(key_node.value)
            if key in seen:
                raise ConfigError("this key stands twice at the same level", path=path, line=line, key=".".join((*keys, key)))
            seen.add(key)
            lines[(*keys, key)] = line
            note_lines(value_node, (*keys, key), lines, path, visited)
    elif isinstance(node, yaml.SequenceNode):
        for position, value_node in enumerate(node.value):
            lines[(*keys, str(position))] = value_node.start_mark.line + 1
            note_lines(value_node, (*keys, str(position)), lines, path, visited)
