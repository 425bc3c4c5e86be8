"""Ask judges about cases outside of a run, for exams and audits: checks, calls, progress, and the ledger.

What the ledger holds is not asked again, so an exam or an audit that was stopped goes on where it was. The judgments belong to a
panel of a kind of its own. Runs, monitors and figures of people do not count them.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Protocol, Self, TypeVar

from msgspec import Struct, structs

from areopage.criteria import SINGLE, Criterion, load_criteria
from areopage.errors import CriteriaError, DamagedLedger, name_list
from areopage.jury import Judge, LedgerJudgments, Panel, PlannedCall, Session, choose_judges
from areopage.ledger import Judgment, Ledger, RunKind
from areopage.models import Agree, ModelReference, ModelSettings, OutageObserver, Traffic, require_connections
from areopage.scoring import Outcome, Profile
from areopage.suites import Suite

_Row = TypeVar("_Row")


def evenly_spaced(rows: Sequence[_Row], limit: int | None) -> tuple[_Row, ...]:
    """A number of rows, evenly spaced; None: all."""
    if limit is None or limit >= len(rows):
        return tuple(rows)
    return tuple(rows[place * len(rows) // limit] for place in range(limit))


class AskingWishes(Struct, frozen=True, kw_only=True):
    """The user's options on calls; None uses the suite's value.

    Args:
        timeout: seconds for one call.
        outage_seconds: how long calls wait for a server that is gone.
        allowed_variables: environment variables that the suite's own servers may be sent.
    """

    concurrency: int | None = None
    timeout: float | None = None
    outage_seconds: float | None = None
    allowed_variables: tuple[str, ...] = ()


class AskingObserver(OutageObserver, Protocol):
    """Receives progress."""

    def phase(self, name: str, total: int, kept: int) -> None:
        """Report the start of a phase with `total` calls, `kept` of them in the ledger already."""
        ...

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        """Report a call to a judge about cases, by their ids."""
        ...


class Asking(Struct, frozen=True, kw_only=True):
    """A panel, and how its judges are reached; `settings` have the environment. No other model is asked."""

    target: ClassVar[None] = None
    child: ClassVar[None] = None

    panel: Panel
    settings: ModelSettings
    concurrency: int
    outage_seconds: float

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges."""
        return self.panel.judges

    @property
    def models(self) -> tuple[ModelReference, ...]:
        """The references of the judges, each once."""
        return tuple(dict.fromkeys(judge.reference for judge in self.judges))

    @property
    def contacts(self) -> list[str]:
        """Where the calls go, one line for each server."""
        return self.settings.contact_lines(self.models)


def asking_of(
    suite: Suite,
    judges: Sequence[str],
    ids: Iterable[str],
    language: str,
    wishes: AskingWishes,
    *,
    passes: int = 1,
    salt: str = "",
    joint: bool = False,
) -> Asking:
    """Judges of a suite, or references, with some of its criteria by id; nothing is opened yet.

    Args:
        judges: names of the suite's judges, model references, or NAME=REF; none: all of the suite.
        salt: "" or a text that sets the keys of the judgments apart from all others.
        joint: models are asked about all criteria of a scope in one call.
    """
    config, wanted = suite.config, set(ids)
    criteria = tuple(id for id in suite.registry.entries if id in wanted)
    loaded = load_criteria(suite.registry, criteria, suite.criteria_folder, language, suite.own_language, suite.scale)
    if loaded.faults or not loaded.criteria:
        why = f"{name_list(sorted(wanted)) or 'none'}: the suite {suite.name} has no such criterion"
        raise CriteriaError(str(loaded.faults[0]) if loaded.faults else why)
    concurrency = wishes.concurrency or config.execution.concurrency
    settings = suite.model_settings(language, concurrency).with_timeout(wishes.timeout).allowing(wishes.allowed_variables)
    panel = Panel(
        suite=suite.name,
        suite_version=config.project.version,
        language=language,
        criteria=tuple(loaded.criteria),
        judges=choose_judges(suite.asking(n_passes=passes), judges),
        personas=suite.personas(language),
        scale=suite.scale,
        profile=Profile.named(config.scoring.profile),
        joint=joint,
        salt=salt,
    )
    return Asking(
        panel=panel,
        settings=settings.with_environment(),
        concurrency=concurrency,
        outage_seconds=config.execution.outage_seconds if wishes.outage_seconds is None else wishes.outage_seconds,
    )


