"""The plan of an exam: which judges are asked what about which gold rows, and what that costs."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, structs

from areopage.cases.records import Case
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import judge_prompt
from areopage.criteria.records import Criterion
from areopage.criteria.registry import select_criteria
from areopage.criteria.scopes import WHOLE, given_replies
from areopage.digest import digest_of
from areopage.errors import CriteriaError, DatasetError, name_list
from areopage.jury.judges import Judge, PlannedCall
from areopage.jury.opening import check_judge
from areopage.jury.options import choose_judges, model_settings
from areopage.jury.panel import Panel, checked_panel, planned_calls
from areopage.jury.plan import JudgedCase
from areopage.models.port import CHARACTERS_PER_TOKEN
from areopage.models.settings import ModelSettings
from areopage.scoring.exams.records import Marks
from areopage.scoring.reduce import profile_named
from areopage.suites.loader import Suite
from areopage.trust.gold import GoldRow, gold_digest, read_gold
from areopage.trust.variants import variants_of

VERDICT_TOKENS = 120
"""Assumed of one answer of a judge, as in the plan of a run."""
_SAMPLE = 40


class ExamWishes(Struct, frozen=True, kw_only=True):
    """The user's options; None or empty uses the suite's value.

    Args:
        judges: names of the suite's judges, or references; none: all of the suite.
        languages: of the gold rows; none: all.
        criteria: a selection; None: all that the gold set has.
        passes: how often a judge is asked about a row.
        rows: ids of gold rows, for an exam on a part of the set; none: all. Such an exam gives no standing.
        limit: so many rows of each language, evenly spaced; such an exam gives no standing, either. 0: all.
        salt: sets the keys of this exam apart from all others; "" to share what the ledger holds.
    """

    judges: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    criteria: str | None = None
    passes: int | None = None
    rows: tuple[str, ...] = ()
    limit: int = 0
    concurrency: int | None = None
    timeout: float | None = None
    allowed_variables: tuple[str, ...] = ()
    salt: str = ""


class ExamPart(Struct, frozen=True, kw_only=True):
    """The rows of one language with their panel."""

    language: str
    panel: Panel
    settings: ModelSettings
    rows: tuple[GoldRow, ...]


class Exam(Struct, frozen=True, kw_only=True):
    """An exam before its first call.

    Args:
        whole: it takes all rows of its languages.
        gold: SHA-256 of its rows.
        variants: the harmless changes that rows are also judged with.
    """

    suite: str
    parts: tuple[ExamPart, ...]
    marks: Marks
    whole: bool
    gold: str
    variants: tuple[str, ...]
    concurrency: int
    outage_seconds: float

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges, as those of the first language."""
        return self.parts[0].panel.judges

    @property
    def id(self) -> str:
        """A hash of what determines the exam: an equal one has the same id."""
        return f"exam-{digest_of([[part.panel for part in self.parts], self.gold, self.marks, self.variants])[:32]}"


class ExamCall(Struct, frozen=True, kw_only=True):
    """A call of an exam; `variant` is "" for the row as it is."""

    call: PlannedCall
    row: str
    variant: str = ""


class ExamSize(Struct, frozen=True, kw_only=True):
    """What an exam asks at most, by judge; tokens are approximate, `costs` those of judges with a price, by currency."""

    rows: int
    criteria: int
    calls: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    costs: dict[str, float]


def prepare_exam(suite: Suite, wishes: ExamWishes) -> Exam:
    """Plan an exam; calls no model.

    Raises:
        ConfigError, CriteriaError, DatasetError, ModelError: the suite, its gold set, the selection or a judge is wrong.
    """
    section = suite.config.exam
    every = read_gold(suite)
    languages = wishes.languages or tuple(one for one in suite.config.languages if any(row.language == one for row in every))
    wanted = None if wishes.criteria is None else frozenset(select_criteria(wishes.criteria, suite.registry))
    of_languages = tuple(row for row in every if row.language in languages)
    rows = tuple(_chosen(of_languages, wishes))
    parts = tuple(_part(suite, wishes, language, rows, wanted) for language in languages)
    if not rows or not any(part.rows for part in parts):
        raise DatasetError(f"no gold row is left in {name_list(languages)}: choose other rows, languages or criteria")
    return Exam(
        suite=suite.name,
        parts=tuple(part for part in parts if part.rows),
        marks=suite.exam_marks(),
        whole=len(rows) == len(of_languages),
        gold=gold_digest(rows),
        variants=tuple(section.variants),
        concurrency=wishes.concurrency or suite.config.execution.concurrency,
        outage_seconds=suite.config.execution.outage_seconds,
    )


