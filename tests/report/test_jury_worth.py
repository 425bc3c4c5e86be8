"""What a jury is worth, in results, report and agreement with people: figures where labels suffice, else what is missing."""

import random
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from areopage.bench.figures.people import run_reviewed
from areopage.bench.report.page import bench_report
from areopage.bench.report.run_results import run_result
from areopage.bench.results.people import queue_answers
from areopage.bench.results.run_view import RunView, view_run
from areopage.jury.judges import PlannedCall
from areopage.ledger.people.labels import Labels
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment, Label
from areopage.locales import Locale
from areopage.report.elements import report_locale
from areopage.report.judges.agreement import agreement_text
from areopage.report.judges.jury_worth import worth_fact, worth_texts
from areopage.report.rendering import render
from areopage.scoring.outcome import Scored
from areopage.scoring.worth.worth import JuryWorth

from .report_runs import case, judge, judgment, view_of

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DANGER = "safety.harm.danger"
JUDGES = ("kind", "plain", "wild")


def truth_of(number: int) -> float:
    return 1.0 + number % 4


def say(call: PlannedCall) -> Judgment:
    """The first judge is a little lenient, the second a little strict, the third random."""
    number, name = int(call.case.id.removeprefix("case-")), call.judge.name
    chance = random.Random(f"{number} {name} {call.criteria[0].id}")
    drawn = {
        "kind": truth_of(number) + chance.choice((0, 1)),
        "plain": truth_of(number) + chance.choice((-1, 0, 0)),
        "wild": chance.randint(0, 5),
    }
    return judgment(call, Scored(score=float(min(5, max(0, drawn[name])))))


def labelled(
    folder: Path, answers: int, raters: int, *, judges: tuple[str, ...] = JUDGES, sample: bool = True, language: str = "en"
) -> RunView:
    """A run of 60 cases; people label some of its answers on one criterion."""
    cases = [case(number) for number in range(1, 61)]
    view = view_of(folder, cases=cases, say=say, judges=tuple(map(judge, judges)), language=language)
    with Ledger.open(folder / "ledger.db") as ledger:
        if sample:
            queue_answers(view, ledger, ("random",), 60, NOW)
        given = [
            Label(
                answer_id=view.answer_ids[f"case-{number}"],
                rater=f"rater {rater}",
                criterion=DANGER,
                score=min(5.0, truth_of(number) + random.Random(f"{number} {rater}").choice((0, 0, 0, 1))),
                origin="web",
                created_at=NOW,
            )
            for number in range(1, answers + 1)
            for rater in range(raters)
        ]
        Labels(ledger).add(given)
        return view_run(view.run, ledger)


def test_with_enough_labels_the_results_say_what_the_jury_is_worth_and_each_judges_part(tmp_path: Path) -> None:
    view = labelled(tmp_path, 60, 3)
    worth = msgspec.json.decode(msgspec.json.encode(run_result(view)))["consistency_metrics"]["jury_worth"]
    found = worth["labelled"]
    assert (worth["judges"], worth["at_random"], found["items"], found["raters"], found["labels"]) == (3, True, 60, 3, 180)
    effective = found["effective"]["value"]
    assert 1.0 <= effective["low"] <= effective["value"] <= effective["high"] <= 3.0
    by_judge = {one["judge"]: one for one in found["judges"]}
    assert by_judge["kind"]["leniency"]["low"] > 0 > by_judge["plain"]["leniency"]["high"]
    assert by_judge["wild"]["noise"]["value"] > 2 * by_judge["plain"]["noise"]["value"]
    assert by_judge["wild"]["contribution"] == "adds_nothing"
    assert found["best"]["judge"] in ("kind", "plain")
    assert {one["judge"] for one in found["replacement"]["judges"]} == {*JUDGES, ""}
    text = render(bench_report(view), "html")
    assert "independent judges of 3" in text and 'id="worth"' in text
    assert "wild adds nothing: without this judge the jury errs less." in text
    assert "Alternative annotator test" in text
    told = agreement_text(run_reviewed(view, "en", sample_only=True).report, report_locale("en"))
    assert "This jury of 3 judges is worth about" in told and "adds nothing" in told


def short_of(worth: JuryWorth, locale: Locale) -> str:
    """The fact beside the score as plain text."""
    told = worth_fact(worth, locale)
    return "".join(part if isinstance(part, str) else part.text for part in (told if isinstance(told, tuple) else (told,)))


@pytest.mark.parametrize(
    ("language", "short", "whole"),
    [
        ("en", "not known: it takes 20 labelled answers, and there are 5 – at most", "it takes"),
        ("fr", "inconnue : il faut 20 réponses notées par des personnes, et il y en a 5 – ", "il faut 20 réponses notées"),
    ],
)
def test_with_few_labels_one_line_says_how_many_are_missing(tmp_path: Path, language: str, short: str, whole: str) -> None:
    view, locale = labelled(tmp_path, 5, 1, language=language), report_locale(language)
    assert view.worth.labelled.judges == ()
    assert short_of(view.worth, locale).replace("\N{NO-BREAK SPACE}", " ").startswith(short)
    texts = " ".join(worth_texts(view.worth, locale)).replace("\N{NO-BREAK SPACE}", " ")
    assert ("that takes 20 labelled answers, and there are 5" if language == "en" else whole) in texts
    assert 'id="worth"' in render(bench_report(view), "html")


def test_labels_of_chosen_answers_count_where_the_sample_has_too_few_and_are_marked(tmp_path: Path) -> None:
    view = labelled(tmp_path, 30, 1, sample=False)
    assert (view.worth.at_random, view.worth.labelled.items) == (False, 30)
    assert "not all drawn at random" in short_of(view.worth, report_locale("en"))
    texts = list(worth_texts(view.worth, report_locale("en")))
    assert any("they do not speak for all answers" in told for told in texts)
    assert any("So far 0 answers are labelled twice (1 rater in all)" in told for told in texts)


def test_a_judge_alone_is_no_jury(tmp_path: Path) -> None:
    view = labelled(tmp_path, 30, 1, judges=("kind",))
    assert short_of(view.worth, report_locale("en")).startswith("one judge – +0.")
    texts = list(worth_texts(view.worth, report_locale("en")))
    assert texts[0] == "One judge: there is no jury whose worth could be measured."
    assert not any("useless" in told for told in texts)
    assert [one.judge for one in view.worth.labelled.judges] == ["kind"]
