"""The demo's documents, questions and configuration."""

import json
import shutil
from pathlib import Path
from string import Template

import msgspec
from msgspec import Struct

from areopage.errors import StorageError
from areopage.suites import CONFIG_FILE
from areopage.yaml_document import read_yaml

HERE = Path(__file__).parent
DOCUMENTS = "documents"
EMBEDDED = "embedded:smollm2"
# A small model goes on and on: one paragraph is enough. Without its cache the same prompt has the same answer.
EMBEDDED_OPTIONS = {"stop": ["\n"], "cache_prompt": False}
EMBEDDED_TOKENS, OTHER_TOKENS = 80, 300


class Prepared(Struct, frozen=True, kw_only=True):
    """A question with answers written by people."""

    question: str
    answers: tuple[str, ...]


class Script(Struct, frozen=True, kw_only=True):
    """The demo's questions in order."""

    questions: tuple[str, ...]
    prepared: Prepared


def read_script() -> Script:
    """The demo's questions."""
    return msgspec.convert(read_yaml(HERE / "questions.yml").data, Script)


def lay_out(folder: Path, model: str) -> Path:
    """Write documents and areopage.yml to a folder; existing documents are kept."""
    own = model == EMBEDDED
    text = Template((HERE / CONFIG_FILE).read_text(encoding="utf-8")).substitute(
        model=json.dumps(model),
        max_tokens=EMBEDDED_TOKENS if own else OTHER_TOKENS,
        options=json.dumps(EMBEDDED_OPTIONS if own else {}),
    )
    config = folder / CONFIG_FILE
    try:
        (folder / DOCUMENTS).mkdir(parents=True, exist_ok=True)
        for page in sorted((HERE / "corpus").iterdir()):
            if not (folder / DOCUMENTS / page.name).exists():
                shutil.copyfile(page, folder / DOCUMENTS / page.name)
        if not config.exists():
            config.write_text(text, encoding="utf-8")
        elif config.read_text(encoding="utf-8", errors="replace") != text:
            raise StorageError(f"{config} is not the demo's: name another folder with --folder, or remove that file")
    except OSError as error:
        raise StorageError(f"{error.filename or folder}: {error.strerror}: name another folder with --folder") from error
    return config
