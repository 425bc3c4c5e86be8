"""What exams and canaries say of a judge's scores: qualified, not qualified, never examined, or drifted.

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

from areopage.criteria import TEMPLATE_VERSION, Criterion
from areopage.digest import digest_of
from areopage.errors import name_list
from areopage.ledger.tables.records import Standing, StandingState, StandingWord
from areopage.models import SERVER, ModelReference
from areopage.scoring import CriterionExam, ExamItem, ExamState, Look, Mark, Said, Shift, is_undecided


class ExamRow(Struct, frozen=True, kw_only=True):
    """A judge on a criterion in an exam.

    Args:
        number: given by the database (0 before).
        exam: the id of the exam.
        judge, model: its name and reference then; `digest` identifies its weights, where they are known.
        criterion: its id, which holds its version.
        keys: one for each language, of what the result holds for: see `standing_key`.
    """

    number: int = 0
    exam: str
    at: datetime
    suite: str
    judge: str
    model: str
    digest: str
    criterion: str
    keys: tuple[str, ...]

    @property
    def path(self) -> str:
        """The criterion's path, without its version."""
        return self.criterion.rpartition("__v")[0]


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


class CanaryRound(ExamRow, frozen=True, kw_only=True):
    """What one round says of one judge on one criterion; other fields as of `ExamRow`.

    Args:
        round: the id of the round, shared by its criteria.
        exam: the id of the exam that it is compared with; `sequence` counts the rounds since then, from 1.
        at: when the round began.
        moved: the judge's scores moved, by this round or an earlier one since the exam; `found` is the number of that round.
        look: the evidence of all rounds so far.
        shift: how far the latest scores lie from those before; of a judge that moved as it was found.
        items: what the judge said of each row, pass by pass.
    """

    round: str
    sequence: int
    moved: bool
    found: int = 0
    look: Look
    shift: Shift
    items: dict[str, tuple[Said, ...]] = {}


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


