"""The gate's configuration as a file: `gate.yml`, with the weights of its grounding model beside it."""

import hashlib
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml
from pydantic import BaseModel, ConfigDict, Field

from areopage.errors import ConfigError, StorageError
from areopage.gate.config import GateConfig, Thresholds
from areopage.gate.decide import Gate
from areopage.gate.grounding.claims import ClaimKind
from areopage.gate.grounding.model import GroundingModel, model_of
from areopage.suites.config_file import Count, Share, checked_section
from areopage.suites.loader import BUNDLED
from areopage.yaml_document import YamlDocument, read_yaml

CONFIG_FILE = "gate.yml"
WEIGHTS_FILE = "grounding.json"
SHIPPED = BUNDLED / "rag_grounding"
SHIPPED_WEIGHTS = "default"
MAX_WEIGHTS_BYTES = 64_000_000


class Section(BaseModel):
    """Base of every section; a key that does not exist is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ThresholdsSection(Section):
    """The bounds, as `areopage.gate.config.Thresholds` explains them."""

    relevance: Share = Thresholds().relevance
    confidence: Share = Thresholds().confidence
    escalate_confidence: Share = Thresholds().escalate_confidence
    overlap: Share = Thresholds().overlap
    deliver: Share = Thresholds().deliver
    hold: Share = Thresholds().hold


class GateSection(Section):
    """The whole file, as `areopage.gate.config.GateConfig` explains it.

    `grounding` is a file of weights or `default`; left out it is `default`, or nothing at all under v1_1, which asks no model.
    """

    profile: Literal["default", "v1_1"] = "default"
    mended_patterns: bool = False
    top: Count = 5
    confidence_factor: Annotated[float, Field(gt=0)] = 0.8
    snippet: Count = 200
    thresholds: ThresholdsSection = ThresholdsSection()
    hard: list[ClaimKind] = list(GateConfig().hard)
    citations: Literal["required", "checked", "ignored"] = "checked"
    language: Literal["told", "fallback"] = "told"
    grey_band: bool = False
    unsettled: Literal["hold", "deliver"] = "hold"
    max_characters: Count = 100_000
    grounding: str | None = None
    tuned: dict[str, Any] = {}


def load_gate_config(place: str | Path | None = None) -> GateConfig:
    """Load the gate's rules.

    Args:
        place: None or "default" for the shipped rules, "v1_1" for the documented ones, else a `gate.yml` or its folder.

    Raises:
        ConfigError: the file, or the file of weights that it names, is missing or wrong.
    """
    if place == "v1_1":
        return GateConfig(profile="v1_1")
    path = SHIPPED if place in (None, "default") else Path(place or "").expanduser()
    document = read_yaml(path / CONFIG_FILE if path.is_dir() else path, may_be_empty=True)
    section = checked_section(document, GateSection)
    bounds = section.thresholds
    if bounds.deliver > bounds.hold:
        message = f"must not be over hold: deliver is {bounds.deliver}, hold is {bounds.hold}"
        raise document.error(message, "thresholds", "deliver")
    return msgspec.convert(
        section.model_dump(exclude={"grounding"}) | {"grounding": _weights(section, document)}, GateConfig, strict=False
    )


def load_gate(place: str | Path | None = None, *, clock: Callable[[], float] | None = None) -> Gate:
    """A gate that is ready to decide.

    Args:
        place: as in `load_gate_config`.
        clock: as in `Gate`.

    Raises:
        ConfigError: as in `load_gate_config`.
    """
    return Gate(load_gate_config(place), clock=clock)


def shipped_grounding() -> GroundingModel:
    """The grounding model that comes with the program."""
    return read_weights(SHIPPED / WEIGHTS_FILE)


def read_weights(path: Path) -> GroundingModel:
    """Read a file of weights.

    Raises:
        ConfigError: it is missing, no JSON, or no grounding model.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_WEIGHTS_BYTES + 1)  # a device or a pipe has no size, and may never end
        if len(content) > MAX_WEIGHTS_BYTES:
            raise ConfigError(f"larger than {MAX_WEIGHTS_BYTES:,} bytes: this is no file of weights", path=path)
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


def _weights(section: GateSection, document: YamlDocument) -> GroundingModel | None:
    """The model that a file names."""
    if section.grounding is None and section.profile == "v1_1":
        return None
    if section.grounding in (None, SHIPPED_WEIGHTS):
        return shipped_grounding()
    if not section.grounding:
        raise document.error("give a file of weights, or default", "grounding")
    return read_weights(document.path.parent / Path(section.grounding).expanduser())


