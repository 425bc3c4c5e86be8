"""Options of commands that ask models about the cases of a suite: which suite, cases, judges and limits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from areopage.errors import UserError

AUTO = "auto"
MOST_PASSES = 100

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, the beginning of it, its folder, or `latest`.")]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...",
        help="A run's id, the beginning of it, its folder, or `latest` (default); or a run of one target for each language.",
    ),
]
SuiteOption = Annotated[str, typer.Option("--suite", metavar="NAME|DIR", help="A bundled suite, or a folder with a config.yml.")]
DatasetOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--dataset",
        metavar="FILE",
        help="CSV, XLSX, JSONL, JSON, Parquet, .eval, or a Hugging Face folder; may be repeated. "
        "A part: FOLDER#split=NAME, FILE#prompt=COLUMN.",
    ),
]
TargetOption = Annotated[str | None, typer.Option("--target", metavar="REF", help="Model under test, e.g. ollama:gemma3:4b.")]
TargetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target", metavar="REF", help="Model under test, e.g. ollama:gemma3:4b; several get a run each and one league table."
    ),
]
AnswersOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        metavar="target|dataset",
        help="If the dataset has answers: let the target answer every prompt, or only those without an answer.",
    ),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="[NAME=]REF",
        help="A judge of the suite by name, or a model, e.g. ollama:qwen3:8b or NAME=ollama:qwen3:8b; may be repeated.",
    ),
]
CriteriaOption = Annotated[
    str | None,
    typer.Option("--criteria", metavar="SEL", help="Presets, categories or criteria, separated by commas."),
]
ModeOption = Annotated[
    str | None, typer.Option("--mode", metavar="attack|defensive", help="How the prompts are sent to the target.")
]
PassesOption = Annotated[
    int | None, typer.Option("--passes", min=1, max=MOST_PASSES, help="How often each judge is asked about a case.")
]
PassesOrAutoOption = Annotated[
    str | None,
    typer.Option(
        "--passes",
        metavar="N|auto",
        help="How often each judge is asked about a case; auto: more often where it changes a decision.",
    ),
]
MostCallsOption = Annotated[
    int | None, typer.Option("--max-calls", metavar="CALLS", min=1, help="Judge calls at most, with --passes auto.")
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="AMOUNT",
        min=0,
        help="Stop before a call that might cost more than is left, in the currency of the prices, e.g. 5.00.",
    ),
]
JointOption = Annotated[
    bool | None,
    typer.Option("--joint/--no-joint", help="Ask a model about all criteria of a scope in one call; default: as the suite says."),
]
RepeatIdenticalOption = Annotated[
    bool | None,
    typer.Option("--repeat-identical", help="Ask passes with equal options at temperature 0 each; else they are asked once."),
]
MinCoverageOption = Annotated[
    float | None,
    typer.Option(
        "--min-coverage",
        metavar="SHARE",
        min=0,
        max=1,
        help="Share of planned judgments under which the run is inconclusive (exit code 3); default: the suite's, 0.95.",
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="COLUMN=VALUE",
        help="Only cases with this value, e.g. category=safety or tag=benign_twin; may be repeated: "
        "of one column any value, of several columns all.",
    ),
]
AgeOption = Annotated[
    list[str] | None, typer.Option("--age", metavar="AGE", help="Only cases for readers of this age, e.g. 9-12; may be repeated.")
]


def conditions(where: Sequence[str] | None, age: Sequence[str] | None) -> tuple[str, ...]:
    """The conditions of `--where` and `--age`, as COLUMN=VALUE."""
    return (*(where or ()), *(f"age={one}" for one in age or ()))


LimitOption = Annotated[int | None, typer.Option("--limit", help="Number of cases; -1 for all.")]
PromptLanguageOption = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="en|fr",
        help="Language of the judges' prompts, the personas and the report; en,fr: a run in each, and one verdict on all.",
    ),
]
PageLanguageOption = Annotated[
    str | None, typer.Option("--lang", metavar="en|fr", help="Language of the page; default: that of the runs.")
]
ConcurrencyOption = Annotated[
    int | None, typer.Option("--concurrency", min=1, max=1024, help="Calls open at once to each server.")
]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=86_400, help="How long one call may take.")
]
ChildOption = Annotated[
    str | None, typer.Option("--child", metavar="REF", help="Model that plays simulated children, e.g. ollama:qwen3:8b.")
]
TurnsOption = Annotated[
    int | None, typer.Option("--turns", min=1, max=20, help="Turns of each simulated child, in place of its own number.")
]
AllowVariableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-variable", metavar="NAME", help="Environment variable whose value the suite's servers get; may be repeated."
    ),
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Also compare targets on the cases with each value of a column, e.g. age; may be repeated."
    ),
]
ClusterOption = Annotated[
    str,
    typer.Option("--cluster", metavar="COLUMN", help="Column that says which cases belong together; default: equal prompts do."),
]
BatchOption = Annotated[
    bool,
    typer.Option(
        "--batch",
        help="Send judges' calls through their providers' batch services: within a day, at half the price. "
        "Calls to the target stay direct.",
    ),
]
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Begin a new run that repeats judgments, even those of equal answers.")
]
NewOption = Annotated[
    bool, typer.Option("--new", help="Begin a new run, even if one with the same options is unfinished; for schedules and CI.")
]
ReuseAnswersOption = Annotated[
    bool,
    typer.Option(
        "--reuse-answers",
        help="Take answers that the target gave to earlier runs, in place of calls; reports say how old they are.",
    ),
]
FleetOption = Annotated[
    bool, typer.Option("--fleet", help="Let workers (`areopage worker`) carry the run out, and follow it here.")
]
OnlyQualifiedOption = Annotated[
    bool, typer.Option("--only-qualified", help="Refuse judges that have not passed `areopage qualify` on their criteria.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Start without asking, even models that cost money.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", help="List all notes on the suite's configuration.")]


def passes_wanted(text: str | None) -> int | None:
    """The number of passes that --passes gives; None where it says "auto" or is not given.

    Raises:
        UserError: it is neither.
    """
    if text is None or text == AUTO:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PASSES:
        raise UserError(f"--passes {text!r}: give a number from 1 to {MOST_PASSES}, or auto")
    return int(text)
