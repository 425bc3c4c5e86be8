"""Exams of judges, and what they say of a judge now: qualified, not qualified, or never examined.

A qualification holds for a model by its digest, for the texts of a criterion, and for a version of the prompt template: any other
one is as if it had never been examined. The latest exam on a whole gold set counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, Select, select

from areopage.criteria.prompts import TEMPLATE_VERSION, criterion_content
from areopage.criteria.records import Criterion
from areopage.digest import digest_of
from areopage.errors import ModelError, name_list
from areopage.ledger.answer_tables import runs
from areopage.ledger.chain import seal
from areopage.ledger.connection import storage_errors
from areopage.ledger.records import Standing, StandingState
from areopage.ledger.rows import aware, chunks, insert_numbered, json_text, naive, storable, storable_json
from areopage.ledger.schema import qualifications
from areopage.ledger.store import Ledger
from areopage.models.reference import ModelReference
from areopage.scoring.exams.records import CriterionExam, ExamItem, ExamState, Mark

NEVER_EXAMINED, QUALIFIED = "never examined", "qualified"
UNFIT, NOT_QUALIFIED, UNEXAMINED = "unfit: ", "not qualified: ", "never examined: "
"""How the standing of a panel begins in short, and what its names follow."""

_BEGINNINGS: Mapping[str, StandingState] = {UNFIT: "unfit", NOT_QUALIFIED: "not_qualified", UNEXAMINED: "never_examined"}

Keys = tuple[str, ...]


class Qualification(Struct, frozen=True, kw_only=True):
    """The result of one judge on one criterion in one exam.

    Args:
        number: given by the database (0 before).
        exam: the id of the exam, shared by its judges and criteria.
        at: when the exam was finished.
        judge, model: its name and reference then; `digest` identifies its weights, where they are known.
        criterion: its id, which holds its version; `template` is the version of the prompt template.
        languages: those of the gold rows.
        keys: one for each language, of what the result holds for: see `standing_key`.
        gold: SHA-256 of the gold rows; `whole`: they are all of the suite's. Only a whole exam gives a standing.
        result: figures, marks, and whether they are met.
        items: what the judge said, row by row.
    """

    number: int = 0
    exam: str
    at: datetime
    suite: str
    judge: str
    model: str
    digest: str
    criterion: str
    template: str
    languages: tuple[str, ...]
    keys: Keys
    gold: str
    whole: bool
    result: CriterionExam
    items: tuple[ExamItem, ...] = ()

    @property
    def state(self) -> ExamState:
        """Whether all marks are met."""
        return self.result.state

    @property
    def path(self) -> str:
        """The criterion's path, without its version."""
        return self.criterion.rpartition("__v")[0]


class CriterionStanding(Struct, frozen=True, kw_only=True):
    """What is known of one judge on one criterion.

    Args:
        criterion: its id.
        exam, examined_at, gold: of the exam that counts.
        missed: the marks that it did not reach; those that are not met before those that are open.
        older: when another version was examined, where none of this one counts.
        languages: of the answers of the exam that counts.
    """

    criterion: str
    state: StandingState
    exam: str = ""
    examined_at: datetime | None = None
    template: str = ""
    gold: str = ""
    missed: tuple[Mark, ...] = ()
    older: datetime | None = None
    languages: tuple[str, ...] = ()


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


class _Judge(Struct, frozen=True):
    name: str
    reference: ModelReference
    digest: str = ""
    unfit: str = ""
    criteria: tuple[str, ...] = ()


class _Panel(Struct, frozen=True):
    judges: tuple[_Judge, ...]
    criteria: tuple[Criterion, ...]


def standing_key(judge: _Judged, criterion: Criterion) -> str:
    """A hash of what a qualification holds for: the model, the criterion's texts, the version of the template.

    A model whose server tells no digest is identified by its reference.
    """
    return digest_of([judge.digest or str(judge.reference), criterion_content(criterion), TEMPLATE_VERSION])


class Qualifications:
    """The table `qualifications`; rows are never changed or removed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

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
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            numbers = insert_numbered(connection, qualifications, rows)
            seal(connection, "added", "qualifications", [row | {"number": at} for row, at in zip(rows, numbers, strict=True)])
        return tuple(msgspec.structs.replace(one, number=at) for one, at in zip(found, numbers, strict=True))

    def list(self, suite: str | None = None, exam: str | None = None) -> list[Qualification]:
        """Return the results, oldest first, with their items."""
        query = select(qualifications).order_by(qualifications.c.number)
        query = query if suite is None else query.where(qualifications.c.suite == storable(suite))
        query = query if exam is None else query.where(qualifications.c.exam == exam)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return [_qualification_of(row) for row in connection.execute(query)]

    def standings(self, judges: Sequence[_Judged], criteria: Sequence[Criterion]) -> tuple[JudgeStanding, ...]:
        """What is known now of each judge of a panel."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            found = _by_path(connection, {criterion.path for criterion in criteria})
        return standings(judges, criteria, found)

    def of_panel(self, run_id: str) -> tuple[JudgeStanding, ...]:
        """What is known now of each judge of a stored panel; () where the panel is not there, or cannot be read."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            row = connection.execute(select(runs.c.spec).where(runs.c.id == run_id)).first()
        panel = None if row is None else _panel_in(row.spec)
        return () if panel is None else self.standings(panel.judges, panel.criteria)


def require_qualified(ledger: Ledger, suite: str, judges: Sequence[_Judged], criteria: Sequence[Criterion]) -> None:
    """Refuse judges that are not qualified on every criterion that they may judge.

    Args:
        suite: whose gold set they can be examined on.

    Raises:
        ModelError: names each of them with its standing.
    """
    lacking = [one for one in Qualifications(ledger).standings(judges, criteria) if one.state != "qualified"]
    if lacking:
        told = "; ".join(f"judge {one.judge} ({one.model}) {_lack(one)}" for one in lacking)
        raise ModelError(f"only qualified judges may judge: {told} (examine judges with: areopage qualify {suite})")


def _lack(standing: JudgeStanding) -> str:
    if standing.state == "unfit":
        return f"is unfit: {standing.reason}"
    named = [one.criterion for one in standing.criteria if one.state == standing.state]
    word = "is not qualified on" if standing.state == "not_qualified" else "was never examined on"
    older = ", only another version was" if standing.state == "never_examined" and standing.older else ""
    return f"{word} {name_list(named)}{older}"


def panel_standings(connection: Connection, run_ids: Iterable[str]) -> dict[str, tuple[Standing, ...]]:
    """What is known now of the judges of each panel, by the panel's id; panels that cannot be read are left out."""
    panels: dict[str, _Panel] = {}
    for part in chunks(sorted({id for id in run_ids if id})):
        for row in connection.execute(select(runs.c.id, runs.c.spec).where(runs.c.id.in_(part))):
            if (panel := _panel_in(row.spec)) is not None:
                panels[row.id] = panel
    found = _by_path(connection, {criterion.path for panel in panels.values() for criterion in panel.criteria})
    return {id: compact(standings(panel.judges, panel.criteria, found)) for id, panel in panels.items()}


