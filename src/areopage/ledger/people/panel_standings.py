"""The standing of the judges of stored panels, for scores of any moment."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, select

from areopage.criteria import Criterion
from areopage.ledger.people.canaries import drifts_by_path
from areopage.ledger.people.qualifications import JudgeStanding, Qualifications, compact_standings, exams_by_path, standings
from areopage.ledger.tables.answer_tables import runs
from areopage.ledger.tables.database import Database
from areopage.ledger.tables.records import Standing
from areopage.ledger.tables.rows import chunks
from areopage.models import ModelReference


class _Judge(Struct, frozen=True):
    name: str
    reference: ModelReference
    digest: str = ""
    unfit: str = ""
    criteria: tuple[str, ...] = ()
    method: str = "sampled"
    kind: str = "model"

    @property
    def is_model(self) -> bool:
        """Whether a model is asked."""
        return self.kind == "model"


class _Panel(Struct, frozen=True):
    judges: tuple[_Judge, ...]
    criteria: tuple[Criterion, ...]
    joint: bool = False


def panel_standings(
    connection: Connection, judged: Iterable[tuple[str, datetime | None]]
) -> dict[tuple[str, datetime | None], tuple[Standing, ...]]:
    """What is known of the judges of panels for scores of a moment, by the panel's id and the moment.

    Panels that cannot be read are left out.

    Args:
        judged: ids of panels with moments; None: now.
    """
    wanted = list(dict.fromkeys(judged))
    panels: dict[str, _Panel] = {}
    for part in chunks(sorted({id for id, _ in wanted if id})):
        for row in connection.execute(select(runs.c.id, runs.c.spec).where(runs.c.id.in_(part))):
            if (panel := _panel_in(row.spec)) is not None:
                panels[row.id] = panel
    paths = {criterion.path for panel in panels.values() for criterion in panel.criteria}
    found, drifts = exams_by_path(connection, paths), drifts_by_path(connection, paths)
    times = [one.at for some in drifts.values() for one in some]
    known: dict[tuple[str, int], tuple[Standing, ...]] = {}
    told: dict[tuple[str, datetime | None], tuple[Standing, ...]] = {}
    for id, at in wanted:
        if (panel := panels.get(id)) is None:
            continue
        before = sum(at is None or time <= at for time in times)  # between two of them nothing changes
        if (id, before) not in known:
            judged_at = {} if at is None else {judge.name: at for judge in panel.judges}
            known[id, before] = compact_standings(
                standings(panel.judges, panel.criteria, found, drifts, judged_at, joint=panel.joint)
            )
        told[id, at] = known[id, before]
    return told


def standings_of_panel(ledger: Database, id: str) -> tuple[JudgeStanding, ...]:
    """What is known now of each judge of a stored panel; () where the panel is not there, or cannot be read."""
    with ledger.reading() as connection:
        row = connection.execute(select(runs.c.spec).where(runs.c.id == id)).first()
    panel = None if row is None else _panel_in(row.spec)
    return () if panel is None else Qualifications(ledger).standings(panel.judges, panel.criteria, joint=panel.joint)


@lru_cache(maxsize=64)  # the judges and criteria of a stored panel never change
def _panel_in(spec: str) -> _Panel | None:
    try:
        return msgspec.json.decode(spec, type=_Panel)
    except msgspec.DecodeError:
        return None
