"""Calibrations of monitored answers: each label is weighed by its day's traffic, and what they cannot do is refused."""

import json
import shlex
import sqlite3
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from msgspec import structs

from areopage.criteria.records import Criterion
from areopage.jury.judges import Judge
from areopage.jury.panel import Panel
from areopage.ledger.people.labels import Labels, ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Evaluation, Label, ReviewItem
from areopage.models.reference import ModelReference
from areopage.scoring.records import DEFAULT
from servers.command import Command
from servers.quality_ledger import SCALE, TODAY, answered, filled

DAYS, LABELLED = 8, 4
UNTIL = TODAY.date().isoformat()
FORMAT, EXACT = "quality.answer.format", "quality.answer.exactitude"
REPORT = ("monitor", "report", "--until", UNTIL, "--days", str(DAYS), "--lang", "en")


def criterion(path: str) -> Criterion:
    category, subcategory, name = path.split(".")
    return Criterion(
        id=f"{path}__v1_0", version="v1_0", category=category, subcategory=subcategory, name=name, language="fr", role="",
        task=f"Score {name}.", scoring_guide="0 to 10.", output_format="JSON", scale=SCALE,
    )  # fmt: skip


PANEL = Panel(
    suite="answer_quality",
    suite_version="1.0",
    language="fr",
    criteria=(criterion(EXACT), criterion(FORMAT)),
    judges=(Judge(name="alpha", reference=ModelReference(provider="ollama", model="m"), pass_options=({},), digest="d1"),),
    scale=SCALE,
    profile=DEFAULT,
)


def traffic(days_ago: int) -> int:
    """How many answers a day has: far more on the last ones."""
    return 5 + 12 * (DAYS - days_ago)


def given() -> tuple[list[Evaluation], dict[str, float]]:
    """Answers with the jury's scores, and what people would say: the jury is lenient, the more so the later the day."""
    random, scores, people = np.random.default_rng(1), [], dict[str, float]()
    for days_ago in range(DAYS + 3):
        for number in range(traffic(days_ago) if days_ago < DAYS else 6):
            jury = round(random.uniform(5, 9), 2)
            one = answered(1000 * days_ago + number, jury, days_ago=days_ago, format=8.0)
            people[one.id] = float(np.clip(jury - 0.5 - 0.2 * (DAYS - days_ago) + random.normal(0, 0.4), 0, 10).round(1))
            scores.append(one)
    return scores, people


SCORES, PEOPLE = given()


def label(ledger: Ledger, ids: Sequence[str], why: str) -> None:
    ReviewQueue(ledger).add([ReviewItem(answer_id=id, why=why, created_at=TODAY) for id in ids])
    Labels(ledger).add(
        [Label(answer_id=id, rater="Anne", criterion=EXACT, score=PEOPLE[id], origin="web", created_at=TODAY) for id in ids]
    )


def sample_of(days_ago: int, seed: int = 0) -> list[str]:
    numbers = np.random.default_rng((seed, days_ago)).permutation(traffic(days_ago))[:LABELLED]
    return [f"a-{1000 * days_ago + number}" for number in numbers]


@pytest.fixture
def monitor(command: Command) -> Command:
    """A monitor that draws four answers of each whole day, and whose other labels are of its worst answers."""
    with filled(command.outputs / "ledger.db", SCORES) as ledger:
        label(ledger, [id for days_ago in range(1, DAYS) for id in sample_of(days_ago)], "sample")
        worst = sorted((one for one in SCORES), key=lambda one: one.score_global or 0)[:30]
        known = {one.answer_id for one in Labels(ledger).current()}
        label(ledger, [one.id for one in worst if one.id not in known], "low_score")
    rewrite_panel(command, PANEL)
    return command


def rewrite_panel(command: Command, panel: Panel) -> None:
    with sqlite3.connect(command.outputs / "ledger.db") as connection:
        connection.execute("UPDATE runs SET spec = ?", (panel.encoded(),))


