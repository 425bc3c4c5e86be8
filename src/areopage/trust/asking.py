"""Ask judges about many cases outside of a run: calls are planned, looked up in the ledger, made, and kept there.

The judgments belong to a panel of a kind of its own. Runs, monitors and figures of people do not count them.
"""

import os
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from msgspec import Struct, structs

from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import judge_prompt
from areopage.criteria.records import Criterion
from areopage.errors import CriteriaError, name_list
from areopage.jury.judges import Judge, PlannedCall
from areopage.jury.options import choose_judges, model_settings
from areopage.jury.panel import Panel
from areopage.jury.session import LedgerJudgments, Session
from areopage.ledger.records import Judgment, RunKind
from areopage.ledger.store import Ledger
from areopage.models.breaker import OutageObserver
from areopage.models.contacts import Contact, contact_lines, contacts_of
from areopage.models.port import CHARACTERS_PER_TOKEN
from areopage.models.settings import ModelSettings
from areopage.models.traffic import Traffic
from areopage.scoring.reduce import profile_named
from areopage.suites.loader import Suite

ASSUMED_VERDICT_TOKENS = 120
SAMPLE = 40
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Asking(Struct, frozen=True, kw_only=True):
    """How judges are asked: who and about what, and how they are reached."""

    panel: Panel
    settings: ModelSettings
    concurrency: int
    outage_seconds: float


class Size(Struct, frozen=True, kw_only=True):
    """What calls cost that are not in the ledger.

    Args:
        planned, known: different calls, and those of them whose judgment the ledger has.
        prompt_tokens, completion_tokens: of the calls that are left, estimated at four characters a token.
        cost: in `currency`; None where no price is known.
    """

    planned: int
    known: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    currency: str

    @property
    def calls(self) -> int:
        """How many calls are left."""
        return self.planned - self.known


def asking_of(
    suite: Suite,
    judges: Sequence[str],
    ids: Sequence[str],
    language: str,
    *,
    concurrency: int | None = None,
    timeout: float | None = None,
    allowed_variables: Sequence[str] = (),
) -> Asking:
    """Judges of a suite, or references, with some of its criteria; nothing is opened yet.

    Args:
        judges: names of the suite's judges, model references, or NAME=REF.
        ids: of criteria; those that the suite does not have, or cannot load, are left out.
        timeout: seconds for one call; None: the suite's.
        allowed_variables: environment variables that the suite's servers may be sent.

    Raises:
        CriteriaError: no criterion can be loaded.
        ModelError, ConfigError: a judge is named wrongly.
    """
    config = suite.config
    known = tuple(id for id in suite.registry.entries if id in set(ids))
    loaded = load_criteria(suite.registry, known, suite.criteria_folder, language, suite.own_language, suite.scale)
    if not loaded.criteria:
        why = loaded.faults[0] if loaded.faults else name_list(ids)
        raise CriteriaError(f"none of the criteria of the graded responses can be used: {why}")
    workers = concurrency or config.execution.concurrency
    settings = model_settings(suite, language, workers).with_timeout(timeout).allowing(allowed_variables)
    panel = Panel(
        suite=suite.name,
        suite_version=config.project.version,
        language=language,
        criteria=tuple(loaded.criteria),
        judges=choose_judges(suite, judges, 1),
        personas=suite.personas(language),
        scale=suite.scale,
        profile=profile_named(config.scoring.profile),
    )
    return Asking(
        panel=panel,
        settings=structs.replace(settings, environment=dict(os.environ)),
        concurrency=workers,
        outage_seconds=config.execution.outage_seconds,
    )


def agreed(asking: Asking, agree: Callable[[Sequence[Contact]], bool] | None) -> Asking:
    """The same with the variables allowed that the user agrees to send to servers of the suite; see `Contact`."""
    found = contacts_of([judge.reference for judge in asking.panel.judges], asking.settings).values()
    asked = [contact for contact in dict.fromkeys(found) if contact.not_allowed(asking.settings)]
    if not asked or agree is None or not agree(asked):
        return asking
    return structs.replace(asking, settings=asking.settings.allowing(name for one in asked for name in one.variables))


