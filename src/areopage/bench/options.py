"""The options of a run: one record for the command line, the library call and what a run is prepared from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Struct

from areopage.bench.target_prompts import PromptMode

if TYPE_CHECKING:
    from areopage.bench.planning.reassess import StoredAnswers

AnswersFrom = Literal["target", "dataset"]


class Flag(Struct, frozen=True):
    """How the command line names a field, and what its help says.

    Args:
        least, most: the bounds of a number.
    """

    name: str
    help: str
    metavar: str | None = None
    least: float | None = None
    most: float | None = None


class RunOptions(Struct, frozen=True, kw_only=True):
    """The user's options; None or empty uses the suite's value. What the command line takes is in the annotations.

    Args:
        datasets: files in place of the suite's own.
        answers: where answers come from if the dataset has some: the target answers every case, or only those without one.
        judges: names of the suite's judges, or references.
        passes: how often each judge is asked, which switches the suite's adaptive passes off; `auto` switches them on.
        where, ages: conditions on columns that cases must meet, as `COLUMN=VALUE`, and on their readers' age.
        limit: how many cases; −1 for all.
        language: of judges' prompts, personas and the suite's own datasets.
        allowed_variables: environment variables whose values the suite's endpoints and bots may be sent.
        salt, reuse_answers: see `RunSpec`.
        stored_answers: answers that the ledger holds, in place of datasets; no target is asked.
        responses_only: every case must bring its response: no target is asked.
    """

    datasets: Annotated[
        tuple[Path, ...],
        Flag(
            "--dataset",
            "CSV, XLSX, JSONL, JSON, Parquet, .eval, or a Hugging Face folder; may be repeated. "
            "A part: FOLDER#split=NAME, FILE#prompt=COLUMN.",
            "FILE",
        ),
    ] = ()
    target: Annotated[str | None, Flag("--target", "Model under test, e.g. ollama:gemma3:4b.", "REF")] = None
    answers: Annotated[
        AnswersFrom | None,
        Flag(
            "--answers",
            "If the dataset has answers: let the target answer every prompt, or only those without an answer.",
            "target|dataset",
        ),
    ] = None
    judges: Annotated[
        tuple[str, ...],
        Flag(
            "--judge",
            "A judge of the suite by name, or a model, e.g. ollama:qwen3:8b or NAME=ollama:qwen3:8b; may be repeated.",
            "[NAME=]REF",
        ),
    ] = ()
    criteria: Annotated[str | None, Flag("--criteria", "Presets, categories or criteria, separated by commas.", "SEL")] = None
    mode: Annotated[PromptMode | None, Flag("--mode", "How the prompts are sent to the target.", "attack|defensive")] = None
    passes: Annotated[
        int | Literal["auto"] | None,
        Flag("--passes", "How often each judge is asked about a case; auto: more often where it changes a decision.", "N|auto"),
    ] = None
    most_calls: Annotated[int | None, Flag("--max-calls", "Judge calls at most, with --passes auto.", "CALLS", least=1)] = None
    joint: Annotated[
        bool | None,
        Flag("--joint/--no-joint", "Ask a model about all criteria of a scope in one call; default: as the suite says."),
    ] = None
    repeat_identical: Annotated[
        bool | None,
        Flag("--repeat-identical", "Ask passes with equal options at temperature 0 each; else they are asked once."),
    ] = None
    where: Annotated[
        tuple[str, ...],
        Flag(
            "--where",
            "Only cases with this value, e.g. category=safety or tag=benign_twin; may be repeated: "
            "of one column any value, of several columns all.",
            "COLUMN=VALUE",
        ),
    ] = ()
    ages: Annotated[tuple[str, ...], Flag("--age", "Only cases for readers of this age, e.g. 9-12; may be repeated.", "AGE")] = ()
    limit: Annotated[int | None, Flag("--limit", "Number of cases; -1 for all.")] = None
    min_coverage: Annotated[
        float | None,
        Flag(
            "--min-coverage",
            "Share of planned judgments under which the run is inconclusive (exit code 3); default: the suite's, 0.95.",
            "SHARE",
            least=0,
            most=1,
        ),
    ] = None
    language: Annotated[
        str | None,
        Flag("--lang", "Language of the judges' prompts, the personas and the report.", "en|fr"),
    ] = None
    profile: Annotated[str | None, Flag("--profile", "Scoring rules.", "default|v1_1")] = None
    concurrency: Annotated[int | None, Flag("--concurrency", "Calls open at once to each server.", least=1, most=1024)] = None
    timeout: Annotated[float | None, Flag("--timeout", "How long one call may take.", "SECONDS", least=0.1, most=86_400)] = None
    child: Annotated[str | None, Flag("--child", "Model that plays simulated children, e.g. ollama:qwen3:8b.", "REF")] = None
    turns: Annotated[
        int | None, Flag("--turns", "Turns of each simulated child, in place of its own number.", least=1, most=20)
    ] = None
    allowed_variables: Annotated[
        tuple[str, ...],
        Flag("--allow-variable", "Environment variable whose value the suite's servers get; may be repeated.", "NAME"),
    ] = ()
    batch: Annotated[
        bool,
        Flag(
            "--batch",
            "Send judges' calls through their providers' batch services: within a day, at half the price. "
            "Calls to the target stay direct.",
        ),
    ] = False
    reuse_answers: Annotated[
        bool,
        Flag(
            "--reuse-answers",
            "Take answers that the target gave to earlier runs, in place of calls; reports say how old they are.",
        ),
    ] = False
    salt: str = ""
    stored_answers: "StoredAnswers | None" = None
    responses_only: bool = False

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that cases must meet, as `COLUMN=VALUE`."""
        return (*self.where, *(f"age={age}" for age in self.ages))
