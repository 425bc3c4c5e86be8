"""`areopage agreement`: over a ledger's labels, and over tables of ratings."""

import csv
import io
import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label, ReviewItem
from server.samples import SAMPLES
from servers.command import Command
from servers.judged_answers import judged, run_of
from servers.new_ledger import ledger_at, ledger_file

NOW = datetime.now(UTC)
EXACT = "quality.answer.exactitude"


@pytest.fixture
def labelled(tmp_path: Path) -> Command:
    """The command, in a folder whose ledger holds 24 answers of the random sample and another one.

    Anne has labelled all of them, Bruno half of the sample.
    """
    command = Command(tmp_path)
    ledger_file(command.outputs / "ledger.db", fill)
    return command


def fill(ledger: Ledger) -> None:
    ledger.create_run(run_of(NOW), [])
    drawn = random.Random(1)
    for number in range(25):
        judged(ledger, f"a{number:02d}", NOW - timedelta(days=1), SAMPLES[number % 5], drift=drawn.random())
    jury = Labels(ledger).panel_scores([f"a{number:02d}" for number in range(25)])
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why="sample", created_at=NOW) for id in sorted(jury)[:24]])
    for number, (id, found) in enumerate(sorted(jury.items())):
        for rater in ("Anne", "Bruno")[: 1 + number % 2]:
            at = NOW - timedelta(days=2 if number < 12 else 20)
            Labels(ledger).add(
                [
                    Label(
                        answer_id=id,
                        rater=rater,
                        criterion=criterion,
                        score=min(10.0, max(0.0, round(score + drawn.gauss(0, 1.0)))),
                        origin="cli",
                        created_at=at,
                    )
                    for criterion, score in found["answer_quality"].items()
                ]
            )


def test_the_text_says_in_plain_words_whether_it_is_over_the_bound(labelled: Command) -> None:
    text = labelled("agreement", "--lang", "en").out
    assert "24 answers labelled · 180 labels · 2 raters" in text
    assert "Judge: the whole jury · Suite: answer_quality" in text
    assert "Does the correlation with people exceed 0.8?" in text
    assert "  Overall: Yes. Confidence: " in text
    assert "Agreement between raters" in text
    assert "Only the random sample" in text and "1 further labelled answer was not drawn at random" in text
    assert "$" not in text


def test_other_answers_than_the_random_sample_settle_nothing(labelled: Command) -> None:
    text = labelled("agreement", "--all", "--lang", "en").out
    assert "25 answers labelled" in text and "Labelled answers of the random sample: 24. The other answers" in text
    assert "  Overall: Undecided: only answers of the random sample can decide." in text


def test_the_monitors_language_is_spoken_unless_another_is_wanted(labelled: Command) -> None:
    french = labelled("agreement").out
    assert "Accord avec les annotations humaines" in french
    assert "La corrélation avec les humains dépasse-t-elle 0,8\u202f?" in french
    assert "Exactitude" in french
    assert "$" not in french
    assert "Accuracy" in labelled("agreement", "--lang", "en").out


def test_the_json_holds_everything(labelled: Command) -> None:
    found = json.loads(labelled("agreement", "--format", "json").out)
    assert [one["criterion"] for one in found["agreement"]["criteria"]][:2] == ["", EXACT]
    first = found["agreement"]["criteria"][0]
    assert set(first) == {
        *("criterion", "items", "labels", "without_judge", "pearson", "spearman", "kappa"),
        *("error", "bias", "claim", "raters"),
    }
    assert first["pearson"]["fisher"]["low"] < first["pearson"]["value"]
    assert first["raters"]["pairs"][0]["items"] == 12
    assert found["agreement"]["worst"][0]["item"] in found["questions"]


def test_the_csv_has_a_line_per_criterion_for_any_spreadsheet(labelled: Command) -> None:
    done = labelled("agreement", "--format", "csv", "--out", "agreement.csv")
    assert done.err == "written: agreement.csv\n"
    rows = list(csv.DictReader(io.StringIO((labelled.folder / "agreement.csv").read_text(encoding="utf-8-sig"))))
    assert [row["criterion"] for row in rows][:2] == ["", EXACT]
    assert float(rows[0]["pearson_low"]) < float(rows[0]["pearson"]) < float(rows[0]["pearson_high"])


def test_the_last_days_and_one_judge_can_be_asked_for(labelled: Command) -> None:
    found = json.loads(labelled("agreement", "--days", "7", "--judge", "mistral", "--format", "json").out)
    assert (found["labelled"], found["judge"]) == (12, "mistral")
    assert "no judge 'nobody' judged a labelled answer" in labelled("agreement", "--judge", "nobody").refused()


def test_a_table_of_ratings_needs_no_ledger(tmp_path: Path) -> None:
    drawn = random.Random(2)
    lines = ["item;criterion;judge;human1;human2"]
    for item in range(40):
        truth = drawn.randint(0, 10)
        lines.append(f"{item};clarté;{truth};{min(10, truth + item % 2)};{max(0, truth - item % 3)}")
    (tmp_path / "ratings.csv").write_text("\n".join([*lines, "x;clarté;?;1;1"]), encoding="utf-8")
    done = Command(tmp_path)("agreement", "--ratings", "ratings.csv", "--lang", "fr")
    assert "40 réponses notées · 80 notes · 2 évaluateurs" in done.out.replace("\u202f", " ")
    assert "clarté\u00a0: Oui. Confiance\u00a0: plus de 99,9\u00a0%." in done.out
    assert "ligne 42\u00a0: '?' of judge is not a number" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "xml"), "--format 'xml': use one of text, json, csv"),
        (("--lang", "de"), "--lang 'de': use one of en, fr"),
        (("--ratings", "no.csv"), "no.csv: no such file"),
        (("--ratings", "no.csv", "--days", "3"), "--days and --all apply to labels of the ledger"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in Command(tmp_path)("agreement", *arguments).refused()


def test_no_label_yet_says_how_to_begin(tmp_path: Path) -> None:
    command = Command(tmp_path)
    ledger_at(command.outputs / "ledger.db").close()
    drawn = command("agreement", "--lang", "en").out
    assert "No labels yet of answers drawn at random. Label answers at /review" in drawn and "--all takes" in drawn
    assert "No labels yet. Label answers at /review" in command("agreement", "--lang", "en", "--all").out
