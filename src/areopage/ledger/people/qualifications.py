"""Exams of judges, and what they say of a judge's scores: qualified, not qualified, never examined, or drifted.

A qualification holds for a model by its digest, for the texts of a criterion, for a version of the prompt template and for a
scoring method: any other one is as if it had never been examined. The latest exam on a whole gold set counts. Where a canary
found that a judge moved, its scores before that moment keep their exams, and its scores after it need an exam of their own.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, Select, select

from areopage.criteria import TEMPLATE_VERSION, Criterion, criterion_content
from areopage.digest import digest_of
from areopage.errors import ModelError, name_list
from areopage.ledger.people.canaries import CanaryRound, drifts_by_path
from areopage.ledger.people.exam_rows import ExamRow
from areopage.ledger.tables.chain import append_sealed
from areopage.ledger.tables.database import Database, Store
from areopage.ledger.tables.records import Standing, StandingState, StandingWord
from areopage.ledger.tables.rows import aware, chunks, json_text, naive, storable, storable_json
from areopage.ledger.tables.schema import qualifications
from areopage.models import SERVER, ModelReference
from areopage.scoring import CriterionExam, ExamItem, ExamState, Mark, Shift, is_undecided

NEVER_EXAMINED, QUALIFIED, PROVISIONAL = "never examined", "qualified", "provisionally qualified"
IN_PART = "examined in part"
UNFIT, DRIFTED, NOT_QUALIFIED = "unfit: ", "drifted: ", "not qualified: "
"""How the standing of a panel begins in short, and what its names follow."""

_BEGINNINGS: Mapping[str, StandingWord] = {
    UNFIT: "unfit",
    DRIFTED: "drifted",
    NOT_QUALIFIED: "not_qualified",
    f"{NEVER_EXAMINED}: ": "never_examined",
    f"{IN_PART}: ": "in_part",
}


class Qualification(ExamRow, frozen=True, kw_only=True):
    """The result of one judge on one criterion in one exam; other fields as of `ExamRow`.

    Args:
        at: when the exam was finished.
        template: the version of the prompt template.
        languages: those of the gold rows.
        gold: SHA-256 of the gold rows; `whole`: they are all of the suite's. Only a whole exam gives a standing.
        salt: what set the exam's calls apart from all others; "" for nothing.
        result: figures, marks, and whether they are met.
        items: what the judge said, row by row.
    """

    template: str
    languages: tuple[str, ...]
    gold: str
    whole: bool
    salt: str = ""
    result: CriterionExam
    items: tuple[ExamItem, ...] = ()

    @property
    def state(self) -> ExamState:
        """Whether all marks are met."""
        return self.result.state


class CriterionStanding(Struct, frozen=True, kw_only=True):
    """What is known of one judge on one criterion, for scores of a moment.

    Args:
        criterion: its id.
        exam, examined_at, gold: of the exam that counts; of one that drifted the exam since which it moved.
        missed: the marks that it did not reach; those that are not met before those that are open.
        older: when another version was examined, where none of this one counts.
        drifted_at: when its scores were found to have moved, on round `drift_round` since the exam, by `shift` in points.
        languages: of the answers of the exam that counts.
        otherwise: the exam asked about one criterion a call and the panel asks jointly, or the reverse.
        provisional: it is qualified, and no person has checked every gold row of the exam.
        failed_otherwise: it was never examined as it is asked here, and the same model failed the exam on another text of the
            criterion, such as that of another language.
    """

    criterion: str
    state: StandingState
    exam: str = ""
    examined_at: datetime | None = None
    template: str = ""
    gold: str = ""
    missed: tuple[Mark, ...] = ()
    older: datetime | None = None
    drifted_at: datetime | None = None
    drift_round: int = 0
    shift: Shift | None = None
    languages: tuple[str, ...] = ()
    otherwise: bool = False
    provisional: bool = False
    failed_otherwise: bool = False


class JudgeStanding(Standing, frozen=True, kw_only=True):
    """What is known of one judge, criterion by criterion."""

    criteria: tuple[CriterionStanding, ...] = ()


class _Judged(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def reference(self) -> ModelReference: ...
    @property
    def digest(self) -> str: ...
    @property
    def unfit(self) -> str: ...
    @property
    def criteria(self) -> tuple[str, ...]: ...
    @property
    def method(self) -> str: ...
    @property
    def is_model(self) -> bool: ...
    @property
    def kind(self) -> str: ...


def standing_key(judge: _Judged, criterion: Criterion, *, joint: bool = False) -> str:
    """A hash of what a qualification holds for: the model, the criterion's texts, the prompt template, the scoring method.

    A model whose server tells no digest of weights is identified by its name and the server, a recorded judge by the recording
    and its name in it.

    Args:
        joint: it is asked about the criterion together with others; code never is.
    """
    method = [] if judge.method == "sampled" else [judge.method]
    method += ["joint"] if joint and judge.is_model else []
    return digest_of([_identity(judge), criterion_content(criterion), TEMPLATE_VERSION, *method])


def _identity(judge: _Judged) -> str:
    """What no other judge has: two models of one server, or two judges of one recording, may have the same digest."""
    if judge.reference.provider == "replay":
        return f"{judge.digest or judge.reference} {judge.name}"
    return f"{judge.digest} {judge.reference.model}" if judge.digest.startswith(SERVER) else judge.digest or str(judge.reference)


class Qualifications(Store):
    """The table `qualifications`; rows are never changed or removed."""

    def add(self, found: Sequence[Qualification]) -> tuple[Qualification, ...]:
        """Append the results of an exam in one transaction; returns them with their numbers."""
        rows = [
            {
                **{name: storable(getattr(one, name)) for name in _TEXTS},
                "path": storable(one.path),
                "at": naive(one.at),
                "whole": one.whole,
                "languages": storable_json(one.languages),
                "keys": json_text(one.keys),
                "result": storable_json(one.result),
                "items": storable_json(one.items),
            }
            for one in found
        ]
        with self._ledger.writing() as connection:
            numbers = append_sealed(connection, qualifications, rows)
        return tuple(msgspec.structs.replace(one, number=at) for one, at in zip(found, numbers, strict=True))

    def list(self, suite: str | None = None, exam: str | None = None) -> list[Qualification]:
        """Return the results, oldest first, with their items."""
        query = select(qualifications).order_by(qualifications.c.number)
        query = query if suite is None else query.where(qualifications.c.suite == storable(suite))
        query = query if exam is None else query.where(qualifications.c.exam == exam)
        with self._ledger.reading() as connection:
            return [_qualification_of(row) for row in connection.execute(query)]

    def any_of(self, criteria: Sequence[Criterion]) -> bool:
        """Whether any judge was examined on one of these criteria; canaries follow exams."""
        with self._ledger.reading() as connection:
            for part in chunks(sorted({criterion.path for criterion in criteria})):
                query = select(qualifications.c.number).where(qualifications.c.path.in_(part)).limit(1)
                if connection.execute(query).first() is not None:
                    return True
        return False

    def standings(
        self,
        judges: Sequence[_Judged],
        criteria: Sequence[Criterion],
        judged_at: Mapping[str, datetime] = {},
        *,
        joint: bool = False,
    ) -> tuple[JudgeStanding, ...]:
        """What is known of each judge of a panel.

        Args:
            joint: it asks models about all criteria of a scope in one call.
            judged_at: of when the scores are that it is asked for, by the judge's name; now where none is given.
        """
        paths = {criterion.path for criterion in criteria}
        with self._ledger.reading() as connection:
            found, drifts = exams_by_path(connection, paths), drifts_by_path(connection, paths)
        return standings(judges, criteria, found, drifts, judged_at, joint=joint)


def require_qualified(
    ledger: Database, suite: str, judges: Sequence[_Judged], criteria: Sequence[Criterion], *, joint: bool = False
) -> None:
    """Refuse judges that are not qualified on every criterion that they may judge.

    Args:
        joint: see `standings`.
        suite: whose gold set they can be examined on.

    Raises:
        ModelError: names each of them with its standing.
    """
    known = Qualifications(ledger).standings(judges, criteria, joint=joint)
    lacking = [one for one in known if one.state != "qualified"]
    if lacking:
        told = "; ".join(f"judge {one.judge} ({one.model}) {_lack(one)}" for one in lacking)
        command = exam_command(suite, ((one.judge, one.model) for one in lacking if one.state != "unfit"), joint=joint)
        raise ModelError(f"only qualified judges may judge: {told}{f' (examine with: {command})' if command else ''}")


def exam_command(suite: str, judges: Iterable[tuple[str, str]], *, joint: bool = False) -> str:
    """The command that examines judges as a shell takes it; see `exam_words`."""
    return shlex.join(exam_words(suite, judges, joint=joint))


def exam_words(suite: str, judges: Iterable[tuple[str, str]], *, joint: bool = False, floors: bool = False) -> tuple[str, ...]:
    """The command that examines judges, given by name and model; () without judges.

    Args:
        joint: the exam asks as a panel that asks jointly.
        floors: on the criteria of the suite's release floors alone.
    """
    named = [part for name, model in judges for part in ("--judge", f"{name}={model}")]
    if not named:
        return ()
    return ("areopage", "qualify", suite, *(("--floors",) if floors else ()), *named, *(("--joint",) if joint else ()))


_LACKS: Mapping[StandingState, str] = {
    "drifted": "moved since its exam on",
    "not_qualified": "is not qualified on",
    "never_examined": "was never examined on",
}


def _lack(standing: JudgeStanding) -> str:
    if standing.state == "unfit":
        return f"is unfit: {standing.reason}"
    named = [one.criterion for one in standing.criteria if one.state == standing.state]
    older = (
        " (an exam exists, with another model digest, criterion text, prompt version, scoring method or language)"
        if standing.state == "never_examined" and standing.older
        else ""
    )
    return f"{_LACKS[standing.state]} {name_list(named)}{older}"


def compact_standings(found: Iterable[JudgeStanding]) -> tuple[Standing, ...]:
    """Standings without their criteria."""
    return tuple(Standing(**{name: getattr(one, name) for name in Standing.__struct_fields__}) for one in found)


def standings(
    judges: Sequence[_Judged],
    criteria: Sequence[Criterion],
    found: Mapping[str, Sequence[Qualification]],
    drifts: Mapping[str, Sequence[CanaryRound]] = {},
    judged_at: Mapping[str, datetime] = {},
    *,
    joint: bool = False,
) -> tuple[JudgeStanding, ...]:
    """What exams and canaries say of each judge.

    Where no exam asked as the panel asks, jointly or one by one, an exam that asked otherwise stands in for it and is marked.

    Args:
        joint: the panel asks models about all criteria of a scope in one call.
        found: the exams of each criterion by its path, oldest first.
        drifts: the rounds that found a judge to have moved, by the same path, oldest first.
        judged_at: of when the scores are that it is asked for, by the judge's name; now where none is given.
    """
    several = joint and len(criteria) > 1
    return tuple(_standing(judge, criteria, found, drifts, judged_at.get(judge.name), several) for judge in judges)


_COUNTED: tuple[StandingState, ...] = ("drifted", "not_qualified", "never_examined", "qualified")
"""The gravest first: a judge has the state of its gravest criterion."""


def _standing(
    judge: _Judged,
    criteria: Sequence[Criterion],
    found: Mapping[str, Sequence[Qualification]],
    drifts: Mapping[str, Sequence[CanaryRound]],
    at: datetime | None,
    joint: bool,
) -> JudgeStanding:
    own = [
        _criterion_standing(judge, one, found.get(one.path, ()), drifts.get(one.path, ()), at, joint)
        for one in criteria
        if one.is_among(judge.criteria)
    ]
    counts = {state: sum(one.state == state for one in own) for state in _COUNTED}
    state: StandingState = next((state for state in _COUNTED if counts[state]), "never_examined")
    return JudgeStanding(
        judge=judge.name,
        model=str(judge.reference),
        state="unfit" if judge.unfit else state,
        reason=judge.unfit,
        **counts,
        examined_at=max((one.examined_at for one in own if one.examined_at), default=None),
        older=max((one.older for one in own if one.older), default=None),
        drifted_at=min((one.drifted_at for one in own if one.drifted_at), default=None),
        otherwise=sum(one.otherwise for one in own),
        provisional=sum(one.provisional for one in own),
        is_code=judge.kind == "code",
        criteria=tuple(own),
    )


def _criterion_standing(
    judge: _Judged,
    criterion: Criterion,
    exams: Sequence[Qualification],
    drifts: Sequence[CanaryRound],
    at: datetime | None,
    joint: bool,
) -> CriterionStanding:
    """What exams say that asked as the panel asks; without one, what those say that asked otherwise."""
    own = _standing_under(judge, criterion, exams, drifts, at, standing_key(judge, criterion, joint=joint))
    if own.state != "never_examined" or not judge.is_model:
        return own
    other = _standing_under(judge, criterion, exams, drifts, at, standing_key(judge, criterion, joint=not joint))
    return own if other.state == "never_examined" else msgspec.structs.replace(other, otherwise=True)


def _standing_under(
    judge: _Judged,
    criterion: Criterion,
    exams: Sequence[Qualification],
    drifts: Sequence[CanaryRound],
    at: datetime | None,
    key: str,
) -> CriterionStanding:
    """An exam speaks for the scores between the drift before it and the drift after it."""
    whole = [one for one in exams if one.whole]
    mine = [one for one in drifts if key in one.keys]
    before = max((one for one in mine if at is None or one.at <= at), key=lambda one: one.at, default=None)
    until = min((one.at for one in mine if at is not None and one.at > at), default=None)
    spoken = (one for one in reversed(whole) if key in one.keys and (until is None or one.at <= until))
    latest = next((one for one in spoken if before is None or one.at > before.at), None)
    if latest is None and before is not None:
        exam = next((one for one in whole if one.exam == before.exam and key in one.keys), None)
        return CriterionStanding(
            criterion=criterion.id,
            state="drifted",
            exam=before.exam,
            examined_at=exam.at if exam else None,
            template=exam.template if exam else "",
            gold=exam.gold if exam else "",
            drifted_at=before.at,
            drift_round=before.sequence,
            shift=before.shift,
        )
    if latest is None:
        weights = "" if judge.digest.startswith(SERVER) else judge.digest
        named = {judge.name, str(judge.reference), weights} - {""}
        others = [one.at for one in whole if named & {one.judge, one.model, one.digest}]
        same = [one for one in whole if (one.model, one.digest) == (str(judge.reference), judge.digest)][-1:]
        return CriterionStanding(
            criterion=criterion.id,
            state="never_examined",
            older=max(others, default=None),
            failed_otherwise=any(one.state == "not_qualified" and not is_undecided(one.result.missed) for one in same),
        )
    return CriterionStanding(
        criterion=criterion.id,
        state=latest.state,
        exam=latest.exam,
        examined_at=latest.at,
        template=latest.template,
        gold=latest.gold,
        missed=latest.result.missed,
        languages=latest.languages,
        provisional=latest.state == "qualified" and latest.result.is_provisional,
    )


def standing_text(found: Sequence[Standing]) -> str:
    """The standing of a panel in short: the judges that are not qualified by name, the gravest state alone.

    "unfit: tiny (too small)"; "drifted: a"; "not qualified: a, b"; "never examined", or with names where others are qualified;
    "examined in part", where all that was examined is qualified, with names as before; "provisionally qualified", where no person
    has checked the gold set of some; "qualified". Code that was never examined counts only where all judges are such.
    """
    if unfit := [f"{one.judge} ({one.reason})" for one in found if one.state == "unfit"]:
        return f"{UNFIT}{'; '.join(unfit)}"
    if moved := [one.judge for one in found if one.state == "drifted"]:
        return f"{DRIFTED}{', '.join(moved)}"
    if failed := [one.judge for one in found if one.state == "not_qualified"]:
        return f"{NOT_QUALIFIED}{', '.join(failed)}"
    counted = [one for one in found if one.state != "never_examined" or not one.is_code]
    if not counted:
        return NEVER_EXAMINED
    words: tuple[tuple[StandingWord, str], ...] = (("never_examined", NEVER_EXAMINED), ("in_part", IN_PART))
    for word, told in words:
        if named := [one.judge for one in counted if one.word == word]:
            return told if len(named) == len(counted) else f"{told}: {', '.join(named)}"
    return PROVISIONAL if any(one.provisional for one in found) else QUALIFIED


def told_of(found: Sequence[Standing]) -> dict[str, Any]:
    """The fields of a panel's result that say what is known of its judges."""
    return {"qualification": standing_text(found), "standings": tuple(found)}


