"""The panel: judges, criteria, the share of documents they are shown, and options that determine a score.

It is stored once as a run, and scores name it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Self

import msgspec
from msgspec import Struct

from areopage.cases import Document, Persona
from areopage.criteria import Criterion, Scale, short_names
from areopage.digest import digest_of
from areopage.errors import CriteriaError, StorageError, name_list
from areopage.jury.fitting import Fitting
from areopage.jury.judges import Judge, JudgeStatus, PlannedCall
from areopage.jury.opening import check_judge, settled_judge
from areopage.jury.planning import CallPlan, JudgedCase, PassesOf, ShownCases, all_passes
from areopage.ledger import Run, RunKind
from areopage.models import CHARACTERS_PER_TOKEN, Gauge, ModelReference, ModelSettings
from areopage.scoring import FailureRules, Profile, Weights

SPEC_FORMAT = 1
"""Raised whenever a stored panel or specification is not read as it was meant by the version that wrote it."""


class _Format(Struct):
    format: int = 0


class ContextBudget(Struct, frozen=True, kw_only=True):
    """A limit that keeps whole documents in order, as long as they fit.

    Args:
        max_tokens: for titles and texts of all documents together, estimated.
        max_chunks: the most documents; None: any number.
        max_chars: of each document's text, the rest is cut; None: whole texts. 3 and 200 are the specification's figures.
    """

    max_tokens: int = 12_000
    max_chunks: int | None = None
    max_chars: int | None = None

    def fit(self, documents: Sequence[Document]) -> tuple[tuple[Document, ...], int]:
        """Select the documents included in a judge's prompt.

        They are taken up to the first that does not fit: a retriever gives the best ones first. If that is the very first one, it
        is cut to the budget, since a judge without any document could not judge at all.

        Returns:
            The documents, and how many were not shown or not whole; what `max_chars` cuts off does not count.
        """
        left = self.max_tokens * CHARACTERS_PER_TOKEN
        shown: list[Document] = []
        for document in documents[: self.max_chunks]:
            fitted = _cut(document, self.max_chars)
            size = len(fitted.title) + len(fitted.text)
            if size > left:
                if not shown:
                    return (_cut(fitted, max(int(left) - len(fitted.title), 0)),), len(documents)
                break
            shown.append(fitted)
            left -= size
        return tuple(shown), len(documents) - len(shown)


def _cut(document: Document, characters: int | None) -> Document:
    if characters is None or len(document.text) <= characters:
        return document
    return msgspec.structs.replace(document, text=document.text[:characters])


RUN_ID_LENGTH = 16


class Panel(Struct, frozen=True, kw_only=True):
    """Judges, criteria, prompts, options and scale that determine a score.

    Args:
        criteria: in the suite's order.
        personas: the readers by maturity.
        scale: of the scores; criteria's own scales are mapped to it.
        profile: the rules for failed passes, quorum and outliers.
        failures: which scores are failures; none is dropped because other judges find that the criterion does not apply.
        joint: models are asked about all their criteria in one call; code and recordings never are.
        context: how much of the documents models are shown; None: all.
        salt: "" or a text that sets the keys of these judgments apart from all others (to ask anew on purpose).
        gauges: tell what fits into the windows of models, by reference; longer cases are cut, see `areopage.jury.fitting`.
    """

    suite: str
    suite_version: str
    language: str
    criteria: tuple[Criterion, ...]
    judges: tuple[Judge, ...]
    personas: dict[str, Persona] = {}
    weights: Weights = Weights()
    scale: Scale
    profile: Profile
    failures: FailureRules = FailureRules()
    joint: bool = False
    context: ContextBudget | None = None
    salt: str = ""
    gauges: dict[str, Gauge] = {}

    def criteria_by_id(self) -> dict[str, Criterion]:
        """The criteria by id."""
        return {criterion.id: criterion for criterion in self.criteria}

    @property
    def paths(self) -> dict[str, str]:
        """The path of each criterion by its id."""
        return {criterion.id: criterion.path for criterion in self.criteria}

    @property
    def names(self) -> dict[str, str]:
        """The short name of each criterion by its id."""
        return {criterion.id: name for name, criterion in zip(short_names(self.criteria), self.criteria, strict=True)}

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The ids of the criteria without a judge."""
        return tuple(criterion.id for criterion in self.criteria if not any(judge.may_judge(criterion) for judge in self.judges))

    # --- checks

    async def judge_statuses(self, settings: ModelSettings) -> dict[ModelReference, JudgeStatus]:
        """Check each judge's model once."""
        references = dict.fromkeys(judge.reference for judge in self.judges)
        return {reference: await check_judge(reference, settings) for reference in references}

    def checked(self, statuses: Mapping[ModelReference, JudgeStatus]) -> Self:
        """The panel with the results of its judges' checks."""
        judges = tuple(settled_judge(judge, statuses[judge.reference], self.language) for judge in self.judges)
        panel = msgspec.structs.replace(self, judges=judges)
        if len(panel.unjudged) == len(panel.criteria):
            names = name_list(judge.name for judge in judges)
            raise CriteriaError(f"{names} cannot judge any of the selected criteria: choose other judges or criteria")
        return panel

    # --- calls

    def planned_calls(self, cases: Sequence[JudgedCase], judges: Sequence[Judge] | None = None) -> Iterator[PlannedCall]:
        """All calls for these cases, judge by judge."""
        shown = ShownCases(cases, self.personas)
        for judge in self.judges if judges is None else judges:
            yield from self.call_plan(cases, judge, shown=shown)

    def call_plan(
        self,
        cases: Sequence[JudgedCase],
        judge: Judge,
        passes_of: PassesOf = all_passes,
        shown: ShownCases | None = None,
    ) -> CallPlan:
        """The calls of a judge of the panel.

        Models are shown the documents that fit the panel's budget; code and recordings spend no tokens and get all of them.
        """
        within_budget = cases
        if judge.is_model and self.context is not None:
            replace, fit = msgspec.structs.replace, self.context.fit
            within_budget = [replace(item, case=replace(item.case, documents=fit(item.case.documents)[0])) for item in cases]
        fitted = self._within_window(judge, within_budget)
        return CallPlan(
            judge,
            fitted,
            self.personas,
            self.salt,
            joint=self.joint and judge.is_model,
            passes_of=passes_of,
            shown=shown if fitted is cases else None,
        )

    def _within_window(self, judge: Judge, cases: Sequence[JudgedCase]) -> Sequence[JudgedCase]:
        fitting = Fitting(judge, self.gauges.get(str(judge.reference)) if judge.is_model else None, self.personas)
        if not fitting.is_needed or not any(item.case.documents for item in cases):
            return cases
        fitted = [fitting.fitted(item.case, item.criteria, joint=self.joint) for item in cases]
        return [
            item if case is item.case else msgspec.structs.replace(item, case=case)
            for item, case in zip(cases, fitted, strict=True)
        ]

    # --- storage

    def as_run(self, kind: RunKind) -> Run:
        """The ledger's record of the panel.

        Its id is a hash of its content, so that every process computes the same id.
        """
        fingerprint = digest_of(self)
        return Run(
            id=f"{kind}-{fingerprint[:RUN_ID_LENGTH]}",
            kind=kind,
            suite=self.suite,
            fingerprint=fingerprint,
            folder="",
            created_at=datetime.now(UTC),
            finished_at=None,
            spec=self.encoded(),
        )

    def encoded(self) -> str:
        """The panel, or a run's specification, as text, with the number of its format."""
        return msgspec.json.encode({"format": SPEC_FORMAT, **msgspec.structs.asdict(self)}, enc_hook=str).decode()

    @classmethod
    def of(cls, run: Run) -> Self:
        """Read the panel of a stored run.

        Raises:
            StorageError: the text is of another version, or damaged.
        """
        try:
            number = msgspec.json.decode(run.spec, type=_Format).format
            if number != SPEC_FORMAT:
                formats = f"format {number}, not {SPEC_FORMAT}"
                raise StorageError(f"run {run.id}: it was written by another version of areopage ({formats})")
            return msgspec.json.decode(run.spec, type=cls, dec_hook=lambda wanted, value: wanted(value))
        except msgspec.DecodeError as error:
            raise StorageError(f"run {run.id}: it was written by another version of areopage ({error})") from None
