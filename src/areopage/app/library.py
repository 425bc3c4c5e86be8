"""What a program calls first: evaluate an answer, run a benchmark."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from areopage.bench import Observer, RunOptions, RunView
from areopage.bench import run_benchmark as start_run
from areopage.jury import Evaluated
from areopage.ledger import Ledger
from areopage.models import refuse_in_loop
from areopage.monitor import Documents, Prompt, QualityJudge
from areopage.suites import Suite


async def evaluate(
    prompt: Prompt,
    response: str,
    documents: Documents = None,
    *,
    suite: str | Path | Suite = "answer_quality",
    judges: Sequence[str] = (),
    language: str | None = None,
) -> Evaluated:
    """Evaluate one answer on the criteria of a suite. A judge that fails is part of what is returned.

    For many answers keep one `QualityJudge`, whose models stay open.

    Args:
        prompt: what the user asked, or the turns of the conversation.
        documents: what the response should rest on, the best first: records, objects or texts.
        suite: a bundled suite's name, a suite's folder, or a loaded suite.
        judges: names of the suite's judges or references such as "ollama:qwen3:8b"; none: all judges of the suite.
        language: of the judges' prompts; None: the suite's own.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
        DatasetError: a document has no text.
    """
    async with QualityJudge.from_suite(suite, judges, language=language) as judge:
        return await judge.evaluate(prompt, response, documents)


def run_benchmark(
    suite: Suite | str,
    *,
    ledger: Ledger | str | Path | None = None,
    out: Path | str = "outputs",
    fresh: bool = False,
    new: bool = False,
    observer: Observer | None = None,
    budget: float | None = None,
    **options: Any,
) -> RunView:
    """Run a benchmark to its end, or resume the unfinished run with the same specification.

    Args:
        suite: a loaded suite, a bundled suite's name or a folder.
        ledger: an open ledger, or the file or URL of one; None: `ledger.db` in `out`.
        out: the folder that gets the run's folder.
        fresh: ask judges again about answers of which the ledger has their judgments; begin a new run.
        new: begin a new run, even if one with the same specification is unfinished.
        observer: is told about each call.
        budget: what the run may cost, in the currency of its models' prices; None: no limit.
        options: the fields of `RunOptions`, such as `target="ollama:gemma3:4b"`, `judges=(...)`, `criteria=...`, `limit=20`.

    Raises:
        UserError: the suite, the dataset or a model cannot be used, or the budget is spent; paid calls are kept. Or an event
            loop runs in this thread, as in a notebook: use `asyncio.to_thread`.
        TypeError: a wish that there is none of.
    """
    refuse_in_loop("run_benchmark", "await asyncio.to_thread(areopage.run_benchmark, ...)")
    folder, asked = Path(out), RunOptions(**options)
    with ExitStack() as stack:
        if not isinstance(ledger, Ledger):
            ledger = stack.enter_context(Ledger.open(ledger or folder / "ledger.db"))
        return start_run(suite, asked, ledger=ledger, out=folder, fresh=fresh, new=new, observer=observer, budget=budget)