class ExaminedJudge(Protocol):
    """A judge, as far as exams are about it."""

    @property
    def name(self) -> str:
        """Its name in its panel."""

    @property
    def reference(self) -> ModelReference:
        """The model that it asks."""

    @property
    def digest(self) -> str:
        """What identifies the model's weights; "" where nothing does."""

    @property
    def unfit(self) -> str:
        """Why the model cannot judge; "" where it can."""

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that it may judge; () for all."""

    @property
    def method(self) -> str:
        """How it scores."""

    @property
    def is_model(self) -> bool:
        """Whether a model is asked."""

    @property
    def kind(self) -> str:
        """What it is: a model, a recording or code."""


def standing_key(judge: ExaminedJudge, criterion: Criterion, *, joint: bool = False) -> str:
    """A hash of what a qualification holds for: the model, the criterion's texts, the prompt template, the scoring method.

    A model whose server tells no digest of weights is identified by its name and the server, a recorded judge by the recording
    and its name in it.

    Args:
        joint: it is asked about the criterion together with others; code never is.
    """
    method = [] if judge.method == "sampled" else [judge.method]
    method += ["joint"] if joint and judge.is_model else []
    identity = judge.digest or str(judge.reference)
    # two models of one server, or two judges of one recording, may have the same digest
    if judge.reference.provider == "replay":
        identity = f"{identity} {judge.name}"
    elif judge.digest.startswith(SERVER):
        identity = f"{identity} {judge.reference.model}"
    return digest_of([identity, criterion.content(), TEMPLATE_VERSION, *method])


def compact_standings(judges: Iterable[JudgeStanding]) -> tuple[Standing, ...]:
    """Standings without their criteria."""
    return tuple(Standing(**{name: getattr(standing, name) for name in Standing.__struct_fields__}) for standing in judges)


def standings(
    judges: Sequence[ExaminedJudge],
    criteria: Sequence[Criterion],
    exams_by_path: Mapping[str, Sequence[Qualification]],
    drifts: Mapping[str, Sequence[CanaryRound]] = {},
    judged_at: Mapping[str, datetime] = {},
    *,
    joint: bool = False,
) -> tuple[JudgeStanding, ...]:
    """What exams and canaries say of each judge.

    Where no exam asked as the panel asks, jointly or one by one, an exam that asked otherwise stands in for it and is marked.

    Args:
        joint: the panel asks models about all criteria of a scope in one call.
        exams_by_path: the exams of each criterion by its path, oldest first.
        drifts: the rounds that found a judge to have moved, by the same path, oldest first.
        judged_at: of when the scores are that it is asked for, by the judge's name; now where none is given.
    """
    asked_jointly = joint and len(criteria) > 1
    judge_standings = []
    for judge in judges:
        at, by_criterion = judged_at.get(judge.name), []
        for criterion in (criterion for criterion in criteria if criterion.is_among(judge.criteria)):
            exams, rounds = exams_by_path.get(criterion.path, ()), drifts.get(criterion.path, ())
            key = standing_key(judge, criterion, joint=asked_jointly)
            standing = _standing_under(judge, criterion, exams, rounds, at, key)
            if standing.state == "never_examined" and judge.is_model:
                key = standing_key(judge, criterion, joint=not asked_jointly)
                other = _standing_under(judge, criterion, exams, rounds, at, key)
                standing = standing if other.state == "never_examined" else msgspec.structs.replace(other, otherwise=True)
            by_criterion.append(standing)
        counts = {state: sum(standing.state == state for standing in by_criterion) for state in _COUNTED}
        state: StandingState = next((state for state in _COUNTED if counts[state]), "never_examined")
        judge_standing = JudgeStanding(
            judge=judge.name,
            model=str(judge.reference),
            state="unfit" if judge.unfit else state,
            reason=judge.unfit,
            **counts,
            examined_at=max((standing.examined_at for standing in by_criterion if standing.examined_at), default=None),
            older=max((standing.older for standing in by_criterion if standing.older), default=None),
            drifted_at=min((standing.drifted_at for standing in by_criterion if standing.drifted_at), default=None),
            otherwise=sum(standing.otherwise for standing in by_criterion),
            provisional=sum(standing.provisional for standing in by_criterion),
            is_code=judge.kind == "code",
            criteria=tuple(by_criterion),
        )
        judge_standings.append(judge_standing)
    return tuple(judge_standings)


_COUNTED: tuple[StandingState, ...] = ("drifted", "not_qualified", "never_examined", "qualified")
"""The gravest first: a judge has the state of its gravest criterion."""


def _standing_under(
    judge: ExaminedJudge,
    criterion: Criterion,
    exams: Sequence[Qualification],
    drifts: Sequence[CanaryRound],
    at: datetime | None,
    key: str,
) -> CriterionStanding:
    """An exam speaks for the scores between the drift before it and the drift after it."""
    whole = [exam for exam in exams if exam.whole]
    mine = [drift for drift in drifts if key in drift.keys]
    before = max((drift for drift in mine if at is None or drift.at <= at), key=lambda drift: drift.at, default=None)
    until = min((drift.at for drift in mine if at is not None and drift.at > at), default=None)
    spoken = (exam for exam in reversed(whole) if key in exam.keys and (until is None or exam.at <= until))
    latest = next((exam for exam in spoken if before is None or exam.at > before.at), None)
    if latest is None and before is not None:
        exam = next((past for past in whole if past.exam == before.exam and key in past.keys), None)
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
        others = [exam.at for exam in whole if named & {exam.judge, exam.model, exam.digest}]
        same = [exam for exam in whole if (exam.model, exam.digest) == (str(judge.reference), judge.digest)][-1:]
        return CriterionStanding(
            criterion=criterion.id,
            state="never_examined",
            older=max(others, default=None),
            failed_otherwise=any(exam.state == "not_qualified" and not is_undecided(exam.result.missed) for exam in same),
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


def standing_text(judges: Sequence[Standing]) -> str:
    """The standing of a panel in short: the judges that are not qualified by name, the gravest state alone.

    "unfit: tiny (too small)"; "drifted: a"; "not qualified: a, b"; "never examined", or with names where others are qualified;
    "examined in part", where all that was examined is qualified, with names as before; "provisionally qualified", where no person
    has checked the gold set of some; "qualified". Code that was never examined counts only where all judges are such.
    """
    if unfit := [f"{judge.judge} ({judge.reason})" for judge in judges if judge.state == "unfit"]:
        return f"{UNFIT}{'; '.join(unfit)}"
    if moved := [judge.judge for judge in judges if judge.state == "drifted"]:
        return f"{DRIFTED}{', '.join(moved)}"
    if failed := [judge.judge for judge in judges if judge.state == "not_qualified"]:
        return f"{NOT_QUALIFIED}{', '.join(failed)}"
    counted = [judge for judge in judges if judge.state != "never_examined" or not judge.is_code]
    if not counted:
        return NEVER_EXAMINED
    words: tuple[tuple[StandingWord, str], ...] = (("never_examined", NEVER_EXAMINED), ("in_part", IN_PART))
    for word, text in words:
        if named := [judge.judge for judge in counted if judge.word == word]:
            return text if len(named) == len(counted) else f"{text}: {', '.join(named)}"
    return PROVISIONAL if any(judge.provisional for judge in judges) else QUALIFIED


def standing_fields(judges: Sequence[Standing]) -> dict[str, Any]:
    """The fields of a panel's result that say what is known of its judges."""
    return {"qualification": standing_text(judges), "standings": tuple(judges)}


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


def lack(standing: JudgeStanding) -> str:
    """Why a judge is not qualified, as the end of a sentence."""
    if standing.state == "unfit":
        return f"is unfit: {standing.reason}"
    named = [criterion.criterion for criterion in standing.criteria if criterion.state == standing.state]
    older = (
        " (an exam exists, with another model digest, criterion text, prompt version, scoring method or language)"
        if standing.state == "never_examined" and standing.older
        else ""
    )
    return f"{_LACKS[standing.state]} {name_list(named)}{older}"
