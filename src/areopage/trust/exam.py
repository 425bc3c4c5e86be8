"""Exams of judges on a suite's gold set.

An exam is planned from the suite, checks its judges, and asks them what the ledger lacks: an interrupted one goes on where it
was. Its judgments belong to panels of kind "exam": no run, monitor or figure of people counts them.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct, structs

from areopage.cases.records import Case
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import TEMPLATE_VERSION, judge_prompt
from areopage.criteria.records import Criterion
from areopage.criteria.registry import select_criteria
from areopage.criteria.scopes import WHOLE, given_replies
from areopage.digest import digest_of
from areopage.errors import CriteriaError, DatasetError, StorageError, name_list
from areopage.jury.judges import Judge, PlannedCall
from areopage.jury.opening import check_judge
from areopage.jury.options import choose_judges, model_settings
from areopage.jury.panel import Panel, checked_panel, panel_run, planned_calls
from areopage.jury.plan import JudgedCase
from areopage.jury.session import LedgerJudgments, Session, is_open
from areopage.ledger.qualifications import Qualification, Qualifications, standing_key
from areopage.ledger.records import Judgment
from areopage.ledger.store import Ledger
from areopage.models.port import CHARACTERS_PER_TOKEN
from areopage.models.settings import ModelSettings
from areopage.scoring.exams.figures import examine
from areopage.scoring.exams.records import NOT_APPLICABLE, ExamItem, Marks, Said
from areopage.scoring.outcome import NotApplicable, Scored
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
        variants: the harmless changes that rows are judged with besides.
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


class ExamObserver(Protocol):
    """Receives progress of an exam."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """Report the start of a phase with `total` calls, `kept` of them in the ledger already."""
        ...

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Report a call to a judge about rows, by their ids."""
        ...


class ExamResult(Struct, frozen=True, kw_only=True):
    """What an exam found, one judge on one criterion each; nothing while calls are open that another try could bring."""

    exam: str
    open_calls: int
    found: tuple[Qualification, ...]


# --- prepare


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


# --- run


def run_exam(exam: Exam, ledger: Ledger, observer: ExamObserver) -> ExamResult:
    """Ask the judges what the ledger lacks, and store what the exam shows once every call has an answer.

    An exam that was stored before is returned as it is.

    Args:
        exam: with its judges checked.

    Raises:
        ServerDown, ModelError, StorageError: the exam stops; what arrived is kept, and running it again goes on from there.
    """
    stored = tuple(Qualifications(ledger).list(exam=exam.id))
    held = asyncio.run(_asked(exam, ledger, observer))
    planned = [one for part in exam.parts for judge in part.panel.judges for one in exam_calls(exam, part, judge)]
    open_calls = sum(one.call.key not in held or is_open(held[one.call.key]) for one in planned)
    if open_calls or stored:
        return ExamResult(exam=exam.id, open_calls=open_calls, found=stored if not open_calls else ())
    found = qualifications_of(exam, held, datetime.now(UTC))
    return ExamResult(exam=exam.id, open_calls=0, found=Qualifications(ledger).add(found))


async def _asked(exam: Exam, ledger: Ledger, observer: ExamObserver) -> dict[str, Judgment]:
    """Judge by judge, so that a server keeps one model in memory."""
    held: dict[str, Judgment] = {}
    for judge in exam.judges:
        for part in exam.parts:
            run = panel_run(part.panel, "exam")
            await asyncio.to_thread(ledger.put_panel, run)
            session = Session(
                part.panel,
                part.settings,
                LedgerJudgments(ledger),
                kind="exam",
                run_id=run.id,
                outage_seconds=exam.outage_seconds,
                stops_at_outage=True,
                concurrency=exam.concurrency,
            )
            try:
                await _ask(exam, part, next(one for one in part.panel.judges if one.name == judge.name), session, held, observer)
            finally:
                await session.aclose()
    return held


async def _ask(
    exam: Exam, part: ExamPart, judge: Judge, session: Session, held: dict[str, Judgment], observer: ExamObserver
) -> None:
    calls: dict[str, PlannedCall] = {}
    rows: dict[str, list[str]] = {}
    for one in exam_calls(exam, part, judge):
        calls[one.call.key] = one.call
        rows.setdefault(one.call.key, []).append(one.row)
    known = await session.known(calls.values())
    held |= known
    observer.phase(f"{judge.name} ({part.language})", len(calls), len(known))
    await session.ask(calls.values(), held, lambda judgment: observer.judged(judgment, rows[judgment.key]))


# --- results


def qualifications_of(exam: Exam, held: Mapping[str, Judgment], at: datetime) -> tuple[Qualification, ...]:
    """What the judgments of an exam show, one judge on one criterion each.

    Args:
        held: by key; of every call.
        at: when the exam was finished.
    """
    found: list[Qualification] = []
    for place, judge in enumerate(exam.judges):
        items: dict[str, list[ExamItem]] = {}
        keys: dict[str, dict[str, str]] = {}
        criteria: dict[str, Criterion] = {}
        for part in exam.parts:
            own = part.panel.judges[place]
            criteria |= part.panel.criteria_by_id()
            for item_of, item in _items(exam, part, own, held):
                items.setdefault(item_of, []).append(item)
                keys.setdefault(item_of, {})[part.language] = standing_key(own, part.panel.criteria_by_id()[item_of])
        found += [
            Qualification(
                exam=exam.id,
                at=at,
                suite=exam.suite,
                judge=judge.name,
                model=str(judge.reference),
                digest=judge.digest,
                criterion=id,
                template=TEMPLATE_VERSION,
                languages=tuple(keys[id]),
                keys=tuple(keys[id].values()),
                gold=exam.gold,
                whole=exam.whole,
                result=examine(id, said, criteria[id].scale, exam.marks, repeats=judge.kind != "code"),
                items=tuple(said),
            )
            for id, said in items.items()
        ]
    return tuple(found)


def _items(exam: Exam, part: ExamPart, judge: Judge, held: Mapping[str, Judgment]) -> Iterator[tuple[str, ExamItem]]:
    """What a judge said of each row on each criterion."""
    passes: dict[tuple[str, str], dict[int, Said]] = {}
    variants: dict[tuple[str, str], dict[str, Said]] = {}
    for one in exam_calls(exam, part, judge):
        for criterion in one.call.criteria:
            said, place = _said(held[one.call.key], criterion.id), (one.row, criterion.id)
            if one.variant:
                variants.setdefault(place, {})[one.variant] = said
            else:
                passes.setdefault(place, {})[one.call.pass_index] = said
    rows = {row.id: row for row in part.rows}
    for (id, criterion_id), given in passes.items():
        row = rows[id]
        low, high = row.bands.get(criterion_id, (None, None))
        yield (
            criterion_id,
            ExamItem(
                row=id,
                language=part.language,
                low=low,
                high=high,
                may_not_apply=criterion_id in row.not_applicable,
                passes=tuple(given[number] for number in sorted(given)),
                variants=variants.get((id, criterion_id), {}),
            ),
        )


def _said(judgment: Judgment, criterion: str) -> Said:
    outcome = next((verdict.outcome for verdict in judgment.verdicts if verdict.criterion == criterion), None)
    if outcome is None:
        raise StorageError(f"the ledger is damaged: judgment {judgment.key[:12]} has no verdict on {criterion}")
    if isinstance(outcome, Scored):
        return float(outcome.score)
    return NOT_APPLICABLE if isinstance(outcome, NotApplicable) else None