def _chosen(rows: Sequence[GoldRow], wishes: ExamWishes) -> Iterator[GoldRow]:
    """The rows that are wished for."""
    if unknown := set(wishes.rows) - {row.id for row in rows}:
        raise DatasetError(f"the gold set has no row {name_list(sorted(unknown))}")
    named = [row for row in rows if not wishes.rows or row.id in wishes.rows]
    for language in dict.fromkeys(row.language for row in named):
        own = [row for row in named if row.language == language]
        count = min(wishes.limit or len(own), len(own))
        yield from (own[place * len(own) // count] for place in range(count))


def _part(suite: Suite, wishes: ExamWishes, language: str, rows: Sequence[GoldRow], wanted: frozenset[str] | None) -> ExamPart:
    kept = tuple(row for row in rows if row.language == language and any(wanted is None or key in wanted for key in row.criteria))
    asked = {key for row in kept for key in row.criteria if wanted is None or key in wanted}
    ids = tuple(key for key in suite.registry.entries if key in asked)
    loaded = load_criteria(suite.registry, ids, suite.criteria_folder, language, suite.own_language, suite.scale)
    if loaded.faults:
        raise CriteriaError(str(loaded.faults[0]))
    _refuse_bands(kept, {criterion.id: criterion for criterion in loaded.criteria})
    config = suite.config
    concurrency = wishes.concurrency or config.execution.concurrency
    settings = model_settings(suite, language, concurrency).with_timeout(wishes.timeout).allowing(wishes.allowed_variables)
    panel = Panel(
        suite=suite.name,
        suite_version=config.project.version,
        language=language,
        criteria=tuple(loaded.criteria),
        judges=choose_judges(suite, wishes.judges, wishes.passes or config.exam.passes),
        personas=suite.personas(language),
        scale=suite.scale,
        profile=profile_named(config.scoring.profile),
        salt=wishes.salt,
    )
    return ExamPart(language=language, panel=panel, settings=structs.replace(settings, environment=dict(os.environ)), rows=kept)


def _refuse_bands(rows: Sequence[GoldRow], criteria: Mapping[str, Criterion]) -> None:
    for row in rows:
        for key, ends in row.bands.items():
            if key in criteria and not all(map(criteria[key].scale.contains, ends)):
                raise DatasetError(f"gold row {row.id}: the band of {key} leaves the criterion's scale")


def check_exam(exam: Exam) -> Exam:
    """Check the judges, and record their digests and what they may judge.

    Raises:
        ServerDown, ModelMissing, ModelError, MissingExtra: a judge cannot be used.
        CriteriaError: no judge may judge anything.
    """

    async def check(part: ExamPart) -> ExamPart:
        references = dict.fromkeys(judge.reference for judge in part.panel.judges)
        statuses = {reference: await check_judge(reference, part.settings) for reference in references}
        return structs.replace(part, panel=checked_panel(part.panel, statuses))

    async def check_all() -> tuple[ExamPart, ...]:
        return tuple([await check(part) for part in exam.parts])

    return structs.replace(exam, parts=asyncio.run(check_all()))


def allowing(exam: Exam, variables: Sequence[str]) -> Exam:
    """The exam with more environment variables that the suite's own servers may be sent."""
    parts = tuple(structs.replace(part, settings=part.settings.allowing(variables)) for part in exam.parts)
    return structs.replace(exam, parts=parts)


def exam_calls(exam: Exam, part: ExamPart, judge: Judge) -> Iterator[ExamCall]:
    """All calls to one judge about the rows of one language: every pass, then the first pass on each changed row."""
    by_id = part.panel.criteria_by_id()
    once = structs.replace(judge, passes=judge.passes[:1])
    told: dict[str, tuple[str, str]] = {}
    plain: list[JudgedCase] = []
    changed: list[JudgedCase] = []
    for row in part.rows:
        criteria = tuple(by_id[key] for key in row.criteria if key in by_id)
        for variant, case in {"": row.case(), **variants_of(row.case(), part.language, exam.variants)}.items():
            named = structs.replace(case, id=row.id)
            (changed if variant else plain).append(JudgedCase(case=named, criteria=criteria))
            told[_shown(named)] = (row.id, variant)
    for one, cases in ((judge, plain), (once, changed)):
        for call in planned_calls(part.panel, cases, [one]):
            if call.turn in (WHOLE, given_replies(call.case) + 1) and _shown(call.case) in told:
                id, variant = told[_shown(call.case)]
                yield ExamCall(call=call, row=id, variant=variant)


def _shown(case: Case) -> str:
    return digest_of([case.id, case.response, case.documents])


def exam_size(exam: Exam) -> ExamSize:
    """Estimate what an exam asks; judges' prompts are rendered for a sample of calls."""
    calls: dict[str, int] = {judge.name: 0 for judge in exam.judges}
    prompts = 0.0
    answers, costs = 0, dict[str, float]()
    for part in exam.parts:
        for judge in part.panel.judges:
            planned = [one.call for one in exam_calls(exam, part, judge)]
            calls[judge.name] += len(planned)
            if not planned or not judge.is_model:
                continue
            sample = planned[:: max(1, len(planned) // _SAMPLE)]
            made = [judge_prompt(one.criteria, one.case, part.panel.personas.get(one.case.maturity), b"") for one in sample]
            tokens = sum(len(one.system) + len(one.user) for one in made) / len(made) / CHARACTERS_PER_TOKEN * len(planned)
            prompts, answers = prompts + tokens, answers + VERDICT_TOKENS * len(planned)
            if judge.price is not None:
                cost = judge.price.of(round(tokens), VERDICT_TOKENS * len(planned))
                costs[judge.price.currency] = costs.get(judge.price.currency, 0.0) + cost
    return ExamSize(
        rows=sum(len(part.rows) for part in exam.parts),
        criteria=len({criterion.id for part in exam.parts for criterion in part.panel.criteria}),
        calls=calls,
        prompt_tokens=round(prompts),
        completion_tokens=answers,
        costs=costs,
    )