def test_labels_of_a_periods_sample_correct_its_mean_weighed_by_the_days(monitor: Command) -> None:
    fitted = monitor("calibrate", "monitored", "--days", str(DAYS), "--until", UNTIL)
    assert fitted.code == 0, fitted.err
    assert "labels: 28 of 28 answers drawn at random, by Anne" in fitted.out
    assert "each label is weighed by its day's traffic" in fitted.out and "were not drawn at random" in fitted.out
    (command,) = (line.removeprefix("apply it: ") for line in fitted.out.splitlines() if line.startswith("apply it: "))
    assert command.startswith(f"areopage monitor report --days {DAYS} --until {UNTIL} --calibration ")
    assert "Corrected by people" in monitor(*shlex.split(command)[1:], "--lang", "en").out
    assert fitted.out.count("28") >= 2 and monitor("calibrate", "list").code == 0

    told = json.loads(monitor(*REPORT, "--format", "json", "--calibration", "latest").out)
    one = told["calibration"]["criteria"][EXACT]
    covered = [score for score in SCORES if TODAY - timedelta(days=DAYS - 0.5) < score.timestamp < TODAY - timedelta(hours=12)]
    truth = np.mean([PEOPLE[score.id] for score in covered])
    assert one["own"] and one["judged"] == len(covered) and one["labels"] == 28
    assert one["low"] < truth < one["high"] < one["uncorrected"]
    assert FORMAT not in told["calibration"]["criteria"]
    page = monitor(*REPORT, "--calibration", "latest").out
    assert "Corrected by people" in page and "weighed by the traffic of its day" in page
    assert f"are of {len(covered)} of {sum(traffic(n) for n in range(DAYS))} answers" in page
    assert "Corrected by people" not in monitor(*REPORT).out
    html = monitor(*REPORT, "--calibration", "latest", "--format", "html", "--out", "-").out
    assert f'title="{told["calibration"]["id"]}"' in html and "Anne" not in html


def test_the_command_that_applies_a_calibration_names_the_configuration_and_what_was_chosen(monitor: Command) -> None:
    config = monitor.folder / "my config.yml"
    config.write_text(f"ledger: {monitor.outputs / 'ledger.db'}\n", encoding="utf-8")
    fitted = monitor("calibrate", "monitored", "--days", str(DAYS), "--until", UNTIL, "--config", str(config))
    assert fitted.code == 0, fitted.err
    (command,) = (line.removeprefix("apply it: ") for line in fitted.out.splitlines() if line.startswith("apply it: "))
    assert shlex.split(command)[-2:] == ["--config", str(config)]
    assert "Corrected by people" in monitor(*shlex.split(command)[1:], "--lang", "en").out


def test_another_period_assumes_the_relation_and_says_so(monitor: Command) -> None:
    assert monitor("calibrate", "monitored", "--days", str(DAYS), "--until", UNTIL).code == 0
    other = (*REPORT[:4], "--days", str(DAYS + 3), "--lang", "en")
    assert "The labels are of other answers" in monitor(*other, "--calibration", "latest").out
    one = json.loads(monitor(*other, "--format", "json", "--calibration", "latest").out)["calibration"]["criteria"][EXACT]
    assert not one["own"] and one["judged"] == len(SCORES) and one["low"] < one["score"] < one["high"]


def test_what_a_calibration_cannot_correct_is_refused_by_name(monitor: Command) -> None:
    few = monitor("calibrate", "monitored", "--days", "3", "--until", UNTIL).refused()
    assert "8 answers of the random sample labelled blind, 10 are needed" in few
    assert "no answer was judged" in monitor("calibrate", "monitored", "--days", "3", "--until", "2020-01-31").refused()
    assert monitor("calibrate", "monitored", "--days", str(DAYS), "--until", UNTIL).code == 0
    changed = Judge(name="alpha", reference=ModelReference(provider="ollama", model="m"), pass_options=({},), digest="NEW")
    rewrite_panel(monitor, structs.replace(PANEL, judges=(changed,)))
    assert "had the model digest d1, and has NEW" in monitor(*REPORT, "--calibration", "latest").refused()
    with sqlite3.connect(monitor.outputs / "ledger.db") as connection:
        connection.execute("UPDATE evaluations SET run_id = 'other' WHERE number = (SELECT max(number) FROM evaluations)")
    assert "2 panels judged the answers" in monitor(*REPORT[:4], "--days", "30", "--calibration", "latest").refused()
