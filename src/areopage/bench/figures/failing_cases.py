"""The failing cases themselves, gravest first: for the first screen of a report, for paper and for the console.

A text that the rules on withheld content find is masked: these lines are printed and sent on.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from areopage.bench.figures.case_index import CASES
from areopage.bench.figures.disputes import DISPUTED
from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.results.pass_views import pass_views
from areopage.bench.results.run_data import RunData
from areopage.cases import Case
from areopage.criteria import Criterion
from areopage.locales import Locale, one_line
from areopage.report import Line, Listing, Notice, Span
from areopage.text import MARKERS, withheld_content


class FailingScore(Struct, frozen=True, kw_only=True):
    """A case that fails a criterion.

    Args:
        score: on the run's scale; `limit` is the score from which on it fails.
        judge, explanation: what a judge whose own score fails says; "" where none says anything.
        turn: the number of the reply of a conversation that it says so of; 0: the case as a whole.
        counts_first: the failures of the criterion are counted before any score.
        disputed: some judges say that it fails, and others that it does not.
    """

    case: Case
    criterion: Criterion
    score: float
    limit: float
    judge: str = ""
    explanation: str = ""
    turn: int = 0
    counts_first: bool = False
    disputed: bool = False


def failing_scores(view: RunData, cases: Iterable[Case] | None = None) -> Iterator[FailingScore]:
    """Every failing score of a run: in order of its cases, and of each case the worst first.

    Args:
        cases: only those of these cases; None: all.
    """
    spec, criteria = view.spec, view.spec.criteria_by_id()
    limits = spec.limits
    for case in view.cases if cases is None else cases:
        failed = FAILURES.of(view).by_case.get(case.id, ())
        record = view.scores.records.find(case.id) if failed else None
        scores = {score.criterion: score for score in record.criteria} if record else {}
        for id in failed:
            score = scores[id]
            passes = [pass_view for pass_view in pass_views(view, score) if pass_view.explanation and pass_view.score is not None]
            passes.sort(key=lambda pass_view: not spec.scale.reaches(pass_view.score or 0.0, limits[id]))
            yield FailingScore(
                case=case,
                criterion=criteria[id],
                score=score.score or 0.0,
                limit=limits[id],
                judge=passes[0].judge if passes else "",
                explanation=passes[0].explanation if passes else "",
                turn=passes[0].turn if passes else 0,
                counts_first=criteria[id].category in FAILURES.of(view).categories,
                disputed=(case.id, id) in DISPUTED.of(view),
            )


FAILING_SHOWN = 8
_PROMPT, _RESPONSE, _REASON = 110, 170, 150


def failing_ids(view: RunData) -> list[str]:
    """The ids of the cases that fail a criterion: those of a critical one first, and of each severity in the run's order."""
    criteria = view.spec.criteria_by_id()
    order = {case.id: place for place, case in enumerate(view.cases)}

    def place(id: str) -> tuple[int, int]:
        return min(criteria[name].gravity for name in FAILURES.of(view).by_case[id]), order.get(id, 0)

    return sorted(FAILURES.of(view).by_case, key=place)


def masked(text: str, longest: int) -> str:
    """A text of a case on one line, or the marker of what is withheld in it."""
    kind = withheld_content(text)
    return MARKERS[kind] if kind else one_line(text, longest)


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    """The first failing cases, with what a judge says of the gravest failure."""
    ids, index, locale = failing_ids(view), page.index, page.locale
    if not ids:
        return
    shown, cases = ids[:FAILING_SHOWN], {case.id: case for case in view.cases}
    view.judgments.expect(shown)
    items: list[Line] = []
    for id in shown:
        failures = sorted(failing_scores(view, [cases[id]]), key=lambda failure: failure.criterion.gravity)
        names = locale.names([failure.criterion.title for failure in failures])
        items.append((Span(id, "link", index.address(id)), " · ", Span(names, "strong"), f" · {_texts(failures, locale)}"))
    if len(ids) > FAILING_SHOWN:
        more = locale.count("failing_cases_more", len(ids) - FAILING_SHOWN)
        items.append((f"{more} ", Span(CASES, "link", index.only_kind("failing"))))
    title = locale.count("failing_cases_title", len(ids), all=locale.whole(len(view.items)))
    yield Notice(title=title, blocks=(Listing(items=tuple(items), more=len(ids) - len(shown)),), css="cases")


def _texts(failures: Sequence[FailingScore], locale: Locale) -> str:
    """The prompt and the answer of a case, or of the reply that a judge speaks of, and why it fails."""
    failure = next((failure for failure in failures if failure.explanation), failures[0])
    part = failure.case.at(failure.turn)
    prompt, response = masked(part.turns[-1].content, _PROMPT), masked(part.response or "", _RESPONSE)
    texts = locale.say("failing_case_texts", prompt=prompt, response=response or locale.say("empty_text"))
    if not failure.explanation:
        return texts
    return locale.say("failing_case_reason", told=texts, judge=failure.judge, reason=masked(failure.explanation, _REASON))


FAILING_CASES: Figure[list[str]] = Figure(id="failing_cases", compute=failing_ids, notices=_notices)
