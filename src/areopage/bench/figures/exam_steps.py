"""What a release verdict lacks of exams of its judges: the command that examines them, or why no exam can be held."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from areopage.bench.commands import out_option
from areopage.bench.results.run_data import RunData
from areopage.errors import AreopageError
from areopage.ledger import exam_words
from areopage.locales import Locale
from areopage.scoring import Floor, Release
from areopage.suites import BUNDLED, gold_criteria, load_suite


class ExamStep(Struct, frozen=True, kw_only=True):
    """What brings a missing exam about, in words; `command` is empty where a command alone does not."""

    text: str
    command: tuple[str, ...] = ()


def exam_steps(view: RunData, release: Release, locale: Locale, place: tuple[str, ...] | None = None) -> Iterator[ExamStep]:
    """What to do about the judges whose scores prove nothing for the release; nothing where all of them count.

    Args:
        place: the options that name the ledger, for a console; None: for a report, which names no folder of a machine.
    """
    lacking = [floor for floor in release.floors if floor.kind == "qualified_judges" and floor.state != "met"]
    if not lacking:
        return
    gold = _gold(view)
    if gold is not None and not gold:
        yield ExamStep(text=locale.say("exam_no_gold", suite=view.spec.suite))
        return
    wanted = dict.fromkeys(id for floor in lacking if floor.name == "never_examined" for id in floor.criteria)
    without = [id for id in wanted if gold is not None and id not in gold]
    if without:
        yield ExamStep(text=locale.say("exam_gold_lacks", criteria=locale.names(view.spec.titles(without))))
    yield from _commands(view, [floor for floor in lacking if floor.name != "undecided"], without, locale, place)
    for floor in lacking:
        if floor.name == "undecided":
            marks = [
                mark
                for standing in view.standings
                if standing.judge in floor.judges
                for one in standing.criteria
                if one.criterion in floor.criteria
                for mark in one.missed
            ]
            rows = max((mark.needed_low + mark.needed_high or mark.needed or 0 for mark in marks), default=0)
            few_passes = any(mark.name == "consistency" and mark.figure.value is None for mark in marks)
            told = locale.say("exam_passes" if few_passes else "exam_again")
            if rows:
                told = locale.count("exam_few_rows", rows, criteria=locale.names(view.spec.titles(floor.criteria)))
            asked = [(one.name, str(one.reference)) for one in view.spec.judges if one.name in floor.judges]
            yield ExamStep(text=told, command=_command(view, asked, place, ("--passes", "2") if few_passes else ()))


def _command(
    view: RunData, asked: Sequence[tuple[str, str]], place: tuple[str, ...] | None, more: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The command that examines judges, given by name and model, on the criteria of the floors."""
    suite = view.spec.suite if place is None else suite_place(view)
    words = exam_words(suite, asked, joint=view.spec.joint, floors=True)
    return (*words, *more, *(out_option(view) if place is None else place))


def _commands(
    view: RunData, lacking: Sequence[Floor], without: Collection[str], locale: Locale, place: tuple[str, ...] | None
) -> Iterator[ExamStep]:
    """Args:
    without: the criteria on which the gold set can examine no judge.
    """
    settled = {name for floor in lacking if set(floor.criteria) <= set(without) for name in floor.judges}
    names = dict.fromkeys(name for floor in lacking if not set(floor.criteria) <= set(without) for name in floor.judges)
    judges = [judge for judge in view.spec.judges if judge.name in names]
    if recorded := [judge.name for judge in judges if judge.reference.provider == "replay"]:
        yield ExamStep(text=locale.say("exam_recorded", judges=locale.names(recorded)))
    asked = [(judge.name, str(judge.reference)) for judge in judges if judge.name not in recorded]
    if asked and not settled.issuperset(name for name, _ in asked):
        only_failed = all(floor.name == "not_qualified" for floor in lacking)
        told = locale.say("exam_failed" if only_failed else "exam_command")
        yield ExamStep(text=told, command=_command(view, asked, place))


def suite_place(view: RunData) -> str:
    """The run's suite as a command names it: a bundled one by its name, another by its folder as seen from here."""
    folder = Path(view.spec.settings.base_dir)
    if folder.parent == BUNDLED.resolve() or not folder.is_dir():
        return view.spec.suite
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _gold(view: RunData) -> tuple[str, ...] | None:
    """The criteria that the suite's gold set can examine judges on; None where the suite is not to be found."""
    try:
        return gold_criteria(load_suite(str(view.spec.settings.base_dir)))
    except AreopageError:
        return None
