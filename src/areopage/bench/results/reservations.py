"""What a person who signs a run should know: what is not settled, not qualified, left out or failing."""

from collections.abc import Iterator

from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.release import RELEASE
from areopage.bench.results.run_data import RunData
from areopage.errors import counted, name_list
from areopage.ledger import Reservation
from areopage.scoring import Release

_SHOWN = 5


def reservations(view: RunData) -> tuple[Reservation, ...]:
    """What speaks against an approval without a note, the gravest first; none where a run passed without any failure."""
    return tuple(_found(view, RELEASE.of(view)))


def _found(view: RunData, release: Release | None) -> Iterator[Reservation]:
    floors = release.floors if release is not None else ()
    if missed := sum(floor.state == "not_met" for floor in floors):
        yield Reservation(kind="floors_missed", count=missed)
    if opened := sum(floor.state in ("open", "accepted") for floor in floors):
        yield Reservation(kind="floors_open", count=opened)
    code = {judge.name for judge in view.spec.judges if judge.kind == "code"}
    known = [(one.judge, one.word) for one in view.standings if one.word != "qualified"]
    unexamined = [name for name, word in known if word == "never_examined" and name not in code]
    unqualified = [name for name, word in known if word in ("unfit", "drifted", "not_qualified")]
    provisional = [one.judge for one in view.standings if one.word in ("provisional", "in_part") and one.provisional]
    if unqualified:
        yield Reservation(kind="judges_not_qualified", count=len(unqualified), names=tuple(unqualified))
    if unexamined:
        yield Reservation(kind="judges_never_examined", count=len(unexamined), names=tuple(unexamined))
    if in_part := [name for name, word in known if word == "in_part" and name not in code]:
        yield Reservation(kind="judges_in_part", count=len(in_part), names=tuple(in_part))
    if provisional:
        yield Reservation(kind="judges_provisional", count=len(provisional), names=tuple(provisional))
    if view.rejected:
        yield Reservation(kind="rejected_rows", count=len(view.rejected))
    if failing := tuple(FAILURES.of(view).by_case):
        yield Reservation(kind="failing_cases", count=len(failing), names=failing[:_SHOWN])


def reservation_text(one: Reservation) -> str:
    """A reservation in English, for an error."""
    names = f": {name_list(one.names, _SHOWN)}" if one.names else ""
    if one.kind == "floors_missed":
        return f"{counted(one.count, 'floor')} not met"
    if one.kind == "floors_open":
        return f"{counted(one.count, 'floor')} open"
    if one.kind == "rejected_rows":
        return f"{counted(one.count, 'row')} of the dataset rejected"
    if one.kind == "failing_cases":
        more = f" and {one.count - len(one.names)} more" if one.count > len(one.names) else ""
        return f"{counted(one.count, 'failing case')}{names}{more}"
    states = {
        "judges_not_qualified": "not qualified",
        "judges_never_examined": "never examined",
        "judges_in_part": "not examined on every criterion",
        "judges_provisional": "provisionally qualified, no person has checked the gold set",
    }
    return f"{counted(one.count, 'judge')} {states[one.kind]}{names}"
