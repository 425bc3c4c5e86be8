"""Command group `areopage review`."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import ReviewItem
from areopage.ledger.write.traces import Traces
from server.samples import SAMPLES
from servers.command import Command
from servers.judged_answers import judged, run_of
from servers.made_traces import WRONG, held_trace
from servers.new_ledger import ledger_at, ledger_file

NOW = datetime.now(UTC)


@pytest.fixture
def review(tmp_path: Path) -> Command:
    """The command, in a folder with a ledger of five answers of yesterday, one of them queued."""
    command = Command(tmp_path)
    ledger_file(command.outputs / "ledger.db", fill)
    return command


def fill(ledger: Ledger) -> None:
    ledger.create_run(run_of(NOW), [])
    for number, sample in enumerate(SAMPLES):
        judged(ledger, f"a{number}", NOW - timedelta(days=1), sample)
    ReviewQueue(ledger).add([ReviewItem(answer_id="a2", why="low_score", created_at=NOW)])


def test_the_queue_is_listed_without_telling_what_the_judge_thinks(review: Command) -> None:
    listed = review("review", "list")
    assert "a2" in listed.out
    assert "rétractation" in listed.out
    assert "low_score" not in listed.out
    assert "low_score" in review("review", "list", "--reveal").out


def test_an_answer_is_shown_blind_until_it_is_labelled(review: Command) -> None:
    blind = review("review", "show", "a2", "--rater", "Anne")
    assert "quelques jours" in blind.out
    assert "L’acquéreur dispose" in blind.out
    assert "score from 0 to 10: exactitude, completude, format, sources, global" in blind.out
    assert "vague" not in blind.out
    labelled = review(
        "review", "label", "a2", "--rater", "Anne", "--score", "exactitude=4", "--score", "global=3", "--note", "Flou"
    )
    assert labelled.out.startswith("labelled: a2 (2 scores by Anne)")
    assert "Réponse vague" in labelled.out
    assert "Réponse vague" in review("review", "show", "a2", "--rater", "Anne").out
    assert "Réponse vague" not in review("review", "show", "a2", "--rater", "Bruno").out
    assert "the review queue is empty" in review("review", "list").out


def test_a_label_given_after_the_comparison_was_printed_is_not_blind(review: Command) -> None:
    label = ("review", "label", "a2", "--rater", "Anne", "--score")
    assert "given with the scores in view" not in review(*label, "exactitude=4").out
    assert "Anne: given with the scores in view" in review(*label, "exactitude=2").out


def test_the_queue_is_filled_by_hand(review: Command) -> None:
    filled = review("review", "fill")
    sorts = "4 at random, 0 with an alert, 0 weak, 0 that address the judge, 0 disputed, 0 without a score"
    assert filled.out == f"added: 4 ({sorts}); waiting: 5\n"
    again = review("review", "fill").out
    assert again.startswith("added: 0 ")
    assert "answers at random come from the last three whole days (UTC)" in again


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("label", "a2", "--rater", "Anne", "--score", "exactitude"),
            "--score 'exactitude': give CRITERION=SCORE, each criterion once",
        ),
        (
            ("label", "a2", "--rater", "Anne", "--score", "exactitude=12"),
            "exactitude: '12' is not a score: give a number from 0 to 10",
        ),
        (("label", "a2", "--rater", "Anne", "--score", "tone=2"), "'tone' is no criterion of the suite answer_quality"),
        (("label", "zz", "--rater", "Anne", "--score", "exactitude=2"), "no answer 'zz' in"),
        (("show", "zz"), "no answer 'zz' in"),
        (("import", "missing.csv"), "missing.csv: no such file"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(review: Command, arguments: tuple[str, ...], said: str) -> None:
    assert said in review("review", *arguments).refused()


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert "there is no ledger" in Command(tmp_path)("review", "list").refused()
    assert not (tmp_path / "outputs").exists()


def test_an_import_says_what_it_took_and_lists_the_rest(review: Command) -> None:
    (review.folder / "ratings.csv").write_text(
        "id,prompt,rater,exactitude,ville\na0,Q,Anne,7,Lyon\na1,Q,Anne,70,Lyon\n", encoding="utf-8"
    )
    done = review("review", "import", "ratings.csv", "--rejected", "rejected.csv")
    assert done.code == 3
    assert done.out == "labels: 1 new, 0 already known, on 1 answer\n"
    assert "ignored columns without a criterion: ville\n" in done.err
    assert "row 3: exactitude: '70' is not a score" in done.err
    assert "'70' is not a score" in (review.folder / "rejected.csv").read_text(encoding="utf-8-sig")
    (review.folder / "ratings.csv").write_text("id,rater,exactitude\na0,Anne,7\n", encoding="utf-8")
    again = review("review", "import", "ratings.csv")
    assert (again.code, again.out) == (0, "labels: 0 new, 1 already known, on 1 answer\n")


def test_signs_that_a_terminal_would_obey_are_not_printed(review: Command) -> None:
    ledger = ledger_at(review.outputs / "ledger.db")
    judged(ledger, "evil\x1b[2J", NOW, SAMPLES[0]._replace(question="\x1b]0;owned\x07?", answer="a\x1b[31mred"))
    ReviewQueue(ledger).add([ReviewItem(answer_id="evil\x1b[2J", why="asked", created_at=NOW)])
    ledger.close()
    assert "\x1b" not in review("review", "list").out
    assert "\x1b" not in review("review", "show", "evil\x1b[2J", "--reveal").out


def test_labels_by_the_command_are_kept_with_their_origin(review: Command) -> None:
    review("review", "label", "a0", "--rater", "Anne", "--score", "exactitude=4")
    ledger = ledger_at(review.outputs / "ledger.db")
    assert [(one.rater, one.score, one.origin) for one in Labels(ledger).of("a0")] == [("Anne", 4.0, "cli")]
    ledger.close()


def test_a_held_answer_is_listed_and_shown_blind_until_it_is_labelled(review: Command) -> None:
    held = held_trace(1)
    with Ledger.open(review.outputs / "ledger.db") as ledger:
        Traces(ledger).append([held])
    blind = review("review", "show", held.id, "--rater", "Anne").out
    assert WRONG in blind
    assert [word for word in ("verdict", "in no document", "!", "%", "waiting") if word in blind] == []
    assert "held" not in review("review", "list", "--rater", "Anne").out
    assert "--- verdict: human_review" in review("review", "show", held.id, "--reveal").out
    assert review("review", "label", held.id, "--rater", "Anne", "--grounded", "no", "--blind").code == 0
    assert "--- verdict: human_review" in review("review", "show", held.id, "--rater", "Anne").out
    assert "held" in review("review", "list", "--rater", "Anne").out
    with Ledger.open(review.outputs / "ledger.db") as ledger:
        assert [label.blind for label in Labels(ledger).of(held.id)] == [True]


def test_reviewers_who_disagree_are_decided_between_and_a_label_is_undone(review: Command) -> None:
    def give(rater: str, score: str, *more: str) -> str:
        return review("review", "label", "a0", "--rater", rater, "--score", f"exactitude={score}", *more).out

    give("Anne", "2", "--correction", "Dix jours.")
    assert "no reviewers disagree" in review("review", "disagreements").out
    told = give("Bruno", "9")
    assert "shown once all reviewers have labelled" in told and "judge" not in told.partition("\n")[0]
    listed = review("review", "disagreements", "--rater", "Chloé").out
    assert "quality.answer.exactitude" in listed and "Anne 2, Bruno 9" in listed
    progress = review("review", "progress").out
    assert "done: 0 of 1 answer in the queue" in progress and "labelled by several: 1; they agree on 0, disagree on 1" in progress
    adjudicate = ("review", "adjudicate", "a0", "--score", "exactitude=6", "--rater")
    assert review(*adjudicate, "Chloé").out == "adjudicated: a0 (1 criterion by Chloé)\n"
    assert "Chloé has decided on quality.answer.exactitude" in review(*adjudicate, "David").refused()
    assert "Chloé has decided between this label and others" in review("review", "undo", "--rater", "Bruno").refused()
    assert "and 1 are adjudicated" in review("review", "progress").out
    assert review("review", "undo", "--rater", "Chloé").out == "undone: a0 (adjudication by Chloé)\n"
    assert review("review", "undo", "--rater", "Bruno").out == "undone: a0 (1 score by Bruno)\n"
    assert "undone already" in review("review", "undo", "--rater", "Bruno").refused()
    assert "no two raters" in review(*adjudicate, "David").refused()
    shown = review("review", "show", "a0", "--rater", "Anne").out
    assert "Anne, corrected answer: Dix jours." in shown and "Bruno" not in shown
    assert review("ledger", "export", "--out", "whole").code == 0
    rows = [json.loads(line) for line in (review.folder / "whole" / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["rater"], row["decides"], row["state"], row["correction"]) for row in rows] == [
        ("Anne", False, "given", "Dix jours."),
        ("Bruno", False, "undone", ""),
        ("Chloé", True, "undone", ""),
    ]
    assert "altered: 0" in review("verify").out
