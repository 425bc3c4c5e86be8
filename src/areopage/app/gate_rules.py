"""The gate's rules as a file: the section `gate` of `areopage.yml`, or a file of their own with their weights beside it."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin, get_type_hints

import msgspec
import yaml
from msgspec import Meta, Struct, structs
from pydantic import BaseModel, Field, create_model

from areopage.cases import LooseDocuments
from areopage.checking import decide
from areopage.errors import ConfigError, writing
from areopage.gate import FITTED_RESPONSES, Decision, Gate, GateConfig, GroundingModel, model_of
from areopage.report import replacing
from areopage.suites import BUNDLED, ConfigSection, checked_section
from areopage.yaml_document import YamlDocument, read_yaml

if TYPE_CHECKING:  # it brings the judges
    from areopage.checking import Checker

RULES_FILE = "gate.yml"
_WEIGHTS_FILE = "grounding.json"
_RESPONSES_FILE = "fitted_responses.txt"
_SHIPPED_FOLDER = BUNDLED / "rag_grounding"
_SHIPPED_WEIGHTS = "default"
_MAX_WEIGHTS_BYTES = 64_000_000


def load_gate(place: str | Path | None = None, *, clock: Callable[[], float] | None = None) -> Gate:
    """A gate that is ready to decide.

    Args:
        place: as in `load_rules`.
        clock: as in `Gate`.

    Raises:
        ConfigError: as in `load_rules`.
    """
    return Gate(load_rules(place), clock=clock)


def check_answer(
    prompt: str,
    response: str | None,
    documents: LooseDocuments,
    *,
    gate: "Gate | Checker | None" = None,
    collection: str = "",
    judge: bool = True,
) -> Decision:
    """Have the gate decide whether an answer may leave.

    Args:
        response: None, as some servers send it, is an empty answer.
        documents: what the answer should rest on, the best first: texts, objects with `text` (or `content`, `page_content`...),
            LangChain documents, or pairs of one of these and its score. Scores only count with the rule
            `foreign_scores: compared`, and then lie in [0, 1].
        gate: None: the one that is shipped; `load_gate(FILE)` reads rules of your own, `open_checker()` adds judge and labels.
        collection: labels of answers in this collection count.
        judge: whether a checker may ask its judge.

    Raises:
        DatasetError: one of the documents is none.
        StorageError: a checker's ledger cannot be read.
        SubmissionError: the prompt or the response is no text.
    """
    return decide(gate or _shipped_gate(), prompt, response, documents, collection=collection, judge=judge)


@cache
def _shipped_gate() -> Gate:
    return load_gate()


def load_rules(place: str | Path | None = None) -> GateConfig:
    """Load rules of the gate.

    Args:
        place: None or "default" for the shipped rules, "v1_1" for the documented ones, else a file that `areopage gate tune`
            wrote, or its folder.

    Raises:
        ConfigError: the file, or the file of weights that it names, is missing or wrong.
    """
    if place in (None, "default"):
        return GateConfig(grounding=shipped_grounding())
    if place == "v1_1":
        return GateConfig(profile="v1_1")
    path = Path(place or "").expanduser()
    document = read_yaml(path / RULES_FILE if path.is_dir() else path, may_be_empty=True)
    return checked_rules(document, document.data)


def checked_rules(document: YamlDocument, data: Any, *keys: str) -> GateConfig:
    """The rules that stand at a key of a document."""
    section = checked_section(document, _Rules, data, *keys)
    values = section.model_dump()
    bounds = values["thresholds"]
    if bounds["deliver"] > bounds["hold"]:
        message = f"must not exceed hold: deliver is {bounds['deliver']}, hold is {bounds['hold']}"
        raise document.error(message, *keys, "thresholds", "deliver")
    named = values.pop("grounding")
    return msgspec.convert(values | {"grounding": _weights(named, values["profile"], document, *keys)}, GateConfig, strict=False)


def shipped_grounding() -> GroundingModel:
    """The grounding model that comes with the program, with digests of the responses that it was fitted on."""
    model = _read_weights(_SHIPPED_FOLDER / _WEIGHTS_FILE)
    responses = (_SHIPPED_FOLDER / _RESPONSES_FILE).read_text(encoding="ascii").split()
    return structs.replace(model, provenance=model.provenance | {FITTED_RESPONSES: responses})


def _read_weights(path: Path) -> GroundingModel:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_WEIGHTS_BYTES + 1)  # a device or a pipe has no size, and may never end
        if len(content) > _MAX_WEIGHTS_BYTES:
            raise ConfigError(f"larger than {_MAX_WEIGHTS_BYTES:,} bytes: this is no file of weights", path=path)
        data = msgspec.json.decode(content)
        if not isinstance(data, dict):
            raise ConfigError("must be an object with the model's fields", path=path)
        return model_of(data)
    except FileNotFoundError:
        raise ConfigError("no such file: give the weights that `areopage gate tune` wrote, or default", path=path) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not a file of weights: {' '.join(str(error).split())}", path=path) from None


def write_rules(config: GateConfig, folder: Path) -> Path:
    """Write rules that `load_rules` reads back as they are; each file is the old one or the new one, never half of either.

    Weights that are not the shipped ones are written first, into `grounding.json`, or under another name where that
    file holds other weights: a concurrent reader always finds rules with the weights that belong to them.

    Returns:
        The path of the `gate.yml`.

    Raises:
        StorageError: the folder cannot be written.
    """
    model = config.grounding
    named: str | None = None
    if model is not None and model == shipped_grounding():
        named = _SHIPPED_WEIGHTS
    elif model is not None:
        weights = msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
        named = _free_name(folder, weights)
        _replace(folder / named, weights)
    path = folder / RULES_FILE
    head = "# The rules of the gate: which answers may leave. Every key may be left out; without it the shipped value holds."
    lines = [head, "", *_lines(config, named)]
    if config.tuned:
        tuned = {"tuned": msgspec.to_builtins(config.tuned)}
        text = yaml.safe_dump(tuned, allow_unicode=True, sort_keys=False)
        if yaml.safe_load(text) != tuned:  # some sign would not come back as it is
            text = yaml.safe_dump(tuned, sort_keys=False)
        lines += ["", "# Where thresholds and weights come from", text.rstrip()]
    _replace(path, ("\n".join(lines) + "\n").encode())
    return path


def _lines(config: Struct, weights: str | None, indent: str = "") -> Iterator[str]:
    for name, (_, meta) in _fields(type(config)).items():
        value = getattr(config, name)
        if name == "grounding":
            value = weights
        if isinstance(value, Struct):
            yield f"\n{indent}{name}:"
            yield from _lines(value, weights, indent + "  ")
            yield ""
        elif meta is not None and value is not None:
            shown = f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)
            shown = shown.lower() if isinstance(value, bool) else shown
            yield f"{f'{indent}{name}: {shown}':<42} # {meta.description}"


def _fields(kind: type[Struct]) -> dict[str, tuple[Any, Meta | None]]:
    fields: dict[str, tuple[Any, Meta | None]] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        meta = next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Meta)), None)
        fields[name] = (hint.__origin__ if meta is not None else hint, meta)
    return fields


def _schema_of(kind: type[Struct], **others: Any) -> type[BaseModel]:
    """The section that a record is: the same keys, defaults and bounds, checked as every other section is."""
    defaults = {field.name: field.default for field in structs.fields(kind)}
    keys: dict[str, Any] = {}
    for name, (hint, meta) in _fields(kind).items():
        default = defaults[name] if defaults[name] is not msgspec.NODEFAULT else {}
        if isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, Struct):
            below = _schema_of(hint)
            keys[name] = (below, below())
        else:
            bounds = {bound: getattr(meta, bound) for bound in ("ge", "gt", "le") if getattr(meta, bound, None) is not None}
            keys[name] = (hint, Field(default, **bounds))
    return create_model(kind.__name__, __base__=ConfigSection, **keys | others)


_Rules = _schema_of(GateConfig, grounding=(str | None, None))


def _weights(named: str | None, profile: str, document: YamlDocument, *keys: str) -> GroundingModel | None:
    if named is None and profile == "v1_1":
        return None
    if named in (None, _SHIPPED_WEIGHTS):
        return shipped_grounding()
    if not named:
        raise document.error("give a file of weights, or default", *keys, "grounding")
    return _read_weights(document.path.parent / Path(named).expanduser())


def _free_name(folder: Path, weights: bytes) -> str:
    """`grounding.json`, unless other weights stand there that a `gate.yml` may still name."""
    try:
        taken = (folder / _WEIGHTS_FILE).read_bytes() != weights
    except OSError:
        taken = False
    return f"grounding-{hashlib.sha256(weights).hexdigest()[:12]}.json" if taken else _WEIGHTS_FILE


def _replace(path: Path, content: bytes) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as place:
        place.write_bytes(content)
