"""The answers that a run judges: which are whole, where they come from, and what the calls for them took."""

from collections import Counter
from collections.abc import Iterator

from areopage.bench.figures.figure import Figure, Page
from areopage.bench.figures.scores import score_or_unscored
from areopage.bench.results.run_data import RECORDED, RunData, SourceScore
from areopage.ledger import CallTotals, ReusedAnswers
from areopage.locales import Locale
from areopage.report import Listing, Notice, Paragraph


def _answer_states(view: RunData) -> dict[str, int]:
    """The cases that were put to the target, by the state of the answer; `not_run` where there is none."""
    return dict(sorted(Counter(view.states_of_asked.values()).items()))


def _target_calls(view: RunData) -> tuple[CallTotals, ...]:
    """What the calls took that this run made to its target and to the model that plays the children, by source; calls that the
    ledger knew are not among them. Each turn of a conversation is a call."""
    return view.calls


def _reused_answers(view: RunData) -> ReusedAnswers | None:
    """Of how many cases the answers were given to earlier runs, and when the oldest was given; null without one."""
    return view.reused


def _sources(view: RunData) -> tuple[SourceScore, ...]:
    """The scores by the source of the answers, if some come with the dataset and some from the target."""
    return view.sources


def _states_notices(view: RunData, page: Page) -> Iterator[Notice]:
    states, locale = dict(ANSWER_STATES.of(view)), page.locale
    asked, whole = sum(states.values()), states.pop("answered", 0)
    if states:
        text = locale.say("not_whole_text", whole=locale.whole(whole), asked=locale.whole(asked))
        counts = tuple(locale.say("pair", name=locale.say(f"said_{state}"), value=locale.whole(n)) for state, n in states.items())
        yield Notice(title=locale.count("not_whole", asked - whole), blocks=(Paragraph(text=text), Listing(items=counts)))


def _sources_notices(view: RunData, page: Page) -> Iterator[Notice]:
    if view.sources:
        lines = tuple(_source(source, page.locale) for source in view.sources)
        yield Notice(title=page.locale.say("two_sources"), blocks=(Listing(items=lines),))


def _source(source: SourceScore, locale: Locale) -> str:
    name = locale.say("recorded_answers") if source.source == RECORDED else source.source
    return locale.count(
        "source_score",
        source.cases,
        source=name,
        score=score_or_unscored(locale, source.score),
        coverage=locale.percent(source.coverage),
    )


ANSWER_STATES: Figure[dict[str, int]] = Figure(id="answer_states", compute=_answer_states, notices=_states_notices)
TARGET_CALLS: Figure[tuple[CallTotals, ...]] = Figure(id="target_calls", compute=_target_calls, stored="metadata")
REUSED_ANSWERS: Figure[ReusedAnswers | None] = Figure(id="reused_answers", compute=_reused_answers, stored="metadata")
SOURCES: Figure[tuple[SourceScore, ...]] = Figure(id="sources", compute=_sources, stored="metadata", notices=_sources_notices)