def compact(found: Iterable[JudgeStanding]) -> tuple[Standing, ...]:
    """Standings without their criteria."""
    return tuple(Standing(**{name: getattr(one, name) for name in Standing.__struct_fields__}) for one in found)


def standings(
    judges: Sequence[_Judged], criteria: Sequence[Criterion], found: Mapping[str, Sequence[Qualification]]
) -> tuple[JudgeStanding, ...]:
    """What exams say of each judge.

    Args:
        found: the exams of each criterion by its path, oldest first.
    """
    return tuple(_standing(judge, criteria, found) for judge in judges)


def _standing(judge: _Judged, criteria: Sequence[Criterion], found: Mapping[str, Sequence[Qualification]]) -> JudgeStanding:
    own = [_criterion_standing(judge, one, found.get(one.path, ())) for one in criteria if one.is_among(judge.criteria)]
    counts = {state: sum(one.state == state for one in own) for state in ("qualified", "not_qualified", "never_examined")}
    state: StandingState = "not_qualified" if counts["not_qualified"] else "never_examined"
    if own and counts["qualified"] == len(own):
        state = "qualified"
    return JudgeStanding(
        judge=judge.name,
        model=str(judge.reference),
        state="unfit" if judge.unfit else state,
        reason=judge.unfit,
        **counts,
        examined_at=max((one.examined_at for one in own if one.examined_at), default=None),
        older=max((one.older for one in own if one.older), default=None),
        criteria=tuple(own),
    )


def _criterion_standing(judge: _Judged, criterion: Criterion, exams: Sequence[Qualification]) -> CriterionStanding:
    key = standing_key(judge, criterion)
    whole = [one for one in exams if one.whole]
    latest = next((one for one in reversed(whole) if key in one.keys), None)
    if latest is None:
        named = {judge.name, str(judge.reference), judge.digest} - {""}
        others = [one.at for one in whole if named & {one.judge, one.model, one.digest}]
        return CriterionStanding(criterion=criterion.id, state="never_examined", older=max(others, default=None))
    return CriterionStanding(
        criterion=criterion.id,
        state=latest.state,
        exam=latest.exam,
        examined_at=latest.at,
        template=latest.template,
        gold=latest.gold,
        missed=latest.result.missed,
        languages=latest.languages,
    )


def standing_text(found: Sequence[Standing]) -> str:
    """The standing of a panel in short: the judges that are not qualified by name, the gravest state alone.

    "unfit: tiny (too small)"; "not qualified: a, b"; "never examined", or with names where others are qualified; "qualified".
    """
    if unfit := [f"{one.judge} ({one.reason})" for one in found if one.state == "unfit"]:
        return f"{UNFIT}{'; '.join(unfit)}"
    if failed := [one.judge for one in found if one.state == "not_qualified"]:
        return f"{NOT_QUALIFIED}{', '.join(failed)}"
    unknown = [one.judge for one in found if one.state == "never_examined"]
    if not found or len(unknown) == len(found):
        return NEVER_EXAMINED
    return f"{UNEXAMINED}{', '.join(unknown)}" if unknown else QUALIFIED


def told_of(found: Sequence[Standing]) -> dict[str, Any]:
    """The fields of a panel's result that say what is known of its judges."""
    return {"qualification": standing_text(found), "standings": tuple(found)}


def standing_parts(text: str) -> tuple[StandingState, str]:
    """The state and the names of a panel's standing in short; no names where it is that of all judges."""
    for beginning, state in _BEGINNINGS.items():
        if text.startswith(beginning):
            return state, text.removeprefix(beginning)
    return ("qualified" if text == QUALIFIED else "never_examined"), ""


def is_unfit(text: str) -> bool:
    """Whether a panel's standing in short says that a judge is unfit, so that no score counts."""
    return text.startswith(UNFIT)


# --- rows

_TEXTS = ("exam", "suite", "judge", "model", "digest", "criterion", "template", "gold")
_WITHOUT_ITEMS: Select[Any] = select(*(column for column in qualifications.c if column.name != "items"))


def _by_path(connection: Connection, paths: set[str]) -> dict[str, list[Qualification]]:
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


@lru_cache(maxsize=64)  # the judges and criteria of a stored panel never change
def _panel_in(spec: str) -> _Panel | None:
    try:
        return msgspec.json.decode(spec, type=_Panel)
    except msgspec.DecodeError:
        return None
