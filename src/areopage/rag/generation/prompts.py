"""The prompt of the model that answers: the anchoring instruction, the documents between markers, the question.

Documents come from outside and may address the model. Each is fenced by markers with a code that is
unpredictable without the ledger's secret. Its id and title are inside the fence, so that no part of it can pass for an
instruction or end its own fence.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.records import Document
from areopage.criteria.prompts import fenced, fill
from areopage.digest import digest_of
from areopage.models.port import Message
from areopage.yaml_document import read_yaml

PROMPTS_FILE = Path(__file__).with_name("prompts.yml")
LAYOUT_VERSION = "1"  # goes up when the parts are put together otherwise
OTHER_LANGUAGE = "en"
NONCE_LENGTH = 16


class Prompts(Struct, frozen=True, kw_only=True):
    """Prompt texts by part and language, with the configuration's additions."""

    words: Mapping[str, Any]
    instructions: Mapping[str, str]
    structured: bool
    max_chars: int

    @property
    def version(self) -> str:
        """A fingerprint of the prompt texts, without prompt and documents."""
        parts = [LAYOUT_VERSION, self.words, self.instructions, self.structured, self.max_chars]
        return digest_of(parts)[:12]

    def messages(self, prompt: str, documents: Sequence[Document], language: str, secret: bytes) -> tuple[Message, ...]:
        """Build the messages of a prompt.

        Args:
            language: what to answer in.
            secret: the ledger's.
        """
        used = language if language in self.words["system"] else OTHER_LANGUAGE
        names = {"language": self.words["language"].get(language, language), "nonce": _nonce_of(prompt, documents, secret)}
        system = [fill(self.words["system"][used], names)]
        if self.structured:
            system.append(self.words["structured"][used])
        own = self.instructions.get(language, "").strip()
        if own:
            system.append(own)
        user = [fill(self.words["fence"][used], names)] if documents else [self.words["none"][used]]
        label = self.words["label"][used]
        for position, document in enumerate(documents, 1):
            user.append(fenced(f"DOCUMENT {position}", self._block(document, label), names["nonce"]))
        user.append(f"{fill(self.words['question'][used], names)}\n{prompt}")
        return (Message("system", "\n\n".join(system)), Message("user", "\n\n".join(user)))

    def _block(self, document: Document, label: Mapping[str, str]) -> str:
        """A document's id, title and text, the text cut at `max_chars`, at a space where there is one near."""
        text = document.text
        if len(text) > self.max_chars:
            cut = text.rfind(" ", self.max_chars * 3 // 4, self.max_chars)
            text = f"{text[: cut if cut > 0 else self.max_chars].rstrip()} […]"
        head = f"{label['id']} [{document.id}]"
        if document.title:
            head += f"\n{label['title']} {document.title}"
        return f"{head}\n{text}"


def load_prompts(instructions: Mapping[str, str], max_chars: int, *, structured: bool) -> Prompts:
    """Load the package's prompts with a configuration's instructions."""
    words = read_yaml(PROMPTS_FILE).data
    return Prompts(words=words, instructions=dict(instructions), structured=structured, max_chars=max_chars)


def _nonce_of(prompt: str, documents: Sequence[Document], secret: bytes) -> str:
    """16 hexadecimal digits, unpredictable without the secret; the same for the same prompt and documents."""
    content = [prompt, [[document.id, document.title, document.text] for document in documents]]
    return hmac.new(secret, msgspec.json.encode(content), hashlib.sha256).hexdigest()[:NONCE_LENGTH]
