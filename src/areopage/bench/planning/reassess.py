"""The answers of a finished run as a dataset that another panel judges."""

from msgspec import Struct

from areopage.bench.keys import recorded_id
from areopage.bench.spec import Reassessed
from areopage.cases import Case, Dataset, RejectedRow
from areopage.errors import DatasetError, counted
from areopage.ledger import Ledger, Run


class StoredAnswers(Struct, frozen=True, kw_only=True):
    """Answers that the ledger holds, with their cases.

    Args:
        dataset: the cases, each with its response if it is a whole answer; the rejected ones have no answer, or an erased one.
        ids: of the answers, by case.
        erased: the cases whose answers are erased.
        datasets: the files that the cases came from.
    """

    source: Reassessed
    dataset: Dataset
    ids: dict[str, str]
    erased: tuple[str, ...]
    datasets: tuple[str, ...]
    language: str
    mode: str


def answers_of_run(run: Run, ledger: Ledger) -> StoredAnswers:
    """Read the answers of a run, in any state; those that are erased or missing are rejected and named."""
    from areopage.bench.results.run_view import view_run  # with all of scoring
    from areopage.bench.spec import load_run_cases

    view = view_run(run, ledger)
    cases: list[Case] = []
    rejected: list[RejectedRow] = []
    ids: dict[str, str] = {}
    for position, (item, case) in enumerate(zip(load_run_cases(ledger, run.id), view.cases, strict=True), start=1):
        is_erased = case.id in view.erased
        if is_erased or (case.response is None and case.id not in view.answers):
            reason = "its answer is erased" if is_erased else "the run has no answer to it"
            rejected.append(RejectedRow(file=run.id, row=position, reason=f"case {case.id}: {reason}", content=""))
            continue
        answer = view.answers.get(case.id)
        ids[case.id] = recorded_id(item.case) if answer is None else answer.id
        cases.append(case)
    erased = tuple(view.erased)
    if not cases:
        raise DatasetError(f"run {run.id}: none of its {counted(len(view.cases), 'answer')} can be judged: {rejected[0].reason}")
    dataset = Dataset(
        cases=tuple(cases),
        rejected=tuple(rejected),
        maturity_defaulted=view.spec.maturity_defaulted,
        places={case.id: (run.id, position) for position, case in enumerate(view.cases, start=1)},
    )
    return StoredAnswers(
        source=Reassessed(run=run.id, target=view.spec.answered_by),
        dataset=dataset,
        ids=ids,
        erased=erased,
        datasets=view.spec.datasets,
        language=view.spec.language,
        mode=view.spec.mode,
    )
