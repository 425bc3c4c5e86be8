"""`areopage monitor report`: where it goes, in which form and language, and what it refuses."""

import json
from pathlib import Path

import pytest

from servers.command import Command
from servers.quality_ledger import TODAY, answered, filled

UNTIL = TODAY.date().isoformat()


@pytest.fixture
def monitor(command: Command) -> Command:
    """A monitor with a week of answers."""
    scores = [
        answered(n, 7.0 + n % 2, days_ago=n % 7, source="mail" if n % 3 else "chat", variant="ab"[n % 2]) for n in range(20)
    ]
    filled(command.outputs / "ledger.db", scores).close()
    return command


def test_without_a_place_the_report_is_markdown_on_the_screen(monitor: Command) -> None:
    ended = monitor("monitor", "report", "--until", UNTIL)
    assert ended.code == 0
    assert ended.out.startswith("# Rapport sur la qualité des réponses")
    assert ended.out.endswith("`\n")
    assert ended.err == ""


def test_html_goes_to_a_file_of_the_day(monitor: Command) -> None:
    ended = monitor("monitor", "report", "--until", UNTIL, "--format", "html", "--lang", "en")
    assert ended.err == f"written to quality-report-{UNTIL}.html\n"
    text = (monitor.folder / f"quality-report-{UNTIL}.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in text
    assert "7.50" in text


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", "<!DOCTYPE html>"), ("r.md", "# Rapport"), ("r.json", "{"), ("r.txt", "# R")]
)
def test_the_ending_of_the_file_says_the_form(monitor: Command, name: str, start: str) -> None:
    assert monitor("monitor", "report", "--until", UNTIL, "--out", name).code == 0
    assert (monitor.folder / name).read_text(encoding="utf-8").lstrip().startswith(start)


def test_a_dash_is_the_screen_for_every_form(monitor: Command) -> None:
    assert monitor("monitor", "report", "--until", UNTIL, "--format", "html", "--out", "-").out.lstrip().startswith("<!DOCTYPE")
    assert json.loads(monitor("monitor", "report", "--until", UNTIL, "--format", "json").out)["scored"] == 20


def test_days_source_and_variant_narrow_the_report(monitor: Command) -> None:
    def scored(*arguments: str) -> int:
        out = monitor("monitor", "report", "--until", UNTIL, "--format", "json", *arguments).out
        return int(json.loads(out)["scored"])

    assert scored("--days", "1") == 3
    assert scored("--source", "chat") == 7
    assert scored("--variant", "a") == 10
    assert scored("--source", "nobody") == 0


def test_without_rows_the_report_says_so(monitor: Command) -> None:
    ended = monitor("monitor", "report", "--until", "2020-01-31", "--lang", "en")
    assert ended.code == 0
    assert "No answer was scored in this period" in ended.out


def test_a_report_that_cannot_be_written_leaves_the_old_one(monitor: Command) -> None:
    place = monitor.folder / "there" / "r.md"
    message = monitor("monitor", "report", "--until", UNTIL, "--out", str(place)).refused()
    assert "cannot be written" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "pdf"], "--format 'pdf': use one of html, md, json"),
        (["--lang", "de"], "--lang 'de': use one of en, fr"),
        (["--until", "yesterday"], "--until 'yesterday': give a day as YYYY-MM-DD, from 1970 on"),
        (["--days", "0"], "0 is not in the range"),
        (["--config", "nowhere.yml"], "nowhere.yml"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(monitor: Command, arguments: list[str], words: str) -> None:
    assert words in monitor("monitor", "report", *arguments).refused()


def test_without_a_ledger_the_report_says_where_it_looked(command: Command) -> None:
    assert "there is no ledger" in command("monitor", "report").refused()


def test_a_period_that_begins_before_time_is_refused(monitor: Command) -> None:
    assert "--until" in monitor("monitor", "report", "--until", "0001-01-02").refused()


def test_the_configuration_beside_is_taken(monitor: Command) -> None:
    (monitor.folder / "areopage.yml").write_text("monitor: {language: en}\nstorage: {export_text: none}\n", encoding="utf-8")
    out = monitor("monitor", "report", "--until", UNTIL).out
    assert out.startswith("# Answer quality report")
    assert "The storage policy excludes texts." in out
    assert "Combien" not in out


def test_it_takes_the_folder_of_the_configuration_for_its_start(monitor: Command, tmp_path: Path) -> None:
    elsewhere = Command(tmp_path / "elsewhere", monitor.environment)
    elsewhere.folder.mkdir()
    (monitor.folder / "areopage.yml").write_text("monitor: {suite: answer_quality}\n", encoding="utf-8")
    assert elsewhere("monitor", "report", "--until", UNTIL, "--config", str(monitor.folder / "areopage.yml")).code == 0


def test_the_variant_that_others_are_compared_with_can_be_chosen(monitor: Command) -> None:
    report = ("monitor", "report", "--until", UNTIL, "--lang", "en")
    assert "Against a" in monitor(*report).out
    chosen = monitor(*report, "--baseline", "b").out
    assert "Against b" in chosen and "--baseline b" in chosen
    assert "use one of a, b" in monitor(*report, "--baseline", "c").refused()
