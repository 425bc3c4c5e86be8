"""Configurations for tests: written as a file, or made of sections."""

from pathlib import Path
from typing import Any

import msgspec
import yaml

from areopage.app.config import AppConfig, default_config, load_config
from areopage.app.sections import AppSection
from areopage.monitor.config import MonitorConfig

CONFIG = "areopage.yml"
SHARED = set(AppSection.model_fields) - {"monitor"}


def nested(fields: dict[str, Any]) -> dict[str, Any]:
    """Sections of the whole file by their names, everything else in the section `monitor`; so is a list of judges."""
    top = {key: value for key, value in fields.items() if key in SHARED and not isinstance(value, list)}
    return top | {"monitor": {key: value for key, value in fields.items() if key not in top}}


def write_config(folder: Path, **fields: Any) -> Path:
    """Write an `areopage.yml`; see `nested`."""
    path = folder / CONFIG
    path.write_text(yaml.safe_dump(nested(fields), allow_unicode=True), encoding="utf-8")
    return path


def app_config(folder: Path, **fields: Any) -> AppConfig:
    """A configuration of sections; nothing is written."""
    return msgspec.structs.replace(default_config(folder), shared=AppSection.model_validate(nested(fields)))


def monitor_config(folder: Path, **fields: Any) -> MonitorConfig:
    """A monitor's configuration of sections."""
    return app_config(folder, **fields).monitor


def load_monitor(path: Path) -> MonitorConfig:
    """The monitor's configuration in a file."""
    return load_config(path).monitor
