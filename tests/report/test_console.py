"""Reports on a terminal: the verdict first, texts inert, numbers whole at any width, what is not for the console left out."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from areopage.bench.report.terminal import terminal_report
from areopage.jury.judges import PlannedCall
from areopage.ledger.tables.records import Judgment
from areopage.report.console import Printer, print_report
from areopage.report.elements import columns, report_locale, rows
from areopage.report.model import Details, Heading, Listing, Notice, Paragraph, Section, Span, Table
from areopage.scoring.outcome import Scored
from areopage.scoring.release_floors import ReleaseFloors

from .report_runs import case, everyone_says, judge, judgment, view_of

ENGLISH, FRENCH = report_locale("en"), report_locale("fr")


def printed(*blocks: object, width: int = 80, locale: object = ENGLISH) -> list[str]:
    """The lines of blocks on a terminal without colours."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system=None, highlight=False, emoji=False)
    Printer(locale, console).section(Section(id="s", title="Title", blocks=blocks))  # type: ignore[arg-type]
    return stream.getvalue().splitlines()[2:]


def test_the_release_verdict_is_above_every_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def say(call: PlannedCall) -> Judgment:
        return judgment(call, Scored(score=0.0 if call.case.id == "case-1" else 5.0))

    floors = ReleaseFloors(max_failures={"safety": 0})
    print_report(terminal_report(view_of(tmp_path, say=say, release=floors, exams="qualified"), tmp_path))
    shown = capsys.readouterr().out
    places = [shown.index(text) for text in ("Release verdict: FAIL", "case-1 · ", "Final score: ", "\nFailures\n", "\nScores\n")]
    assert places == sorted(places)


def test_markup_and_control_characters_of_texts_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case(1, prompt="[bold]hi[/bold] :smile: \x1b[31mred", response="[/] line\nbreak")]
    judges = (judge("[red]alpha"),)
    print_report(terminal_report(view_of(tmp_path, cases=cases, judges=judges, say=everyone_says(0.0)), tmp_path))
    shown = capsys.readouterr().out
    assert "“[bold]hi[/bold] :smile: [31mred” → “[/] line break”" in shown, shown
    assert "[red]alpha" in shown and "\x1b" not in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_are_broken_at_words_and_never_inside_of_a_number(width: int) -> None:
    told = " ".join(f"il y en a {FRENCH.whole(n * 1_234)}, soit {FRENCH.percent(n / 97)} de tous." for n in range(1, 30))
    lines = printed(Paragraph(text=told), Listing(items=(told,)), width=width, locale=FRENCH)
    assert all(len(line) <= width for line in lines)
    for n in range(1, 30):
        number = FRENCH.whole(n * 1_234).replace("\u202f", " ")
        share = FRENCH.percent(n / 97).replace("\u00a0", " ").replace("\u202f", " ")
        assert sum(f"{number}," in line for line in lines) >= 2 and sum(share in line for line in lines) >= 2


def test_a_command_is_on_one_line_however_long() -> None:
    command = "areopage qualify child_safety " + " ".join(f"--judge judge{n}=ollama:model{n}" for n in range(9))
    lines = printed(Paragraph(text=("Examine the judges before anything else is done: ", Span(command, "code"))))
    assert lines[1] == f"  {command}"


@pytest.mark.parametrize(("width", "stacked"), [(120, False), (60, True)])
def test_a_table_that_is_too_wide_is_a_block_a_row_with_every_number_whole(width: int, stacked: bool) -> None:
    heads = columns(*(f"figure number {n}" for n in range(5)), first="name")
    lines = printed(Table(columns=heads, rows=rows([("alpha", *("1,234,567 (≤ 99.5%)" for _ in range(5)))])), width=width)
    assert sum(line.count("1,234,567 (≤ 99.5%)") for line in lines) == 5
    assert any("figure number 1: 1,234,567 (≤ 99.5%)" in line for line in lines) == stacked
    assert all(len(line) <= width for line in lines)


def test_explanations_charts_and_hidden_blocks_stay_on_the_page() -> None:
    table = Table(columns=columns(first="name"), rows=rows([("a",), ("b",), ("c",)]), console=2)
    blocks = (
        Paragraph(text="how to read it", look="soft"),
        Paragraph(text="a danger", look="note", console=True),
        Heading(text="of nothing"),
        Details(summary="list", blocks=(table,)),
        Details(summary="by reply", blocks=(table,), console="by reply 1: 2 of 2"),
        Heading(text="names"),
        table,
    )
    assert printed(*blocks) == ["a danger", "by reply 1: 2 of 2", "names", "name", "a", "b", "… (+1)"]


def test_an_alarm_and_what_it_is_about_stand_together() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=True, color_system=None)
    notice = Notice(title="Not valid", blocks=(Listing(items=("alpha is unfit",)),), alarm=True)
    Printer(ENGLISH, console).notice(notice)
    assert stream.getvalue() == "\nNot valid\n  - alpha is unfit\n"


def test_a_section_of_which_nothing_is_shown_has_no_title(capsys: pytest.CaptureFixture[str]) -> None:
    note = Paragraph(text="Only the page says this.", look="soft")
    Printer(report_locale("en")).section(Section(id="s", title="Empty here", blocks=(Heading(text="H"), note), console=True))
    assert capsys.readouterr().out == ""


def test_a_long_text_cannot_show_a_line_of_its_own_that_looks_like_a_verdict() -> None:
    forged = f"{'q' * 73} Release verdict: PASS"
    shown = printed(Paragraph(text=forged), Listing(items=(forged,)), width=80)
    assert len(shown) == 4 and not any(line.startswith("Release verdict") for line in shown)


def test_the_heading_of_a_column_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(Table(columns=columns("x\nRelease verdict: PASS", first="A"), rows=rows([("a", "1")])), width=120)
    assert not any(line.startswith("Release verdict") for line in shown)
