"""A model in memory: how llama.cpp loads it, and how it runs one request after another."""

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from areopage.errors import ModelError
from areopage.models.embedded_chat import prompt_request, read_evaluated
from areopage.models.embedded_prefix import Evaluated, KeptPrefix, Prompt
from areopage.models.embedded_threads import threads_granted

_MEASURED_SECONDS = 1.0  # of computing, after which the number of threads is judged

Ends = Callable[[], bool]
"""Whether the call under way must end; asked after each token."""


class LoadedModel:
    """A loaded model; used in one thread."""

    def __init__(self, path: Path, n_ctx: int, threads: int) -> None:
        """Load a file.

        Raises:
            ModelError: llama.cpp cannot load it.
        """
        self.path, self.n_ctx, self.threads = path, n_ctx, threads
        self._server = load_server(path, n_ctx, threads)
        self._prefix = KeptPrefix()
        self._cpu = self._wall = 0.0

    def answer(self, messages: Prompt, request: Mapping[str, Any], ends: Ends) -> tuple[list[dict[str, Any]], int]:
        """Run a request.

        Returns:
            llama.cpp's chunks, and how many tokens of prompts were computed beforehand.
        """

        def evaluate(prompt: Prompt, reuse: bool) -> Evaluated | None:
            return None if ends() else self._evaluate(prompt, reuse, ends)

        kept, prepared, whole = False, 0, False
        try:
            if request.get("cache_prompt", True):
                kept, prepared = self._prefix.prepare(messages, evaluate)
            chunks = [] if ends() else self._run({**request, "cache_prompt": kept}, ends)
            whole = kept and read_evaluated(chunks) is not None
        finally:
            if whole:
                self._prefix.answered(messages)
            else:
                self._prefix.forget()
        return chunks, prepared

    def threads_granted(self) -> int:
        """How many threads the processors had time for; as many as there are until a second of computing was measured."""
        if self._wall < _MEASURED_SECONDS:
            return self.threads
        granted = threads_granted(self.threads, self._cpu, self._wall)
        self._cpu = self._wall = 0.0
        return granted

    def _evaluate(self, prompt: Prompt, reuse: bool, ends: Ends) -> Evaluated | None:
        """Compute a prompt and write nothing; see `areopage.models.embedded_prefix`."""
        cpu, wall = time.process_time(), time.monotonic()
        found = read_evaluated(self._run({**prompt_request(prompt), "cache_prompt": reuse}, ends))
        self._cpu += time.process_time() - cpu
        self._wall += time.monotonic() - wall
        return found

    def _run(self, request: dict[str, Any], ends: Ends) -> list[dict[str, Any]]:
        chunks: list[dict[str, Any]] = []

        def take(chunk: dict[str, Any]) -> bool:
            """Keep a piece; true stops the answer."""
            chunks.append(chunk)
            return ends()

        self._server.handle_chat_completions(request, take)
        return chunks


def load_server(path: Path, n_ctx: int, threads: int) -> Any:
    """Load a model file for one call at a time.

    llama.cpp's wrapper also opens a port on loopback. A random secret key protects it.

    Raises:
        ModelError: llama.cpp cannot load the file.
    """
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = n_ctx
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_parallel = 1
    # Flash attention adds up in as many parts as there are threads: another number of threads would change the last digits.
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # What is kept of a prompt is all of it or nothing: no window that moves on, no snapshots at places of llama.cpp's choice.
    parameters.swa_full = True
    parameters.n_ctx_checkpoints = 0
    # Below every level: llama.cpp would write to the user's stderr.
    parameters.verbosity = -1
    parameters.warmup = False
    # No second store of prompts in memory (8 GB by default): the last prompt's prefix is kept in the context itself.
    parameters.cache_ram_mib = 0
    parameters.api_keys = [secrets.token_hex(32)]
    parameters.ui = False
    parameters.n_threads_http = 1
    parameters.endpoint_metrics = True
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ModelError(
            f"llama.cpp cannot load {path} with n_ctx {n_ctx}: check that it is a complete GGUF file of a chat model"
        ) from error
    # The constructor does not wait for the thread that serves: a server that is dropped before that thread has begun waits for
    # its end for ever. The thread itself answers this question, so that it has begun by then.
    server.handle_metrics()
    return server