def agreed(askings: Sequence[Asking], agree: Agree | None) -> tuple[Asking, ...]:
    """The same with the variables allowed that the user agrees to send to servers of the suite; the user is asked once."""
    models = dict.fromkeys(model for asking in askings for model in asking.models)
    variables = askings[0].settings.agreed_variables(models, agree)
    return tuple(structs.replace(asking, settings=asking.settings.allowing(variables)) for asking in askings)


async def checked(asking: Asking) -> Asking:
    """Check the judges, and record their digests and what they may judge."""
    require_connections(asking.models, asking.concurrency, asking.settings)
    return structs.replace(asking, panel=asking.panel.checked(await asking.panel.judge_statuses(asking.settings)))


class Asker:
    """Asks the judges of a checked panel, and keeps what they say in a ledger; use as `async with`."""

    def __init__(self, asking: Asking, ledger: Ledger, kind: RunKind, observer: OutageObserver | None = None) -> None:
        """Open nothing yet; the observer is told of outages."""
        self._ledger, self._run = ledger, asking.panel.as_run(kind)
        self._session = Session(
            asking.panel,
            asking.settings,
            LedgerJudgments(ledger),
            kind=kind,
            run_id=self._run.id,
            traffic=Traffic(asking.outage_seconds, observer),
            stops_at_outage=True,
            concurrency=asking.concurrency,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the judges."""
        await self._session.aclose()

    async def known(self, calls: Iterable[PlannedCall]) -> dict[str, Judgment]:
        """The final judgments of these calls that the ledger has, by key."""
        return await self._session.known(calls)

    async def ask(
        self,
        phase: str,
        requests: Iterable[tuple[PlannedCall, str]],
        judgments: dict[str, Judgment],
        observer: AskingObserver | None = None,
    ) -> None:
        """Make the calls that the ledger lacks; each judgment is committed and added to `judgments`, as are those of the ledger.

        Each call comes with the id of its case; cases that are alike share a call. What has arrived before an error is kept.
        """
        calls: dict[str, PlannedCall] = {}
        cases: dict[str, list[str]] = {}
        for call, case in requests:
            calls[call.key] = call
            cases.setdefault(call.key, []).append(case)
        stored = await self.known(calls.values())
        judgments |= stored
        if observer is not None:
            observer.phase(phase, len(calls), len(stored))
        await asyncio.to_thread(self._ledger.put_panel, self._run)

        def note(judgment: Judgment) -> None:
            if observer is not None:
                observer.judged(judgment, cases[judgment.key])

        await self._session.ask(calls.values(), judgments, note)


def outcome_on(judgment: Judgment, criterion: str) -> Outcome:
    """The outcome of a judgment on a criterion that was asked about."""
    for verdict in judgment.verdicts:
        if verdict.criterion == criterion:
            return verdict.outcome
    raise DamagedLedger(f"judgment {judgment.key[:12]} has no verdict on {criterion}")


def criteria_named(panel: Panel, ids: Iterable[str], judge: Judge) -> tuple[Criterion, ...]:
    """The criteria of a panel by id that a judge may judge, in the given order; those on conversations are left out."""
    by_id: Mapping[str, Criterion] = panel.criteria_by_id()
    criteria = (by_id[id] for id in ids if id in by_id)
    return tuple(criterion for criterion in criteria if criterion.scope in SINGLE and judge.may_judge(criterion))
