"""The plan of an exam: which judges are asked what about which gold rows, and what that costs."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from areopage.cases import Case
from areopage.criteria import WHOLE, Criterion
from areopage.digest import digest_of
from areopage.errors import ConfigError, DatasetError, name_list
from areopage.exams.asking import Asking, AskingWishes, agreed, asking_of, checked, evenly_spaced
from areopage.jury import CallSize, Judge, JudgedCase, Panel, PlannedCall
from areopage.ledger import Judgment
from areopage.models import Agree
from areopage.scoring import Marks
from areopage.suites import GoldRow, Suite, gold_digest, read_gold

_BULLET = re.compile(r"^([ \t]*)[-+*]([ \t]+)", re.MULTILINE)
_NTH = r"\b(?:first|second|last|premier|deuxième|dernier)\s+document"
_PLACE = re.compile(rf"\[\d+\]|\bdocuments?\s*(?:n[°o]\s*)?\d|{_NTH}", re.IGNORECASE)
_FAREWELL: Mapping[str, str] = {"en": "Have a good day.", "fr": "Bonne journée."}


class ExamWishes(AskingWishes, frozen=True, kw_only=True):
    """The user's options; None or empty uses the suite's value.

    Args:
        judges: names of the suite's judges, or references; none: all of the suite.
        languages: of the gold rows; none: all.
        criteria: a selection; None: all that the gold set has.
        floors: of these, the criteria that decide the suite's release verdict alone.
        passes: how often a judge is asked about a row.
        rows: ids of gold rows, for an exam on a part of the set; none: all. Such an exam gives no standing.
        limit: the number of rows of each language, evenly spaced; such an exam gives no standing, either. 0: all.
        joint: models are asked about each row on all criteria of its scope in one call, as a run with joint judging asks.
        salt: sets the keys of this exam apart from all others; "" to share what the ledger holds.
    """

    judges: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    criteria: str | None = None
    floors: bool = False
    passes: int | None = None
    rows: tuple[str, ...] = ()
    limit: int = 0
    joint: bool = False
    salt: str = ""


class ExamPart(Struct, frozen=True, kw_only=True):
    """The rows of one language, and how judges are asked about them.

    Args:
        examined: the ids of the criteria that the exam is about; in joint calls others stand beside them.
    """

    asking: Asking
    rows: tuple[GoldRow, ...]
    examined: frozenset[str]

    @property
    def panel(self) -> Panel:
        """The judges and the criteria."""
        return self.asking.panel

    def judged_by(self, judges: Sequence[Judge], salt: str | None = None) -> "ExamPart":
        """The part with other judges, and with another salt."""
        panel = structs.replace(self.panel, judges=tuple(judges), salt=self.panel.salt if salt is None else salt)
        return structs.replace(self, asking=structs.replace(self.asking, panel=panel))

    @property
    def language(self) -> str:
        """The language of the rows."""
        return self.panel.language


class Exam(Struct, frozen=True, kw_only=True):
    """An exam before its first call.

    Args:
        whole: it takes all rows of its languages.
        gold: SHA-256 of its rows.
        variants: the harmless changes that rows are also judged with.
        best_alone: only the best score counts; any other is read as the worst, as a judge's user does that asks for yes or no.
    """

    suite: str
    parts: tuple[ExamPart, ...]
    marks: Marks
    whole: bool
    gold: str
    variants: tuple[str, ...]
    best_alone: bool = False

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges, as those of the first language."""
        return self.parts[0].panel.judges

    @property
    def id(self) -> str:
        """A hash of what determines the exam: an equal one has the same id."""
        read = ["best_alone"] if self.best_alone else []
        return f"exam-{digest_of([[part.panel for part in self.parts], self.gold, self.marks, self.variants, *read])[:32]}"

    @property
    def calls(self) -> "Iterator[ExamCall]":
        """All calls to all judges."""
        return (call for part in self.parts for judge in part.panel.judges for call in exam_calls(self, part, judge))

    @property
    def size(self) -> CallSize:
        """What the exam asks at most, as if the ledger had nothing."""
        sizes: list[CallSize] = []
        for part in self.parts:
            calls = [exam_call.call for judge in part.panel.judges for exam_call in exam_calls(self, part, judge)]
            sizes.append(CallSize.of(part.panel, calls))
        return CallSize.of_all(sizes)

    def agreed(self, agree: Agree | None) -> "Exam":
        """The exam with the variables allowed that the user agrees to send to the suite's own servers."""
        askings = agreed([part.asking for part in self.parts], agree)
        parts = (structs.replace(part, asking=asking) for part, asking in zip(self.parts, askings, strict=True))
        return structs.replace(self, parts=tuple(parts))

    def checked(self) -> "Exam":
        """Check the judges, and record their digests and what they may judge.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra: a judge cannot be used.
            CriteriaError: no judge may judge anything.
        """

        async def check_all() -> tuple[ExamPart, ...]:
            return tuple([structs.replace(part, asking=await checked(part.asking)) for part in self.parts])

        return structs.replace(self, parts=asyncio.run(check_all()))

    def open_calls(self, judgments: Mapping[str, Judgment]) -> int:
        """How many calls lack a final judgment among those given by key."""
        keys = [exam_call.call.key for exam_call in self.calls]
        return sum(key not in judgments or judgments[key].is_open for key in keys)


