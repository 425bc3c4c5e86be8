"""Generation of answers from documents by a language model: the prompt, the call, the structured answer.

Documents come from outside and may address the model. Each stands within a fence with its id and title, so that no part of it
can pass for an instruction or end its own fence. Neither documents nor the question keep a control token.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from json_repair import repair_json
from msgspec import Struct

from areopage.cases import Case, Document
from areopage.checking import GenerationSection, RagConfig, generation_options
from areopage.criteria import defused, fenced, fill, nonce_of, object_schema
from areopage.digest import digest_of
from areopage.errors import CallRejected, CallTimedOut
from areopage.jury import MAX_REPAIRED, Opened, open_answer
from areopage.models import Calls, LanguageModel, Message, ModelReference, ModelSettings, Retrying, limiter_of, open_model
from areopage.rag.records import Generated
from areopage.text import split_thoughts
from areopage.yaml_document import read_yaml

PROMPTS_FILE = Path(__file__).with_name("generation.yml")
LAYOUT_VERSION = "2"  # goes up when the parts are put together otherwise
OTHER_LANGUAGE = "en"
MAX_IDS = 50
SCHEMA = object_schema(
    {"answer": {"type": "string"}, "cited_ids": {"type": "array", "items": {"type": "string"}}}, ["answer", "cited_ids"]
)
ATTEMPTS = 3
LATER = 60.0  # seconds after the time-out at which the connection would give up by itself
OUTAGE = 1.0  # seconds that a user waits for a server where nothing listens


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
        """Build the messages of a prompt."""
        used = language if language in self.words["system"] else OTHER_LANGUAGE
        # of the documents' fences; the same for the same prompt and documents
        nonce = nonce_of([prompt, [[document.id, document.title, document.text] for document in documents]], secret)
        names = {"language": self.words["language"].get(language, language), "nonce": nonce}
        system = [fill(self.words["system"][used], names)]
        if self.structured:
            system.append(self.words["structured"][used])
        instructions = self.instructions.get(language, "").strip()
        if instructions:
            system.append(instructions)
        user = [fill(self.words["fence"][used], names)] if documents else [self.words["none"][used]]
        label = self.words["label"][used]
        for position, document in enumerate(documents, 1):
            user.append(fenced(f"DOCUMENT {position}", self._block(document, label), nonce))
        user.append(f"{fill(self.words['question'][used], names)}\n{defused(prompt)}")
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


class Structured(Struct, frozen=True, kw_only=True):
    """A parsed answer; `cited_ids` is empty for plain text."""

    text: str
    cited_ids: tuple[str, ...] = ()


def read_structured(text: str, finish_reason: str) -> Structured:
    """Parse an answer; invalid JSON becomes plain text without thinking.

    Where several objects have an `answer`, the first one counts.
    """
    opened = open_answer(text, finish_reason, frozenset())
    if not isinstance(opened, Opened):
        return Structured(text=text.strip())
    for candidate in opened.objects:
        answer = candidate.get("answer")
        if isinstance(answer, str):
            return Structured(text=answer.strip(), cited_ids=_ids_of(candidate.get("cited_ids")))
    if opened.broken:
        repaired = _repaired_answer(opened.bare)
        if repaired is not None:
            return repaired
    return Structured(text=opened.bare.strip())


def _repaired_answer(bare: str) -> Structured | None:
    """What json-repair makes of an object that is broken or cut; None where it holds no answer."""
    start = bare.find("{")
    try:
        repaired = repair_json(bare[start : start + MAX_REPAIRED], return_objects=True)
    except (ValueError, RecursionError, AssertionError, LookupError, TypeError):
        return None  # see `jury.parsing`: json-repair gives up on some texts in these ways
    candidates = repaired if isinstance(repaired, list) else [repaired]
    for candidate in candidates:
        if isinstance(candidate, dict) and isinstance(candidate.get("answer"), str) and candidate["answer"].strip():
            return Structured(text=candidate["answer"].strip(), cited_ids=_ids_of(candidate.get("cited_ids")))
    return None


def _ids_of(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    texts = (
        str(item).strip().strip("[]").strip() for item in items if isinstance(item, str | int) and not isinstance(item, bool)
    )
    return tuple(dict.fromkeys(text for text in texts if text))[:MAX_IDS]


class ModelGenerator:
    """A `Generator` over any model of `models/`."""

    def __init__(
        self, model: LanguageModel, prompts: Prompts, options: Mapping[str, Any], *, secret: bytes, seconds: float
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._options = dict(options)
        self._secret = secret
        self._seconds = seconds

    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        """Answer a prompt; a prompt truncated by the server is a failure. See `Generator.generate`."""
        messages = self._prompts.messages(prompt, documents, language, self._secret)
        schema = SCHEMA if self._prompts.structured else None
        case = Case(id="", prompt=prompt, documents=documents)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._seconds):
                completion = await self._model.generate(messages, self._options, schema, case=case)
        except TimeoutError:
            raise CallTimedOut(f"{self._model.reference}: no answer within {self._seconds:g} s") from None
        if completion.prompt_cut:
            raise CallRejected(
                f"{self._model.reference}: the server cut the prompt: lower generation.max_chars or retrieval.top_k"
            )
        if schema is None:
            read = Structured(text=split_thoughts(completion.text).answer.strip())
        else:
            read = read_structured(completion.text, completion.finish_reason)
        return Generated(
            text=read.text,
            cited_ids=read.cited_ids,
            model=str(self._model.reference),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            seconds=time.perf_counter() - started,
        )

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


def open_generator(config: RagConfig, secret: bytes, environment: Mapping[str, str]) -> ModelGenerator:
    """Open the configured generator without calling it."""
    section = config.section.generation
    reference, settings = model_of(config, environment)
    limiter = limiter_of(settings.endpoints.get(reference.endpoint))
    # The generator's time-out ends a call. One that ended at the same moment in the connection would be tried again.
    model = Retrying(
        open_model(reference, settings.with_timeout(section.timeout + LATER)),
        Calls(attempts=ATTEMPTS, patience=section.timeout, outage=OUTAGE, limiter=limiter),
    )
    options = generation_options(section, config.section.retrieval.top_k)
    return ModelGenerator(model, prompts_of(section), options, secret=secret, seconds=section.timeout)


def prompts_of(section: GenerationSection) -> Prompts:
    """Build the prompts of a configuration."""
    return load_prompts(section.instructions, section.max_chars, structured=section.structured)


def model_of(config: RagConfig, environment: Mapping[str, str]) -> tuple[ModelReference, ModelSettings]:
    """Select the answering model and its connection."""
    section = config.section.generation
    reference = ModelReference.parse(section.model)
    return reference, config.model_settings(environment, section.timeout, reference.endpoint, "generation", "model")
