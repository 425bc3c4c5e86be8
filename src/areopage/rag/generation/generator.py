"""Generation of answers from documents by a language model."""

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Any

from areopage.cases.records import Case, Document
from areopage.errors import CallRejected, CallTimedOut
from areopage.models.port import LanguageModel
from areopage.models.providers import open_model
from areopage.models.reference import ModelReference
from areopage.models.retry import Retrying
from areopage.models.settings import ModelSettings
from areopage.rag.config import GenerationSection, RagConfig
from areopage.rag.generation.prompts import Prompts, load_prompts
from areopage.rag.generation.structured import SCHEMA, Structured, plain_answer, read_structured
from areopage.rag.records import Generated

CHARACTERS_PER_TOKEN = 3.0  # fewer than in running English: names, figures and French take more tokens
PROMPT_ROOM = 4_000  # characters: instruction, ids, titles and question
WINDOW_STEP = 1_024  # tokens
SMALLEST_WINDOW, LARGEST_WINDOW = 4_096, 32_768
ATTEMPTS = 3
OUTAGE = 1.0  # seconds that a user waits for a server where nothing listens


class ModelGenerator:
    """A `Generator` over any model of `models/`."""

    def __init__(
        self, model: LanguageModel, prompts: Prompts, options: Mapping[str, Any], *, secret: bytes, seconds: float
    ) -> None:
        """Args:
        options: of each call, under the provider's names.
        secret: the ledger's; the documents' fences derive from it.
        seconds: how long an answer may take, tries made again included.
        """
        self._model = model
        self._prompts = prompts
        self._options = dict(options)
        self._secret = secret
        self._seconds = seconds

    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        """Answer a prompt; a prompt truncated by the server is a failure.

        See `Generator.generate`.
        """
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
            read = Structured(text=plain_answer(completion.text))
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
    """Open the configured generator without calling it.

    Raises:
        ConfigError, ModelError: the model's reference or its endpoint is wrong.
        MissingExtra: the model needs a package that is not installed.
    """
    section = config.section.generation
    reference, settings = model_of(config, environment)
    model = Retrying(open_model(reference, settings), attempts=ATTEMPTS, patience=section.timeout, outage=OUTAGE)
    options = generation_options(section, config.section.retrieval.top_k)
    return ModelGenerator(model, prompts_of(section), options, secret=secret, seconds=section.timeout)


def prompts_of(section: GenerationSection) -> Prompts:
    """Build the prompts of a configuration."""
    return load_prompts(section.instructions, section.max_chars, structured=section.structured)


def generation_options(section: GenerationSection, top_k: int) -> dict[str, Any]:
    """The options of each call.

    The context window fits the longest prompt, so that no server truncates a prompt or reloads a model.
    """
    characters = section.max_chars * top_k + PROMPT_ROOM
    tokens = math.ceil(characters / CHARACTERS_PER_TOKEN) + section.max_tokens
    window = math.ceil(tokens / WINDOW_STEP) * WINDOW_STEP
    return {
        "temperature": section.temperature,
        "num_predict": section.max_tokens,
        "num_ctx": min(max(window, SMALLEST_WINDOW), LARGEST_WINDOW),
    } | section.options


def model_of(config: RagConfig, environment: Mapping[str, str]) -> tuple[ModelReference, ModelSettings]:
    """Select the answering model and its connection.

    Raises:
        ConfigError: the reference's endpoint is wrong.
        ModelError: the reference is none.
    """
    section = config.section.generation
    reference = ModelReference.parse(section.model)
    return reference, config.model_settings(environment, section.timeout, reference.endpoint, "generation", "model")
