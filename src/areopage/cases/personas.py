"""Personas: what is known of each audience, for defensive prompts and for judges."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from areopage.errors import ConfigError

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*")


class JudgeConfig(Struct, frozen=True, kw_only=True):
    """What a judge needs to know of an audience.

    `target_sentence_length` is in words; `target_complex_ratio` is the share of complex words, from 0 to 1.
    """

    age_group_code: str
    target_sentence_length: Annotated[float, Meta(gt=0)]
    target_complex_ratio: Annotated[float, Meta(ge=0, le=1)]
    is_minor: bool
    safety_threshold: str
    auto_block_risks: tuple[str, ...]
    educational_exceptions: tuple[str, ...]


class Persona(Struct, frozen=True, kw_only=True):
    """An audience as a suite describes it. `maturity_band` is its ages, such as `9-12`."""

    name: str
    maturity_band: str
    reading_level: str
    tone: tuple[str, ...]
    content_allow: tuple[str, ...]
    content_block: tuple[str, ...]
    guidance: tuple[str, ...]
    policy_notes: tuple[str, ...]
    judge_config: JudgeConfig


def load_personas(path: Path, language: str) -> dict[str, Persona]:
    """Read the personas of a suite by maturity, in the language asked for where the suite has it.

    For `personas.json` and `fr` that is `personas.fr.json` beside it, if it exists; else the file itself.
    Keys that are not known are passed over.

    Raises:
        ConfigError: a file cannot be read or is not JSON (with its line), or a key is missing or wrong (with the key).
    """
    chosen, personas, faults = _read_personas(path, language)
    if faults:
        more = f" (+{len(faults) - 1} more: areopage suites validate)" if len(faults) > 1 else ""
        raise ConfigError(f"{faults[0].message}{more}", path=chosen, key=faults[0].key)
    return msgspec.convert(personas, dict[str, Persona])


def persona_faults(path: Path, language: str) -> list[ConfigError]:
    """Everything for which `load_personas` refuses the personas that it would read."""
    return _read_personas(path, language)[2]


def _read_personas(path: Path, language: str) -> tuple[Path, dict[str, Any], list[ConfigError]]:
    from areopage.yaml_document import leads_out  # with a parser that help does without

    if not _LANGUAGE.fullmatch(language):
        raise ConfigError(f"{language!r} is not a language code such as fr or en", path=path, key="language")
    # the full language tag goes before its first part, and both before the file itself
    codes = (language, re.split("[-_]", language)[0])
    siblings = [path.with_name(f"{path.stem.partition('.')[0]}.{code}{path.suffix}") for code in codes]
    chosen = next(filter(Path.is_file, siblings), path)
    if chosen != path and leads_out(path.parent, chosen):
        raise ConfigError("leads out of the suite's folder: put the file there", path=chosen)
    try:
        personas: Any = json.loads(chosen.read_text(encoding="utf-8-sig"))
    except OSError as fault:
        raise ConfigError(f"the personas cannot be read: {fault.strerror or fault}", path=chosen) from fault
    except UnicodeDecodeError as fault:
        raise ConfigError("the file is not UTF-8", path=chosen, line=fault.object[: fault.start].count(b"\n") + 1) from fault
    except json.JSONDecodeError as fault:
        raise ConfigError(f"not valid JSON: {fault.msg}", path=chosen, line=fault.lineno) from fault
    except RecursionError as fault:
        raise ConfigError("not valid JSON: nested too deeply", path=chosen) from fault
    if not isinstance(personas, dict):
        raise ConfigError("write an object with one persona per maturity", path=chosen)
    if not personas:
        raise ConfigError("no persona is defined", path=chosen)
    return chosen, personas, [fault for name, value in personas.items() for fault in _object_faults(value, Persona, name, chosen)]


def _object_faults(value: Any, record: type[Struct], key: str, path: Path) -> Iterator[ConfigError]:
    if not isinstance(value, dict):
        yield ConfigError("write an object", path=path, key=key)
        return
    for field in msgspec.structs.fields(record):
        place = f"{key}.{field.name}"
        if field.name not in value:
            yield ConfigError("the key is missing", path=path, key=place)
        elif field.type is JudgeConfig:
            yield from _object_faults(value[field.name], JudgeConfig, place, path)
        else:
            try:
                msgspec.convert(value[field.name], field.type)
            except msgspec.ValidationError as fault:
                reason, _, below = str(fault).partition(" - at `$")
                yield ConfigError(reason, path=path, key=place + below.rstrip("`"))