def write_gate_config(config: GateConfig, folder: Path) -> Path:
    """Write rules that `load_gate_config` reads back as they are; each file is the old one or the new one, never half of either.

    Weights that are not the shipped ones are written first, into `grounding.json`, or under a name of their own where other
    weights stand there: whoever reads meanwhile finds the rules with the weights that belong to them.

    Returns:
        The path of the `gate.yml`.

    Raises:
        StorageError: the folder cannot be written.
    """
    model = config.grounding
    named: str | None = None
    if model is not None and model == shipped_grounding():
        named = SHIPPED_WEIGHTS
    elif model is not None:
        weights = msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
        named = _free_name(folder, weights)
        _replace(folder / named, weights)
    path = folder / CONFIG_FILE
    _replace(path, config_text(config, named).encode())
    return path


def config_text(config: GateConfig, weights: str | None) -> str:
    """The text of a `gate.yml`, every key with what it does.

    Args:
        weights: the file of weights as it is named there, `default`, or None to leave the key out.
    """
    bounds = config.thresholds
    hard = ", ".join(config.hard)
    lines = [
        "# The rules of the gate: which answers may leave. Every key may be left out; without it the shipped value holds.",
        "",
        _line("profile", config.profile, "default, or v1_1: the documented rule to the letter"),
        _line("mended_patterns", config.mended_patterns, "v1_1 alone: whole years and all writings of amounts"),
        _line("top", config.top, "so many documents count, the first ones"),
        _line("confidence_factor", config.confidence_factor, "confidence = factor × mean of the documents' scores"),
        _line("snippet", config.snippet, "so many first characters of a document are looked for word by word"),
        "",
        "thresholds:",
        _line("  relevance", bounds.relevance, "score of the best document, from which documents are relevant at all"),
        _line("  confidence", bounds.confidence, "confidence from which an answer may leave"),
        _line("  escalate_confidence", bounds.escalate_confidence, "under it an answer that does not pass goes to people"),
        _line("  overlap", bounds.overlap, "overlap from which an answer counts as cited"),
        _line("  deliver", bounds.deliver, "probability of something unsupported, up to which an answer leaves"),
        _line("  hold", bounds.hold, "from which it is held back; between both lies the grey band"),
        "",
        _line("hard", f"[{hard}]", "kinds that must stand in a document; also: quantity (3 witnesses)"),
        _line("citations", config.citations, "required, checked (ids that do not exist are held back), ignored"),
        _line("language", config.language, "another language than the question's: told, or fallback"),
        _line("grey_band", config.grey_band, "whether a judge may be asked between deliver and hold"),
        _line("unsettled", config.unsettled, "in the grey band without a judge's word: hold, or deliver"),
        _line("max_characters", config.max_characters, "a longer answer is held back unread"),
    ]
    if weights is not None:
        lines.append(_line("grounding", weights, "weights of the grounding model: a file, or default"))
    if config.tuned:
        lines += ["", "# Where thresholds and weights come from"]
        lines.append(_dumped({"tuned": msgspec.to_builtins(config.tuned)}).rstrip())
    return "\n".join(lines) + "\n"


def _line(key: str, value: object, says: str) -> str:
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{f'{key}: {shown}':<42} # {says}"


def _dumped(data: dict[str, Any]) -> str:
    """Data as YAML, with its accents as they are unless some other sign would not come back."""
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    return text if yaml.safe_load(text) == data else yaml.safe_dump(data, sort_keys=False)


def _free_name(folder: Path, weights: bytes) -> str:
    """`grounding.json`, unless other weights stand there that a `gate.yml` may still name."""
    try:
        taken = (folder / WEIGHTS_FILE).read_bytes() != weights
    except OSError:
        taken = False
    return f"grounding-{hashlib.sha256(weights).hexdigest()[:12]}.json" if taken else WEIGHTS_FILE


def _replace(path: Path, content: bytes) -> None:
    """Put a file in the place of the one that stands there, whole or not at all."""
    temporary = path.with_name(f".{secrets.token_hex(6)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as fault:
        raise StorageError(f"{path} cannot be written: {fault.strerror or fault}") from fault
    finally:
        with suppress(OSError):  # what led here has been said
            temporary.unlink(missing_ok=True)
