"""The scores of a run's answers, as the ledger keeps them."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.release import SCORES_RELEASE
from areopage.bench.results.people import results_digest
from areopage.bench.results.run_data import RunData
from areopage.jury import evaluation_of, judges_unexamined
from areopage.ledger import Evaluation, Ledger, Link, StoredOutcome

_STORED_AT_ONCE = 500
"""Evaluations that are stored in one transaction: each holds the texts of its case, and the keys of its judgments."""


def store_evaluations(view: RunData, ledger: Ledger) -> None:
    """Store the scores of a run as it was carried out, their links to judgments and its outcome; replaces earlier ones."""
    every, stored = run_evaluations(view), ledger.answers
    while made := list(islice(every, _STORED_AT_ONCE)):
        numbers = stored.numbers([evaluation.id for evaluation, _ in made])
        made = [(evaluation, keys) for evaluation, keys in made if evaluation.id in numbers]
        ledger.evaluations.put([evaluation for evaluation, _ in made])
        stored.append_judged([Link(numbers[evaluation.id], view.run.id, key) for evaluation, keys in made for key in keys])
    ledger.put_outcome(view.run.id, outcome_of_run(view))


def outcome_of_run(view: RunData) -> StoredOutcome:
    """What a list of runs says of a run's results, whatever exams say of its judges: that may change at any time."""
    release, first = SCORES_RELEASE.of(view), FAILURES.of(view).first
    verdict = release.verdict if release else ""
    return StoredOutcome(verdict=verdict, failed=first.failed, scored=first.scored, results=results_digest(view))


def run_evaluations(view: RunData) -> Iterator[tuple[Evaluation, list[str]]]:
    """Make the evaluations of a run's answers, each with the keys of its judgments.

    Erased answers are included. Cases alike to the letter share the target's answer: the last of them counts.
    """
    cases = {case.id: case for case in view.cases if case.response is not None or case.id in view.erased}
    judged = [case_id for case_id in view.scores.criteria.case_ids if case_id in cases]
    last = {view.answer_ids[case_id]: case_id for case_id in judged}
    view.judgments.expect(view.columns.passes.cases)
    unexamined = judges_unexamined(view.spec)
    for case_id in judged:
        if last[view.answer_ids[case_id]] == case_id:
            by_place = view.judgments.of(case_id)
            judgments = {by_place[place].key: by_place[place] for place in sorted(by_place)}  # sums of floats depend on the order
            case, erased = cases[case_id], view.erased.get(case_id)
            answer = erased or view.answers.get(case_id)
            scores, every = view.scores.records.of(case_id).criteria, list(judgments.values())
            at = max((judgment.created_at for judgment in every), default=view.run.created_at)
            evaluation = evaluation_of(view.spec, view.run.id, case, scores, every, at, unexamined)
            evaluation = msgspec.structs.replace(
                evaluation,
                id=view.answer_ids[case_id],
                origin="bench",
                reason="" if erased else evaluation.reason,
                erased=erased is not None,
                # a recorded answer, which no model gave, belongs to many runs
                timestamp=answer.answered_at if answer is not None and answer.model else view.run.created_at,
                source=case.source if answer is None else answer.source,
            )
            yield evaluation, list(judgments)
