"""How a user names a model: `provider:model`, or `provider@endpoint:model` for a named server."""

import re
from pathlib import Path, PureWindowsPath  # the second splits at / and at \\
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from areopage.errors import ModelError

NAMED_REFERENCE = re.compile(r"([^:=\s]+)=(.+)")
"""`NAME=REF`: a reference with a name that the user gives the model."""


class ModelReference(Struct, frozen=True):
    """A model as the user names it. `endpoint` is "" for the provider's usual server."""

    provider: str
    model: str
    endpoint: str = ""

    def __str__(self) -> str:
        return f"{self.server}:{self.model}"

    @property
    def server(self) -> str:
        """`provider[@endpoint]`."""
        return f"{self.provider}@{self.endpoint}" if self.endpoint else self.provider

    @property
    def names_file(self) -> bool:
        """Whether the model is a file: a recording, or the weights of an embedded model."""
        a_path = "/" in self.model or "\\" in self.model or self.model.lower().endswith(".gguf")
        return self.provider == "replay" or (self.provider == "embedded" and a_path)

    def beside(self, folder: Path) -> Self:
        """The reference; a file that it names lies at an absolute path, resolved from a folder."""
        return replace(self, model=str((folder / Path(self.model).expanduser()).resolve())) if self.names_file else self

    @property
    def title(self) -> str:
        """The reference for a heading: a file without its folders."""
        return f"{self.server}:{PureWindowsPath(self.model).name}" if self.names_file else str(self)

    @property
    def short_name(self) -> str:
        """A name made of the reference; of a file, its own name alone."""
        model = Path(self.model).stem if Path(self.model).is_absolute() else self.model
        return re.sub(r"[^A-Za-z0-9.@-]+", "_", str(replace(self, model=model))).strip("_")

    @classmethod
    def typed(cls, text: str) -> "ModelReference":
        """A typed reference with its file path resolved from the working directory; see `parse`."""
        return cls.parse(text).beside(Path())

    @classmethod
    def parse(cls, text: str, *, default_provider: str | None = None) -> "ModelReference":
        """Read `provider[@endpoint]:model`; everything after the first colon is the model's name.

        Args:
            text: the reference, for example `ollama:qwen3:8b` or `openai@lab:mistral-small`.
            default_provider: the provider of a text that names none by its own key (as in a suite's `judges`).
        """
        if default_provider is not None:
            head, model = default_provider, text
        else:
            head, _, model = text.partition(":")
        provider, _, endpoint = head.partition("@")
        if not provider or not model.strip():
            raise ModelError(f"{text!r} is not a model reference: write provider:model, for example ollama:qwen3:8b")
        return cls(provider=provider, model=model.strip(), endpoint=endpoint)