def standing_parts(text: str) -> tuple[StandingWord, str]:
    """The state and the names of a panel's standing in short; no names where it is that of all judges."""
    for beginning, state in _BEGINNINGS.items():
        if text.startswith(beginning):
            return state, text.removeprefix(beginning)
    words: dict[str, StandingWord] = {QUALIFIED: "qualified", PROVISIONAL: "provisional", IN_PART: "in_part"}
    return words.get(text, "never_examined"), ""


def is_unfit(text: str) -> bool:
    """Whether a panel's standing in short says that a judge is unfit, so that no score counts."""
    return text.startswith(UNFIT)


# --- rows

_TEXTS = ("exam", "suite", "judge", "model", "digest", "criterion", "template", "gold", "salt")
_WITHOUT_ITEMS: Select[Any] = select(*(column for column in qualifications.c if column.name != "items"))


def exams_by_path(connection: Connection, paths: set[str]) -> dict[str, list[Qualification]]:
    """The results of exams by the criterion's path, oldest first and without their items."""
    found: dict[str, list[Qualification]] = {}
    for part in chunks(sorted(paths)):
        query = _WITHOUT_ITEMS.where(qualifications.c.path.in_(part)).order_by(qualifications.c.number)
        for row in connection.execute(query):
            found.setdefault(row.path, []).append(_qualification_of(row))
    return found


def _qualification_of(row: Row[Any]) -> Qualification:
    fields = dict(row._mapping)
    del fields["path"]
    fields |= {
        "at": aware(fields["at"]),
        "languages": _decode(fields["languages"], type=tuple[str, ...]),
        "keys": _decode(fields["keys"], type=tuple[str, ...]),
        "result": _decode(fields["result"], type=CriterionExam),
        "items": _decode(fields.get("items", "[]"), type=tuple[ExamItem, ...]),
    }
    return Qualification(**fields)


_decode = msgspec.json.decode
