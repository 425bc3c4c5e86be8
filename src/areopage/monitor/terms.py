"""The terms on which answers are judged: everything that determines a score, kept in the ledger as a run of kind "monitor"."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import short_names
from areopage.criteria.records import Criterion, Scale
from areopage.criteria.selection import select_criteria
from areopage.digest import digest_of
from areopage.errors import CriteriaError, StorageError, name_list
from areopage.jury.judges import Judge, JudgeStatus, PlannedCall
from areopage.jury.opening import settled_judge
from areopage.jury.options import choose_judges
from areopage.jury.plan import JudgedCase, plan
from areopage.ledger.records import Run
from areopage.models.reference import ModelReference
from areopage.monitor.context import ContextBudget, fit_documents
from areopage.scoring.profile import DEFAULT, Profile
from areopage.scoring.weights import Weights
from areopage.suites.loader import Suite, choose_language

RUN_ID_LENGTH = 16


class Terms(Struct, frozen=True, kw_only=True):
    """What determines a score.

    Args:
        criteria: those of the suite's default selection, in the suite's order.
        profile: always the default one with the suite's quorum: a failure never counts as a number here.
        joint: models are asked about all their criteria in one call; code and recordings never are.
        remarks: what was said while preparing.
    """

    suite: str
    suite_version: str
    language: str
    criteria: tuple[Criterion, ...]
    judges: tuple[Judge, ...]
    personas: dict[str, Persona]
    weights: Weights
    scale: Scale
    profile: Profile
    joint: bool
    context: ContextBudget
    remarks: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """The short name of each criterion by its id."""
        return {one.id: name for name, one in zip(short_names(self.criteria), self.criteria, strict=True)}


def prepare_terms(
    suite: Suite, judges: Sequence[str], language: str | None, passes: int | None, *, joint: bool, context: ContextBudget
) -> Terms:
    """The terms that a suite and the user's wishes give, before any model was asked who it is.

    Raises:
        ConfigError, CriteriaError, ModelError: the suite, its selection or a judge is wrong.
    """
    chosen = choose_language(suite, language)
    ids = select_criteria(suite.config.criteria.default_selection, suite.registry)
    loaded = load_criteria(suite.registry, ids, suite.criteria_folder, chosen, suite.own_language, suite.scale)
    if loaded.faults:
        raise loaded.faults[0]
    remarks = list(suite.warnings)
    if loaded.untranslated:
        remarks.append(f"no text in {chosen!r}, {suite.own_language!r} is used: {name_list(loaded.untranslated)}")
    return Terms(
        suite=suite.name,
        suite_version=suite.config.project.version,
        language=chosen,
        criteria=loaded.criteria,
        judges=choose_judges(suite, judges, passes),
        personas=suite.personas(chosen),
        weights=suite.weights,
        scale=suite.scale,
        profile=DEFAULT.with_quorum(suite.config.judge_system.evaluation.quorum),
        joint=joint,
        context=context,
        remarks=tuple(remarks),
    )


def settled_terms(terms: Terms, statuses: Mapping[ModelReference, JudgeStatus]) -> Terms:
    """Terms with what the checks of the judges found: digest, fitness, what they may judge.

    Raises:
        CriteriaError: no judge may judge anything.
    """
    judges = tuple(settled_judge(judge, statuses[judge.reference], terms.language) for judge in terms.judges)
    alone = [one.id for one in terms.criteria if not any(judge.may_judge(one) for judge in judges)]
    if len(alone) == len(terms.criteria):
        names = name_list(judge.name for judge in judges)
        raise CriteriaError(f"{names} may judge none of the suite's criteria: name other judges")
    remarks = terms.remarks
    if alone:
        remarks = (*remarks, f"left out, since no judge may judge it: {name_list(alone)}")
    return msgspec.structs.replace(terms, judges=judges, remarks=remarks)


def planned_calls(terms: Terms, case: Case) -> list[PlannedCall]:
    """Every call that judges a case, judge by judge.

    Models are shown the documents that fit the budget. Code and recordings spend no tokens: they get all of them.
    """
    documents, _ = fit_documents(case.documents, terms.context)
    fitted = msgspec.structs.replace(case, documents=documents)
    calls: list[PlannedCall] = []
    for judge in terms.judges:
        judged = JudgedCase(case=fitted if judge.is_model else case, criteria=terms.criteria)
        calls.extend(plan(judge, [judged], terms.personas, joint=judge.is_model and terms.joint))
    return calls


def run_of(terms: Terms) -> Run:
    """The ledger's run of these terms; its id is that of its content, so that every process makes the same."""
    fingerprint = digest_of(terms)
    return Run(
        id=f"monitor-{fingerprint[:RUN_ID_LENGTH]}",
        kind="monitor",
        suite=terms.suite,
        fingerprint=fingerprint,
        folder="",
        created_at=datetime.now(UTC),
        finished_at=None,
        spec=msgspec.json.encode(terms).decode(),
    )


def decode_terms(text: str, place: str) -> Terms:
    """The terms of a run's specification.

    Raises:
        StorageError: the text is of another version, or damaged.
    """
    try:
        return msgspec.json.decode(text, type=Terms)
    except msgspec.DecodeError as error:
        raise StorageError(f"{place}: the run was made by another version of areopage ({error})") from None
