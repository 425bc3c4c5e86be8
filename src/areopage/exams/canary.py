"""Canaries: a small part of an exam, asked again and again, to notice that a judge's scores of unchanged rows moved.

A round asks one judge about the same rows as the exam, anew: its number is in the keys of its calls. An interrupted round goes on
where it was, for its number stays until the round is stored. Which judges are due is computed from the ledger alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count, takewhile

from msgspec import Struct, structs

from areopage.criteria import Criterion
from areopage.digest import digest_of
from areopage.errors import ModelError, name_list
from areopage.exams.asking import AskingObserver
from areopage.exams.exam import ask_judges, said_of
from areopage.exams.exam_plan import Exam, ExamPart
from areopage.jury import Judge
from areopage.ledger import CanaryRound, Judgment, Ledger, Qualification, drifts_by_path, exam_command, standing_key
from areopage.scoring import HIGH, LOW, DriftSeries, Look, Said, moved
from areopage.suites import GoldRow, Suite


class CanaryReference(Struct, frozen=True, kw_only=True):
    """What the rounds on one criterion are compared with.

    Args:
        exam: the latest one of the judge on the criterion that gives a standing.
        asked: what the judge said of the canary's rows then, by the row's id.
        earlier: the rounds since then, oldest first.
    """

    criterion: Criterion
    exam: Qualification
    asked: dict[str, tuple[Said, ...]]
    earlier: tuple[CanaryRound, ...]


class Canary(Struct, frozen=True, kw_only=True):
    """The next round of one judge, before its first call.

    Args:
        round: counts the judge's rounds on the suite, from 1.
        exam: the rows of the round, with a panel of this judge alone.
        groups: of each pass a number that passes with the same options share.
        references: by criterion.
        left_out: why criteria that the judge may judge are not in the canary, by the criterion's id.
    """

    judge: Judge
    round: int
    exam: Exam
    groups: tuple[int, ...]
    references: tuple[CanaryReference, ...]
    left_out: dict[str, str]

    @property
    def id(self) -> str:
        """The id of the round: a hash of all that is asked."""
        return self.exam.id.replace("exam-", "canary-", 1)

    @property
    def left_out_text(self) -> str:
        """Which criteria of the judge are not in the canary, and why; "" where all are."""
        by_reason: dict[str, list[str]] = {}
        for id, why in self.left_out.items():
            by_reason.setdefault(why, []).append(id.rpartition("__v")[0])
        return "; ".join(f"{name_list(names)} ({why})" for why, names in by_reason.items())


class CanaryResult(Struct, frozen=True, kw_only=True):
    """What a round found, one criterion each; nothing while calls are open that another try could bring."""

    open_calls: int
    rounds: tuple[CanaryRound, ...]

    @property
    def moved(self) -> tuple[CanaryRound, ...]:
        """The criteria on which the judge moved."""
        return tuple(canary_round for canary_round in self.rounds if canary_round.moved)


def plan_canaries(suite: Suite, exam: Exam, ledger: Ledger) -> tuple[Canary, ...]:
    """Plan the next round of each judge of an exam; calls no model. A judge without an exam has no references.

    Args:
        exam: on the suite's whole gold set, with its judges checked, so that their versions are known.
    """
    return tuple(_planned(suite, _of_judge(exam, place), ledger) for place in range(len(exam.judges)))


def require_references(canaries: Sequence[Canary]) -> None:
    """Refuse judges that have no exam which a round could be compared with.

    Raises:
        ModelError: names the first of them, with the reason.
    """
    for canary in canaries:
        if not canary.references:
            why = "; ".join(dict.fromkeys(canary.left_out.values())) or "it judges no criterion of the gold set"
            who = f"judge {canary.judge.name} ({canary.judge.reference})"
            run = exam_command(canary.exam.suite, [(canary.judge.name, str(canary.judge.reference))])
            raise ModelError(f"{who} has no exam to compare a canary with: {why} (run first: {run})")


def exams_after_drift(exam: Exam, ledger: Ledger) -> tuple[Exam, ...]:
    """The exam, with the judges apart that moved since theirs: they are asked anew, for what the ledger holds is of before.

    Args:
        exam: with its judges checked.
    """
    with ledger.reading() as connection:
        drifts = drifts_by_path(connection, {criterion.path for part in exam.parts for criterion in part.panel.criteria})
    all_drifts = sorted((drift for some in drifts.values() for drift in some), key=lambda drift: drift.number)
    places: dict[str, list[int]] = {}
    for place in range(len(exam.judges)):
        panels = [part.panel for part in exam.parts]
        keys = {
            standing_key(panel.judges[place], criterion, joint=panel.joint) for panel in panels for criterion in panel.criteria
        }
        latest = next((drift.round for drift in reversed(all_drifts) if keys & set(drift.keys)), "")
        places.setdefault(latest, []).append(place)
    if set(places) == {""}:
        return (exam,)
    return tuple(_of_judge(exam, *some, salt=f"after {round}" if round else None) for round, some in places.items())


def _of_judge(exam: Exam, *places: int, salt: str | None = None) -> Exam:
    """The exam of the judges at some places alone."""
    return structs.replace(
        exam, parts=tuple(part.judged_by([part.panel.judges[place] for place in places], salt) for part in exam.parts)
    )


def is_due(last: datetime | None, every: timedelta, now: datetime) -> bool:
    """Whether a round is due: none was in this period of `every`; periods are counted from midnight UTC."""
    return last is None or int(last.timestamp() // every.total_seconds()) < int(now.timestamp() // every.total_seconds())


async def run_canary(canary: Canary, ledger: Ledger, observer: AskingObserver | None, at: datetime) -> CanaryResult:
    """Ask the judge what the ledger lacks of a round, and store what the round shows once every call has an answer.

    Args:
        at: the time of the round.

    Raises:
        ServerDown, ModelError, StorageError: the round stops; what arrived is kept, and running it again goes on from there.
    """
    judgments = await ask_judges(canary.exam, ledger, observer)
    if open_calls := canary.exam.open_calls(judgments):
        return CanaryResult(open_calls=open_calls, rounds=())
    return CanaryResult(open_calls=0, rounds=ledger.canaries.add(rounds_of(canary, judgments, at)))


def rounds_of(canary: Canary, judgments: Mapping[str, Judgment], at: datetime) -> tuple[CanaryRound, ...]:
    """What the judgments of a round, by key, show, criterion by criterion."""
    answers = _said(canary.exam, judgments)
    looks, series = dict[str, Look](), dict[str, DriftSeries]()
    for reference in canary.references:
        id = reference.criterion.id
        rounds = [*(earlier.items for earlier in reference.earlier), answers.get(id, {})]
        series[id] = DriftSeries.of(reference.asked, rounds, canary.groups, _span(reference.criterion))
        looks[id] = series[id].look(reference.earlier[-1].look.evidence if reference.earlier else 0.0)
    moved_criteria = moved({id: first_look.evidence for id, first_look in looks.items()})
    made: list[CanaryRound] = []
    for reference in canary.references:
        id, sequence = reference.criterion.id, len(reference.earlier) + 1
        first = next((earlier for earlier in reference.earlier if earlier.moved), None)
        window = looks[id].window if id in moved_criteria else sequence
        made.append(
            CanaryRound(
                round=canary.id,
                exam=reference.exam.exam,
                sequence=sequence,
                at=at,
                suite=canary.exam.suite,
                judge=canary.judge.name,
                model=str(canary.judge.reference),
                digest=canary.judge.digest,
                criterion=id,
                keys=reference.exam.keys,
                moved=first is not None or id in moved_criteria,
                found=first.sequence if first else sequence if id in moved_criteria else 0,
                look=looks[id],
                shift=first.shift if first else series[id].shift(window),
                items={row: tuple(passes) for row, passes in answers.get(id, {}).items()},
            )
        )
    return tuple(made)


def _span(criterion: Criterion) -> float:
    return criterion.scale.max - criterion.scale.min


# --- the plan


def _planned(suite: Suite, exam: Exam, ledger: Ledger) -> Canary:
    """The next round of the judge of an exam."""
    judge, section = exam.judges[0], suite.config.exam.canary
    rounds = ledger.canaries.list(suite=suite.name, judge=judge.name, digest=judge.digest)
    exam = structs.replace(exam, whole=False, variants=())
    exams = [qualification for qualification in ledger.qualifications.list(suite=suite.name) if qualification.whole]
    references, left_out = list[CanaryReference](), dict[str, str]()
    chosen: dict[str, set[str]] = {}
    for criterion in _criteria(exam):
        keys = _keys(exam, criterion)
        of_criterion = [past for past in exams if past.criterion == criterion.id]
        latest = next((past for past in reversed(of_criterion) if set(keys.values()) & set(past.keys)), None)
        if latest is None:
            names = {judge.name, str(judge.reference)}
            older = [past.at for past in of_criterion if names & {past.judge, past.model}]
            changed = "with another model digest, criterion text, prompt version or language"
            left_out[criterion.id] = f"it was examined on {max(older):%Y-%m-%d} {changed}" if older else "it was never examined"
            continue
        languages = {language for language, key in keys.items() if key in latest.keys}
        rows = [row for part in exam.parts if part.language in languages for row in part.rows if criterion.id in row.criteria]
        wanted = {row.id for row in chosen_rows(rows, criterion, judge, section.rows)}
        past_rows = _salted(_restricted(exam, {criterion.id: wanted}), latest.salt)
        judgments = ledger.judgments([exam_call.call.key for exam_call in past_rows.calls])
        asked = _said(past_rows, judgments).get(criterion.id, {})
        if set(asked) != wanted:
            left_out[criterion.id] = f"its rows, or the judge's name or options, changed since its exam on {latest.at:%Y-%m-%d}"
            continue
        chosen[criterion.id] = wanted
        earlier = tuple(past for past in rounds if past.criterion == criterion.id and past.exam == latest.exam)
        references.append(CanaryReference(criterion=criterion, exam=latest, asked=asked, earlier=earlier))
    number = len({canary_round.round for canary_round in rounds}) + 1
    return Canary(
        judge=judge,
        round=number,
        exam=_salted(_restricted(exam, chosen), f"canary {number}", section.passes),
        groups=tuple(judge.pass_options.index(options) for options in judge.pass_options),
        references=tuple(references),
        left_out=left_out,
    )


def _criteria(exam: Exam) -> Iterator[Criterion]:
    """The criteria that the judge may judge, each once."""
    seen: set[str] = set()
    for part in exam.parts:
        for criterion in part.panel.criteria:
            if criterion.id not in seen and part.panel.judges[0].may_judge(criterion):
                seen.add(criterion.id)
                yield criterion


def _keys(exam: Exam, criterion: Criterion) -> dict[str, str]:
    """What an exam of this judge on a criterion holds for, by language."""
    texts = {part.language: part.panel.criteria_by_id().get(criterion.id) for part in exam.parts}
    return {
        part.language: standing_key(part.panel.judges[0], criterion_asked, joint=part.panel.joint)
        for part in exam.parts
        if (criterion_asked := texts[part.language])
    }


def chosen_rows(rows: Sequence[GoldRow], criterion: Criterion, judge: Judge, count: int) -> tuple[GoldRow, ...]:
    """Choose so many of the gold rows: the same for each judge and criterion, as many low as high ones, in all languages."""
    groups: dict[tuple[int, str], list[GoldRow]] = {}
    for row in sorted(rows, key=lambda row: digest_of([judge.digest or str(judge.reference), criterion.id, row.id])):
        side = 2  # 0: a low band, 1: a high one
        if band := row.bands.get(criterion.id):
            low, high = ((end - criterion.scale.min) / _span(criterion) for end in band)
            side = 0 if high <= LOW else 1 if low >= HIGH else 2
        groups.setdefault((side, row.language), []).append(row)
    order, chosen = sorted(groups), list[GoldRow]()
    for depth in range(max(map(len, groups.values()), default=0)):
        chosen += [groups[group][depth] for group in order if depth < len(groups[group])]
    return tuple(chosen[:count])


def _restricted(exam: Exam, chosen: Mapping[str, set[str]]) -> Exam:
    """The exam with the chosen rows of each criterion alone."""

    def kept(row: GoldRow) -> GoldRow:
        names = {id for id in row.criteria if row.id in chosen.get(id, ())}
        bands = {id: band for id, band in row.bands.items() if id in names}
        return structs.replace(row, bands=bands, not_applicable=tuple(id for id in row.not_applicable if id in names))

    parts = [structs.replace(part, rows=tuple(row for row in map(kept, part.rows) if row.criteria)) for part in exam.parts]
    left = tuple(part for part in parts if part.rows)
    return structs.replace(exam, parts=left, gold=digest_of({id: sorted(rows) for id, rows in chosen.items()}))


def _salted(exam: Exam, salt: str, passes: int | None = None) -> Exam:
    """The exam with another salt, and its first passes alone."""

    def salted(part: ExamPart) -> ExamPart:
        (judge,) = part.panel.judges
        return part.judged_by([judge.first(passes)], salt)

    return structs.replace(exam, parts=tuple(map(salted, exam.parts)))


def _said(exam: Exam, judgments: Mapping[str, Judgment]) -> dict[str, dict[str, tuple[Said, ...]]]:
    """What is held of an exam, by criterion and row, up to the first pass that is not."""
    by_criterion: dict[str, dict[str, dict[int, Said]]] = {}
    for exam_call in exam.calls:
        if judgment := judgments.get(exam_call.call.key):
            for criterion in exam_call.asked:
                passes = by_criterion.setdefault(criterion.id, {}).setdefault(exam_call.row, {})
                passes[exam_call.call.pass_index] = said_of(judgment, criterion.id)
    said: dict[str, dict[str, tuple[Said, ...]]] = {}
    for id, rows in by_criterion.items():
        for row, passes in rows.items():
            in_order = takewhile(passes.__contains__, count(1))
            if ordered := tuple(passes[number] for number in in_order):
                said.setdefault(id, {})[row] = ordered
    return said
