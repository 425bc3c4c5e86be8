"""A model inside this process, by llama.cpp: `embedded:smollm2`, or `embedded:PATH` of a GGUF file.

The weights are loaded at the first call, and again when a call asks for another `n_ctx` or `n_threads`. One call runs at a time,
in a thread of its own; a call that is cancelled stops at the next token.
"""

import asyncio
import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from areopage.cases import Case
from areopage.embedded.chat import Loading, chat_request, read_chunks, terse_schema, usual_context
from areopage.embedded.weights import SMOLLM2, file_digest, find_weights
from areopage.errors import CallRejected, CallTimedOut, MissingExtra, ModelError, ModelMissing
from areopage.models import Completion, Message, ModelReference, ModelSettings, ModelStatus, Options, Schema


def open_model(reference: ModelReference, settings: ModelSettings) -> "EmbeddedModel":
    """Open a model file; nothing is loaded yet."""
    if find_spec("xllamacpp") is None or (reference.names_file and find_spec("gguf") is None):
        raise MissingExtra("the embedded model", "embedded")
    if reference.model == SMOLLM2.name:
        return EmbeddedModel(reference, None, settings)
    if not reference.names_file:
        raise ModelError(f"{str(reference)!r}: write embedded:{SMOLLM2.name}, or embedded: and the path of a .gguf file")
    return EmbeddedModel(reference, settings.base_dir / Path(reference.model).expanduser(), settings)


class EmbeddedModel:
    """A GGUF model in this process. See `areopage.models.port.LanguageModel`."""

    max_concurrency: int | None = 1

    def __init__(self, reference: ModelReference, path: Path | None, settings: ModelSettings) -> None:
        """Use the file at `path`; None is the bundled model."""
        self.reference = reference
        self._path = path
        self._settings = settings
        self._closed = threading.Event()
        # One thread: the model is loaded, asked and dropped in it, one thing after another.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded-model")
        self._weights: Path | None = None
        self._server: Any = None
        self._loading: Loading | None = None
        self._trained: int | None = None

    async def check(self) -> ModelStatus:
        """Make sure that the file is there; the digest is its SHA-256, the context what a call gets that asks for none."""
        path = await asyncio.to_thread(self._file)
        if self._path is None:  # whose digest was compared
            return ModelStatus(digest=SMOLLM2.sha256, context_length=usual_context(self._trained), unfit=SMOLLM2.unfit)
        digest = await asyncio.to_thread(file_digest, path)
        return ModelStatus(digest=digest, context_length=usual_context(self._trained))

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Ask once; see `LanguageModel.generate`.

        Options are llama.cpp's: temperature, top_p, top_k, min_p, seed, max_tokens (512 unless given), stop, logprobs and
        top_logprobs, penalties, n_ctx (4096 unless given, or what the model was trained with), n_threads (half of the processors
        unless given), cache_prompt (false unless given: an answer depends on its own call alone). Ollama's num_ctx, num_predict
        and num_thread are understood.

        Raises:
            CallRejected: the prompt is longer than the context, or llama.cpp refuses an option or the schema (status 400).
            CallTimedOut: the answer took longer than the total time-out.
            ModelError: an option is unknown, or the file cannot be loaded.
        """
        abandoned = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._worker, self._answer, tuple(messages), options, schema, abandoned
            )
        finally:
            # The thread cannot be cancelled; it looks at this after each token.
            abandoned.set()

    async def aclose(self) -> None:
        """Stop what is under way and give the memory back."""
        if self._closed.is_set():
            return
        self._closed.set()
        await asyncio.get_running_loop().run_in_executor(self._worker, self._drop)
        self._worker.shutdown(wait=False)

    def _file(self) -> Path:
        if self._path is None:
            return find_weights(self._settings.environment)
        if not self._path.is_file():
            raise ModelMissing(f"{self.reference}: no such file: {self._path}")
        if self._trained is None:
            from areopage.embedded.header import read_context_length

            self._trained = read_context_length(self._path)
        return self._path

    def _answer(
        self, messages: Sequence[Message], options: Options, schema: Schema | None, abandoned: threading.Event
    ) -> Completion:
        """Load if need be and run one request; in the worker thread."""
        if self._closed.is_set():
            raise CallRejected(f"{self.reference}: closed before the call began")
        if self._weights is None:
            self._weights = self._file()
        loading, request = chat_request(messages, options, self._trained)
        if loading != self._loading:
            self._drop()
            self._server, self._loading = load_server(self._weights, loading), loading
        started = time.monotonic()
        limit = self._settings.timeouts.total
        chunks: list[dict[str, Any]] = []

        def take(chunk: dict[str, Any]) -> bool:
            """Keep a piece; true stops the answer."""
            chunks.append(chunk)
            return abandoned.is_set() or self._closed.is_set() or time.monotonic() - started > limit

        try:
            if schema is not None:
                from xllamacpp import json_schema_to_grammar

                # A grammar and not `response_format`: that one lets a code fence pass, and hides its tokens from the text.
                request["grammar"] = str(json_schema_to_grammar(terse_schema(schema)))
            self._server.handle_chat_completions(request, take)
        except (TypeError, ValueError, RuntimeError) as error:  # TypeError: text that is no UTF-8, where orjson is installed
            raise CallRejected(f"{self.reference}: {error}", status=400) from error
        seconds = time.monotonic() - started
        if seconds > limit:
            raise CallTimedOut(f"{self.reference}: no complete answer within {limit:g} s")
        if self._closed.is_set():
            raise CallRejected(f"{self.reference}: closed before the answer was complete")
        return read_chunks(chunks, seconds, str(self.reference))

    def _drop(self) -> None:
        """Let go of the loaded model; its destructor ends llama.cpp's threads. In the worker thread."""
        self._server = self._loading = None


def load_server(path: Path, loading: Loading) -> Any:
    """Load a model file for one call at a time.

    llama.cpp's wrapper also opens a port on loopback. A random secret key protects it.
    """
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = loading.n_ctx
    parameters.cpuparams.n_threads = loading.n_threads
    parameters.cpuparams_batch.n_threads = loading.n_threads
    parameters.n_parallel = 1
    # Flash attention adds up in as many parts as there are threads: another number of threads would change the last digits.
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # Below every level: llama.cpp would write to the user's stderr.
    parameters.verbosity = -1
    parameters.warmup = False
    # No second store of prompts in memory (8 GB by default).
    parameters.cache_ram_mib = 0
    parameters.api_keys = [secrets.token_hex(32)]
    parameters.ui = False
    parameters.n_threads_http = 1
    parameters.endpoint_metrics = True
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ModelError(
            f"llama.cpp cannot load {path} with n_ctx {loading.n_ctx}: check that it is a complete GGUF file of a chat model"
        ) from error
    # The constructor does not wait for the thread that serves: a server that is dropped before that thread has begun waits for
    # its end for ever. The thread itself answers this question, so that it has begun by then.
    server.handle_metrics()
    return server
