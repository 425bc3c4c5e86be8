"""The answers that the monitor evaluated in a period, as one side of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date

from msgspec import Struct

from areopage.cases import Case, field_named, fold_name, normalise_maturity
from areopage.criteria import Criterion
from areopage.digest import digest_of
from areopage.errors import UserError, name_list
from areopage.jury import Panel
from areopage.ledger import CriterionResult, Filters, Ledger, Period, Scope, chunks
from areopage.scoring import Consistency, CriterionScore, Leaf, RecordScores, Weights, score_tree

_LONGEST_VALUE = 80


class Wanted(Struct, frozen=True, kw_only=True):
    """Which answers of production are wanted.

    Args:
        suite: the suite that judged them.
        source: only answers of this source; None: any but golden questions.
        most: more answers than this are refused; None: no limit.
    """

    period: Period
    suite: str
    source: str | None = None
    most: int | None = None


class JudgedAnswer(Struct, frozen=True, kw_only=True):
    """An evaluated answer, without its texts.

    Args:
        panel: the id of the panel that judged it.
        prompt: a digest; "" where the prompt is erased.
    """

    id: str
    panel: str
    day: date
    language: str
    prompt: str
    criteria: tuple[CriterionResult, ...]


def judged_answers(ledger: Ledger, wanted: Wanted) -> list[JudgedAnswer]:
    """Read the answers that the monitor evaluated in a period, oldest first."""
    found: list[JudgedAnswer] = []
    for one in ledger.lists.stream(Filters(period=wanted.period, source=wanted.source)):
        if one.suite == wanted.suite:
            found.append(
                JudgedAnswer(
                    id=one.id,
                    panel=one.run_id,
                    day=one.timestamp.date(),
                    language=one.language,
                    prompt=digest_of(one.prompt) if one.prompt else "",
                    criteria=one.criteria,
                )
            )
        if wanted.most is not None and len(found) > wanted.most:
            raise UserError(f"more than {wanted.most} answers were evaluated in this period: choose a shorter one")
    if not found:
        known = name_list(sorted({run.suite for run in ledger.panels("monitor")})) or "none"
        source = "" if wanted.source is None else f" of the source {wanted.source!r}"
        raise UserError(
            f"production: no answer{source} was evaluated with the suite {wanted.suite!r} from {wanted.period.start} "
            f"to {wanted.period.last}; suites that judged answers of the monitor: {known}"
        )
    return found


def answer_scores(
    answers: Iterable[JudgedAnswer], panel: Panel, criteria: Sequence[Criterion], weights: Weights
) -> dict[str, RecordScores]:
    """The scores of answers on some criteria, in the form of a run's scores; a judge's own scores are not in it."""
    wanted = {one.id: one for one in criteria}
    by_path = {one.path: one.id for one in panel.criteria if one.id in wanted}
    nothing = Consistency.of(())
    found: dict[str, RecordScores] = {}
    for answer in answers:
        scores = tuple(
            CriterionScore(
                case_id=answer.id,
                criterion=by_path[one.criterion],
                score=one.score,
                agreement=one.agreement,
                outliers=(),
                judges=(),
                applies=one.grade != "not_applicable",
            )
            for one in answer.criteria
            if one.criterion in by_path
        )
        if scores:
            tree, _ = score_tree([Leaf.of(wanted[one.criterion], one) for one in scores], weights)
            found[answer.id] = RecordScores(case_id=answer.id, tree=tree, criteria=scores, consistency=nothing)
    return found


def answer_weights(ledger: Ledger, wanted: Wanted, answers: Iterable[JudgedAnswer]) -> dict[str, float]:
    """What each answer weighs, where sampling left answers out: how many of its day it stands for.

    Returns:
        Nothing where all days were sampled alike.
    """
    by_day: dict[date, float] = {}
    for day in ledger.days.totals(wanted.period, Scope(suite=wanted.suite, source=wanted.source)):
        if judged := day.scored + day.unscored:
            by_day[day.day] = (judged + day.left_out) / judged
    weights = {one.id: by_day.get(one.day, 1.0) for one in answers}
    return weights if len(set(weights.values())) > 1 else {}


def left_out_by_sampling(ledger: Ledger, wanted: Wanted) -> int:
    """How many answers of the period sampling left out."""
    totals = ledger.days.totals(wanted.period, Scope(suite=wanted.suite, source=wanted.source))
    return sum(day.left_out for day in totals)


class Traits(Struct, frozen=True, kw_only=True):
    """What is known of answers beside their scores, by their ids.

    Args:
        columns: their values by column; a column that no answer has is missing.
        clusters: what an answer has in common with others: its prompt, or its conversation.
    """

    columns: Mapping[str, Mapping[str, str]]
    clusters: Mapping[str, str]


def answer_traits(ledger: Ledger, answers: Sequence[JudgedAnswer], columns: Sequence[str], cluster: str = "") -> Traits:
    """Read columns of answers, and which of them belong together.

    Args:
        columns: fields of a case by any name ("age"), else names in the answers' metadata; "language" is the answer's own.
        cluster: a column that says which answers belong together; "": those with one prompt or one conversation do.
    """
    known = list(dict.fromkeys([*columns, *([cluster] if cluster else [])]))
    values: dict[str, dict[str, str]] = {name: {} for name in known}
    sessions: dict[str, str] = {}
    by_id = {one.id: one for one in answers}
    for part in chunks(list(by_id)):
        for id, stored in ledger.answers.by_id(part).items():
            sessions[id] = stored.session
            for name in known:
                values[name][id] = _value(stored.case, name, by_id[id].language)
    clusters = {id: value for id, value in values[cluster].items() if value} if cluster else _together(answers, sessions)
    return Traits(columns={name: own for name, own in values.items() if any(own.values())}, clusters=clusters)


def language_of(code: str) -> str:
    """A language without its region: "fr" of "fr-CA"."""
    return code.partition("-")[0].casefold()


def _value(case: Case, column: str, language: str) -> str:
    """A column's value: a field of the case, else of its metadata under any of the column's names."""
    if column == "language":
        return language_of(language)
    field = field_named(column)
    own = getattr(case, field) if field in ("maturity", "category", "subcategory", "source") else ""
    if not own:
        names = (name for name in case.metadata if (field and field_named(name) == field) or fold_name(name) == fold_name(column))
        own = next((case.metadata[name] for name in names), "")
    text = "" if own is None else " ".join(str(own).split())
    if field == "maturity":
        with suppress(ValueError):  # what is no known age stands as it is
            text = normalise_maturity(text) or ""
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _together(answers: Sequence[JudgedAnswer], sessions: Mapping[str, str]) -> dict[str, str]:
    """The groups of answers that a prompt or a conversation links, directly or through others; by the answer's id."""
    leaders: dict[str, str] = {}

    def leader(name: str) -> str:
        while leaders.setdefault(name, name) != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    for one in answers:
        for link in (f"prompt {one.prompt}" if one.prompt else "", f"session {sessions[one.id]}" if sessions.get(one.id) else ""):
            if link:
                leaders[leader(f"answer {one.id}")] = leader(link)
    return {one.id: leader(f"answer {one.id}") for one in answers}