class ExamCall(Struct, frozen=True, kw_only=True):
    """A call of an exam; `variant` is "" for the row as it is. `asked` are those of its criteria that the row is about."""

    call: PlannedCall
    row: str
    asked: tuple[Criterion, ...]
    variant: str = ""


def prepare_exam(suite: Suite, wishes: ExamWishes) -> Exam:
    """Plan an exam; calls no model.

    Raises:
        ConfigError, CriteriaError, DatasetError, ModelError: the suite, its gold set, the selection or a judge is wrong.
    """
    every = read_gold(suite)
    languages = wishes.languages or tuple(
        language for language in suite.config.languages if any(row.language == language for row in every)
    )
    wanted = None if wishes.criteria is None else frozenset(suite.registry.select(wishes.criteria))  # None: all
    if wishes.floors:
        floors = suite.release_floors()
        entries = [entry for id, entry in suite.registry.entries.items() if wanted is None or id in wanted]
        wanted = frozenset(floors.deciding(entries) if floors is not None else ())
        if not wanted:
            raise ConfigError(f"the suite {suite.name} sets no floor on criteria: leave out --floors", path=suite.document.path)
    of_languages = tuple(row for row in every if row.language in languages)
    chosen_rows = tuple(row for row in of_languages if any(wanted is None or key in wanted for key in row.criteria))
    if unknown := set(wishes.rows) - {row.id for row in chosen_rows}:
        raise DatasetError(f"the gold set has no row {name_list(sorted(unknown))}")
    rows = tuple(limited([row for row in chosen_rows if not wishes.rows or row.id in wishes.rows], wishes.limit))
    kept = {language: tuple(row for row in rows if row.language == language) for language in languages}
    if not any(kept.values()):
        raise DatasetError(f"no gold row is left in {name_list(languages)}: choose other rows, languages or criteria")
    return Exam(
        suite=suite.name,
        parts=tuple(_part(suite, wishes, language, rows, wanted) for language, rows in kept.items() if rows),
        marks=suite.exam_marks(),
        whole=len(rows) == len(chosen_rows),
        gold=gold_digest(of_languages if len(rows) == len(chosen_rows) else rows),
        variants=tuple(suite.config.exam.variants),
    )


def missing_exam_size(suite: Suite, judges: Sequence[tuple[str, str]], *, joint: bool) -> CallSize:
    """What an exam of judges, by name and reference, asks at most about the criteria of the release floors."""
    wishes = ExamWishes(judges=tuple("=".join(judge) for judge in judges), floors=True, joint=joint)
    return prepare_exam(suite, wishes).size


def limited(rows: Sequence[GoldRow], limit: int) -> Iterator[GoldRow]:
    """So many rows of each language, evenly spaced; 0: all."""
    for language in dict.fromkeys(row.language for row in rows):
        yield from evenly_spaced([row for row in rows if row.language == language], limit or None)


