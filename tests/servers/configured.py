"""Configurations for tests: written as a file, or made of sections."""

from pathlib import Path
from typing import Any

import msgspec
import yaml

from areopage.app.config import AppConfig, AppSection, default_config, load_config
from areopage.monitor.config import MonitorConfig

CONFIG = "areopage.yml"
SHARED = set(AppSection.model_fields) - {"monitor"}


def write_config(folder: Path, **fields: Any) -> Path:
    """Write an `areopage.yml`: sections of the whole file by their names, everything else into the section `monitor`."""
    top = {key: value for key, value in fields.items() if key in SHARED}
    own = {key: value for key, value in fields.items() if key not in SHARED}
    path = folder / CONFIG
    path.write_text(yaml.safe_dump(top | {"monitor": own}, allow_unicode=True), encoding="utf-8")
    return path


def app_config(folder: Path, **fields: Any) -> AppConfig:
    """A configuration of sections, by the same rule; nothing is written."""
    top = {key: value for key, value in fields.items() if key in SHARED}
    own = {key: value for key, value in fields.items() if key not in SHARED}
    return msgspec.structs.replace(default_config(folder), section=AppSection.model_validate(top | {"monitor": own}))


def monitor_config(folder: Path, **fields: Any) -> MonitorConfig:
    """A monitor's configuration of sections."""
    return app_config(folder, **fields).monitor


def load_monitor(path: Path) -> MonitorConfig:
    """The monitor's configuration in a file."""
    return load_config(path).monitor
