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


class WantedAnswers(Struct, frozen=True, kw_only=True):
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


def judged_answers(ledger: Ledger, wanted: WantedAnswers) -> list[JudgedAnswer]:
    """Read the answers that the monitor evaluated in a period, oldest first."""
    answers: list[JudgedAnswer] = []
    for evaluation in ledger.lists.stream(Filters(period=wanted.period, source=wanted.source)):
        if evaluation.suite == wanted.suite:
            answers.append(
                JudgedAnswer(
                    id=evaluation.id,
                    panel=evaluation.run_id,
                    day=evaluation.timestamp.date(),
                    language=evaluation.language,
                    prompt=digest_of(evaluation.prompt) if evaluation.prompt else "",
                    criteria=evaluation.criteria,
                )
            )
        if wanted.most is not None and len(answers) > wanted.most:
            raise UserError(f"more than {wanted.most} answers were evaluated in this period: choose a shorter one")
    if not answers:
        suites = name_list(sorted({run.suite for run in ledger.panels("monitor")})) or "none"
        source = "" if wanted.source is None else f" of the source {wanted.source!r}"
        raise UserError(
            f"production: no answer{source} was evaluated with the suite {wanted.suite!r} from {wanted.period.start} "
            f"to {wanted.period.last}; suites that judged answers of the monitor: {suites}"
        )
    return answers


def answer_scores(
    answers: Iterable[JudgedAnswer], panel: Panel, criteria: Sequence[Criterion], weights: Weights
) -> dict[str, RecordScores]:
    """The scores of answers on some criteria, in the form of a run's scores; a judge's own scores are not in it."""
    wanted = {criterion.id: criterion for criterion in criteria}
    by_path = {criterion.path: criterion.id for criterion in panel.criteria if criterion.id in wanted}
    nothing = Consistency.of(())
    by_answer: dict[str, RecordScores] = {}
    for answer in answers:
        scores = tuple(
            CriterionScore(
                case_id=answer.id,
                criterion=by_path[result.criterion],
                score=result.score,
                agreement=result.agreement,
                outliers=(),
                judges=(),
                applies=result.grade != "not_applicable",
            )
            for result in answer.criteria
            if result.criterion in by_path
        )
        if scores:
            tree, _ = score_tree([Leaf.of(wanted[score.criterion], score) for score in scores], weights)
            by_answer[answer.id] = RecordScores(case_id=answer.id, tree=tree, criteria=scores, consistency=nothing)
    return by_answer


def answer_weights(ledger: Ledger, wanted: WantedAnswers, answers: Iterable[JudgedAnswer]) -> dict[str, float]:
    """What each answer weighs, where sampling left answers out: how many of its day it stands for.

    Returns:
        Nothing where all days were sampled alike.
    """
    by_day: dict[date, float] = {}
    for day in ledger.days.totals(wanted.period, Scope(suite=wanted.suite, source=wanted.source)):
        if judged := day.scored + day.unscored:
            by_day[day.day] = (judged + day.left_out) / judged
    weights = {answer.id: by_day.get(answer.day, 1.0) for answer in answers}
    return weights if len(set(weights.values())) > 1 else {}


def left_out_by_sampling(ledger: Ledger, wanted: WantedAnswers) -> int:
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
    names = list(dict.fromkeys([*columns, *([cluster] if cluster else [])]))
    values: dict[str, dict[str, str]] = {name: {} for name in names}
    sessions: dict[str, str] = {}
    by_id = {answer.id: answer for answer in answers}
    for part in chunks(list(by_id)):
        for id, stored in ledger.answers.by_id(part).items():
            sessions[id] = stored.session
            for name in names:
                values[name][id] = _value(stored.case, name, by_id[id].language)
    clusters = {id: value for id, value in values[cluster].items() if value} if cluster else _together(answers, sessions)
    return Traits(columns={name: texts for name, texts in values.items() if any(texts.values())}, clusters=clusters)


def language_of(code: str) -> str:
    """A language without its region: "fr" of "fr-CA"."""
    return code.partition("-")[0].casefold()


def _value(case: Case, column: str, language: str) -> str:
    """A column's value: a field of the case, else of its metadata under any of the column's names."""
    if column == "language":
        return language_of(language)
    field = field_named(column)
    value = getattr(case, field) if field in ("maturity", "category", "subcategory", "source") else ""
    if not value:
        names = (name for name in case.metadata if (field and field_named(name) == field) or fold_name(name) == fold_name(column))
        value = next((case.metadata[name] for name in names), "")
    text = "" if value is None else " ".join(str(value).split())
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

    for answer in answers:
        for link in (
            f"prompt {answer.prompt}" if answer.prompt else "",
            f"session {sessions[answer.id]}" if sessions.get(answer.id) else "",
        ):
            if link:
                leaders[leader(f"answer {answer.id}")] = leader(link)
    return {answer.id: leader(f"answer {answer.id}") for answer in answers}
