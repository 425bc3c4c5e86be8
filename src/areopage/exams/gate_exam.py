"""The exams of the judge that the gate asks, from the gate's configuration."""

import os
from collections.abc import Sequence

from msgspec import structs

from areopage.app import AppConfig, judge_window
from areopage.checking import CRITERION, LANGUAGES, SUITE, ConfiguredJudge, configured_judge, load_criterion, read_judge_gold
from areopage.exams.asking import Asking, AskingWishes
from areopage.exams.exam_plan import Exam, ExamPart, limited
from areopage.scoring import Marks
from areopage.suites import ExecutionSection, gold_digest

PASSES = 2  # what two passes on a row tell apart shows how steady the judge is
VARIANTS = ("courtesy", "documents")


def gate_exams(config: AppConfig, wishes: AskingWishes, languages: Sequence[str] = (), limit: int = 0) -> tuple[Exam, ...]:
    """Plan the exams of the configured judge, one a language: it is asked what decisions ask it. Calls no model.

    A judge that is right in one language may be wrong in another: each exam gives a standing in its own.

    Args:
        languages: of the gold rows; none: all.
        limit: the number of rows of each language; such an exam gives no standing. 0: all.

    Raises:
        ConfigError: no judge is configured, or its reference is wrong.
        DatasetError: a language has no gold rows.
        MissingExtra: the judge's model needs a package that is not installed.
    """
    configured = configured_judge(config.rag, os.environ, judge_window(config))
    if configured is None:
        raise config.rag.fault("no judge is configured: write judge: provider:model", "grey_band")
    return tuple(_exam(configured, language, wishes, limit) for language in dict.fromkeys(languages or LANGUAGES))


def _exam(configured: ConfiguredJudge, language: str, wishes: AskingWishes, limit: int) -> Exam:
    every = read_judge_gold(language)
    rows, execution = tuple(limited(every, limit)), ExecutionSection()
    judge = structs.replace(configured.judge, pass_options=configured.judge.pass_options * PASSES)
    asking = Asking(
        panel=structs.replace(configured, judge=judge).panel(language, load_criterion()[language]),
        # nobody waits for an exam: a call may take longer than one of a decision
        settings=configured.settings.with_timeout(wishes.timeout or execution.call_timeout),
        concurrency=wishes.concurrency or execution.concurrency,
        outage_seconds=execution.outage_seconds if wishes.outage_seconds is None else wishes.outage_seconds,
    )
    return Exam(
        suite=SUITE,
        parts=(ExamPart(asking=asking, rows=rows, examined=frozenset([CRITERION])),),
        marks=Marks(),
        whole=len(rows) == len(every),
        gold=gold_digest(rows),
        variants=VARIANTS,
        best_alone=True,
    )