def costs_money(asking: Asking) -> bool:
    """Whether a judge has a price, or a key is sent to another machine."""
    settings, judges = asking.settings, asking.panel.judges
    found = contacts_of([judge.reference for judge in judges], settings).values()
    remote = [one for one in found if one.sent(settings.environment) and urlsplit(one.address).hostname not in THIS_MACHINE]
    return bool(remote) or any(judge.price is not None for judge in judges)


def contacts(asking: Asking) -> list[str]:
    """Where the calls go, one line for each server."""
    return contact_lines([judge.reference for judge in asking.panel.judges], asking.settings)


class Asker:
    """Asks the judges of a panel, and keeps what they say in a ledger."""

    def __init__(self, asking: Asking, ledger: Ledger, kind: RunKind, observer: OutageObserver | None = None) -> None:
        self._ledger = ledger
        self._session = Session(
            asking.panel,
            asking.settings,
            LedgerJudgments(ledger),
            kind=kind,
            traffic=Traffic(asking.outage_seconds, observer),
            stops_at_outage=True,
            concurrency=asking.concurrency,
        )

    async def check(self) -> Panel:
        """Check the judges; the panel has their digests from then on.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra, CriteriaError: see `Session.check`.
        """
        return await self._session.check()

    async def known(self, calls: Sequence[PlannedCall]) -> dict[str, Judgment]:
        """The final judgments of these calls that the ledger has, by key."""
        return await self._session.known(calls)

    async def ask(
        self, calls: Sequence[PlannedCall], held: dict[str, Judgment], on_judgment: Callable[[Judgment], None] | None = None
    ) -> None:
        """Make the calls that `held` lacks; each judgment is committed and added.

        Raises:
            ServerDown, ModelError, StorageError: what has arrived is kept.
        """
        self._ledger.put_panel(self._session.run)
        await self._session.ask(calls, held, on_judgment)

    async def aclose(self) -> None:
        """Close the judges."""
        await self._session.aclose()


def size_of(calls: Sequence[PlannedCall], known: Sequence[str], panel: Panel) -> Size:
    """Estimate what is left of some calls; prompts of a sample of them are made."""
    planned = {call.key: call for call in calls}
    left = [call for key, call in planned.items() if key not in set(known)]
    sample = [_prompt_length(call, panel) for call in left[:: max(1, len(left) // SAMPLE)] if call.judge.is_model]
    asked = sum(call.judge.is_model for call in left)
    prompts = int(asked * sum(sample) / len(sample) / CHARACTERS_PER_TOKEN) if sample else 0
    answers = asked * ASSUMED_VERDICT_TOKENS
    priced = [judge for judge in panel.judges if judge.price is not None]
    return Size(
        planned=len(planned),
        known=len(planned) - len(left),
        prompt_tokens=prompts,
        completion_tokens=answers,
        cost=sum(_cost(judge, left, prompts, answers) for judge in priced) if priced else None,
        currency=priced[0].price.currency if priced and priced[0].price else "",
    )


def _cost(judge: Judge, left: Sequence[PlannedCall], prompts: int, answers: int) -> float:
    share = sum(call.judge.name == judge.name for call in left) / max(1, len(left))
    return judge.price.of(round(prompts * share), round(answers * share)) if judge.price else 0.0


def _prompt_length(call: PlannedCall, panel: Panel) -> int:
    prompt = judge_prompt(call.criteria, call.case, panel.personas.get(call.case.maturity), b"", call.hardening)
    return len(prompt.system) + len(prompt.user)


def criteria_named(panel: Panel, ids: Sequence[str], judge: Judge) -> tuple[Criterion, ...]:
    """The criteria of a panel by id that a judge may judge, in the given order; those on conversations are left out."""
    known = panel.criteria_by_id()
    found = (known[id] for id in ids if id in known)
    return tuple(one for one in found if one.scope == "response" and judge.may_judge(one))