def _part(suite: Suite, wishes: ExamWishes, language: str, rows: tuple[GoldRow, ...], wanted: frozenset[str] | None) -> ExamPart:
    ids = {key for row in rows for key in row.criteria if wanted is None or key in wanted}
    if wishes.joint:
        ids |= set(suite.registry.select(wishes.criteria or suite.config.criteria.default_selection))
    passes = wishes.passes or suite.config.exam.passes
    asking = asking_of(suite, wishes.judges, ids, language, wishes, passes=passes, salt=wishes.salt, joint=wishes.joint)
    criteria = asking.panel.criteria_by_id()
    for row in rows:
        for key, ends in row.bands.items():
            if key in criteria and not all(map(criteria[key].scale.contains, ends)):
                raise DatasetError(f"gold row {row.id}: the band of {key} leaves the criterion's scale")
    return ExamPart(asking=asking, rows=rows, examined=frozenset(ids if wanted is None else wanted))


def exam_calls(exam: Exam, part: ExamPart, judge: Judge) -> Iterator[ExamCall]:
    """All calls to one judge about the rows of one language: every pass, then the first pass on each changed row."""
    by_id = part.panel.criteria_by_id()
    once = judge.first(1)
    row_of: dict[_Shown, tuple[str, str]] = {}
    about: dict[str, tuple[Criterion, ...]] = {}
    plain: list[JudgedCase] = []
    changed: list[JudgedCase] = []
    for row in part.rows:
        criteria = about[row.id] = tuple(by_id[key] for key in row.criteria if key in by_id and key in part.examined)
        if part.panel.joint and judge.is_model:
            scopes = {criterion.scope for criterion in criteria}
            criteria = tuple(criterion for criterion in part.panel.criteria if criterion.scope in scopes)
        for variant, case in {"": row.case(), **variants_of(row.case(), part.language, exam.variants)}.items():
            numbered = structs.replace(case, id=row.id)
            (changed if variant else plain).append(JudgedCase(case=numbered, criteria=criteria))
            row_of[_shown(numbered)] = (row.id, variant)
    for some_judge, cases in ((judge, plain), (once, changed)):
        for call in part.panel.planned_calls(cases, [some_judge]):
            if call.turn in (WHOLE, call.case.given_replies + 1) and (shown := _shown(call.case)) in row_of:
                id, variant = row_of[shown]
                criteria_of_row = tuple(criterion for criterion in call.criteria if criterion in about[id])
                yield ExamCall(call=call, row=id, asked=criteria_of_row, variant=variant)


_Shown = tuple[str, str | None, tuple[str, ...]]


def _shown(case: Case) -> _Shown:
    """What tells the row and the change of a judged case from others."""
    return case.id, case.response, tuple(document.text for document in case.documents)


# --- harmless changes


def _with_layout(case: Case, language: str) -> Case | None:
    """Blank lines around the response, and another sign before the items of lists."""
    response = _BULLET.sub(lambda bullet: f"{bullet[1]}{'*' if '-' in bullet[0] else '-'}{bullet[2]}", case.response or "")
    return structs.replace(case, response=f"\n\n{response}\n\n")


def _with_courtesy(case: Case, language: str) -> Case | None:
    """A polite sentence after the response that claims no feeling and gives no advice."""
    farewell = _FAREWELL.get(language)
    return structs.replace(case, response=f"{case.response}\n\n{farewell}") if farewell else None


def _with_documents_reversed(case: Case, language: str) -> Case | None:
    """The documents in the other order; not where a text names them by their place."""
    texts = [case.prompt_text, case.response or "", *(document.text for document in case.documents)]
    if len(case.documents) < 2 or any(_PLACE.search(text) for text in texts):
        return None
    return structs.replace(case, documents=case.documents[::-1])


HARMLESS_CHANGES: Mapping[str, Callable[[Case, str], Case | None]] = {
    "layout": _with_layout,
    "courtesy": _with_courtesy,
    "documents": _with_documents_reversed,
}


def variants_of(case: Case, language: str, wanted: tuple[str, ...] = tuple(HARMLESS_CHANGES)) -> dict[str, Case]:
    """The harmless changes of a case, by name, which must not move a score; without those that cannot be made."""
    made = {name: HARMLESS_CHANGES[name](case, language) for name in wanted}
    return {name: variant for name, variant in made.items() if variant is not None}
