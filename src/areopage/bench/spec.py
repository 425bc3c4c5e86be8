"""The specification of a run.

The ledger stores it, so that a run can be resumed and rescored without its suite.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import msgspec
from msgspec import Struct

from areopage.bench.pass_settings import PassSettings
from areopage.bench.target_prompts import PromptMode
from areopage.cases import Case, RejectedRow
from areopage.criteria import Criterion
from areopage.digest import digest_of_list
from areopage.errors import DamagedRow
from areopage.jury import Judge, Panel, groups_of
from areopage.ledger import Ledger
from areopage.locales import Note
from areopage.models import ModelReference, ModelSettings, Price
from areopage.scoring import ReleaseFloors

Item = TypeVar("Item")

TWIN_OF = "twin_of"
"""The column, among a case's metadata, that names the harmful counterpart of a benign twin."""


class ChosenPart(Struct, frozen=True, kw_only=True):
    """The part of a dataset that a run is about.

    Args:
        where: the conditions as the user gives them, such as `age=9-12`.
        cases: how many meet them, of `total`.
    """

    where: tuple[str, ...]
    cases: int
    total: int

    @property
    def text(self) -> str:
        """The conditions as one text."""
        return ", ".join(self.where)


class Target(Struct, frozen=True, kw_only=True):
    """The model under test.

    Args:
        single_prompt: it is sent one text instead of a chat.
        judge_thinking: readers see its think-blocks, so that judges read them as part of the answer.
    """

    reference: ModelReference
    options: dict[str, Any] = {}
    digest: str = ""
    single_prompt: bool = False
    judge_thinking: bool = False
    system_prompt: str = ""
    price: Price | None = None


class DisplayNames(Struct, frozen=True, kw_only=True):
    """Display names of the suite's categories, sub-categories (`category.subcategory`) and criteria (by id).

    Args:
        names: in the run's language.
        others: in the suite's other languages.
    """

    names: dict[str, str] = {}
    others: dict[str, dict[str, str]] = {}

    def get(self, key: str) -> str:
        """Return a display name, derived from the key if missing."""
        path = key.rpartition("__v")[0] or key
        return self.names.get(key) or path.rpartition(".")[2].replace("_", " ")


class RunCase(Struct, frozen=True, kw_only=True):
    """A case with the ids of its criteria.

    Args:
        criteria: those that judges are asked about.
        ruled_out: those that are selected too, and by a rule of the suite do not apply to the case.
        answer_id: of the stored answer that is judged again; "" where the target is asked, or the response comes with the case.
    """

    case: Case
    criteria: tuple[str, ...]
    ruled_out: tuple[str, ...] = ()
    answer_id: str = ""


_ALIKE_IN_RUN = ("criteria", "ruled_out")
_ALIKE = ("category", "subcategory", "maturity", "source", "criteria_selection", "system", "tags")


class Reassessed(Struct, frozen=True, kw_only=True):
    """The run whose answers are judged again, and the target that gave them; "" where they came with its dataset."""

    run: str
    target: str = ""


class RunSpec(Panel, frozen=True, kw_only=True):
    """A run's specification: panel, target and execution options.

    Args:
        min_coverage: the share of planned passes, 0 to 1, under which the scores are inconclusive.
        quorum: the suite's own, for every profile that has one.
        salt: sets the keys of this run's judgments apart from all others; "" to share those that the ledger holds.
        reuse_answers: answers that the target gave to earlier runs take the place of calls.
        conversations_off: the ids of the suite's criteria on conversations that a conversation is not judged on.
        part: the part of the datasets that the user chose; None: all cases.
        settings: how models are reached; stored without secrets.
        child: the model that plays the children of cases with one; None: their scripts are all that they write.
        max_response_length: of the target's answers, in characters; longer ones are judged and named; 0: no limit.
        dataset_digest: SHA-256 of all cases as they were read, with their criteria.
        remarks: what was said while preparing: idle keys, missing prompt files, weights.
        release: the floors of the release verdict; None: there is no verdict.
        cluster: the column that says which cases belong together; "": those with equal prompts.
        twin_tag: the tag of cases that a harmless answer must not refuse.
        idle: keys of the suite's configuration without a meaning here, one remark for each.
        reassessed: where the answers are from; None: the target is asked, or responses come with the cases.
        adaptive: how passes are added to the first ones; None: every judge makes all of its passes.
        lost: the ids of selected criteria that could not be loaded, with the number of cases that they were selected for.
        languages: in which the suite has texts, its own first.
        batch: the names of the judges whose calls go through their providers' batch services.
    """

    mode: PromptMode
    target: Target | None
    labels: DisplayNames
    quorum: float
    settings: ModelSettings
    concurrency: int
    outage_seconds: float
    variance_threshold: float
    agreement_threshold: float
    datasets: tuple[str, ...]
    maturity_defaulted: int
    default_maturity: str
    remarks: tuple[Note, ...]
    log_level: str = "INFO"
    min_coverage: float = 0.0
    idle: tuple[str, ...] = ()
    release: ReleaseFloors | None = None
    cluster: str = ""
    twin_tag: str = "benign_twin"
    lost: Mapping[str, int] = {}
    dataset_digest: str = ""
    max_response_length: int = 0
    child: Target | None = None
    reassessed: Reassessed | None = None
    adaptive: PassSettings | None = None
    languages: tuple[str, ...] = ()
    batch: tuple[str, ...] = ()
    reuse_answers: bool = False
    conversations_off: tuple[str, ...] = ()
    part: ChosenPart | None = None

    @property
    def first_passes(self) -> int | None:
        """How many passes of each judge every case has, where others are added; None: all of them."""
        return self.adaptive.start if self.adaptive is not None else None

    @property
    def answered_by(self) -> str:
        """The target, of this run or of the one whose answers it judges again; "" where answers came with the dataset."""
        if self.target is not None:
            return str(self.target.reference)
        return self.reassessed.target if self.reassessed is not None else ""

    @property
    def answering(self) -> tuple[Target, ...]:
        """The target and the model that plays children, as far as they are asked."""
        return tuple(model for model in (self.target, self.child) if self.target is not None and model is not None)

    @property
    def models(self) -> tuple[ModelReference, ...]:
        """All that are asked, those that answer first."""
        references = [*(model.reference for model in self.answering), *(judge.reference for judge in self.judges)]
        return tuple(dict.fromkeys(references))

    @property
    def limits(self) -> dict[str, float]:
        """The score from which on each criterion fails, by its id."""
        return self.failures.limits(self.criteria, self.scale)

    @property
    def first_criteria(self) -> list[str]:
        """The ids of the criteria whose failures count first."""
        categories = self.failures.categories(self.criteria)
        return [criterion.id for criterion in self.criteria if criterion.category in categories]

    @property
    def first_names(self) -> list[str]:
        """The names that people read of the categories whose failures count first."""
        return [self.labels.get(name) for name in self.failures.categories(self.criteria)]

    def price_of(self, judge: Judge) -> Price | None:
        """The price of calls to a judge, lower where they go through a batch service; None where none is known."""
        return judge.price.in_batch() if judge.price is not None and judge.name in self.batch else judge.price

    def call_groups(self, judge: Judge) -> Callable[["RunCase"], Sequence[tuple[Criterion, ...]]]:
        """The criteria of each call of a judge about a case; they are found once for cases with the same criteria."""
        criteria = self.criteria_by_id()
        groups: dict[tuple[tuple[str, ...], bool], list[tuple[Criterion, ...]]] = {}

        def groups_about(item: RunCase) -> Sequence[tuple[Criterion, ...]]:
            kind = (item.criteria, item.case.is_conversation)
            if kind not in groups:
                asked = [criteria[id] for id in item.criteria]
                groups[kind] = groups_of(judge, asked, item.case, joint=self.joint and judge.is_model)
            return groups[kind]

        return groups_about

    def in_language(self, language: str) -> Self:
        """The specification with the names of criteria and categories in a language, as far as the suite has them."""
        names = self.labels.others.get(language)
        if not names or language == self.language:
            return self
        criteria = tuple(
            msgspec.structs.replace(criterion, label=names.get(criterion.id) or criterion.label) for criterion in self.criteria
        )
        return msgspec.structs.replace(self, criteria=criteria, labels=DisplayNames(names=names))

    def titles(self, ids: Iterable[str]) -> list[str]:
        """The names that people read of the suite's criteria, by their ids, whether the run has them or not."""
        criteria = self.criteria_by_id()
        return [criteria[id].title if id in criteria else self.labels.get(id) for id in ids]

    def named(self, note: Note) -> Note:
        """A remark with the names of criteria in place of their ids."""
        ids = note.values.get("criteria")
        if not isinstance(ids, tuple):
            return note
        return msgspec.structs.replace(note, values={**note.values, "criteria": tuple(self.titles(ids))})

    @property
    def title(self) -> str:
        """`answered_by` for a heading: a file without its folders."""
        return ModelReference.parse(self.answered_by).title if ":" in self.answered_by else self.answered_by


def fingerprint_of(spec: RunSpec, cases: Sequence[RunCase]) -> str:
    """Hash the options that determine results; speed options are excluded."""
    determining: list[Any] = [
        spec.suite,
        spec.suite_version,
        spec.language,
        spec.mode,
        spec.target,
        spec.child,
        spec.judges,
        spec.criteria,
        spec.personas,
        spec.scale,
        spec.weights,
        spec.profile,
        spec.failures,
        spec.release,
        spec.min_coverage,
        spec.twin_tag,
        spec.salt,
        spec.joint,
        iter(cases),
    ]
    if spec.adaptive is not None:
        determining.append(spec.adaptive)
    if spec.reuse_answers:
        determining.append("reuse_answers")
    return digest_of_list(determining)


def encode_spec(spec: RunSpec) -> str:
    """Serialise a specification without secrets."""
    return msgspec.structs.replace(spec, settings=spec.settings.without_secrets()).encoded()


def load_run_cases(ledger: Ledger, run_id: str) -> tuple[RunCase, ...]:
    """The cases of a run, as the ledger holds them; what many have alike is held once: criteria, categories, readers, source."""
    cases, shared = list[RunCase](), dict[Any, Any]()
    for item in read_rows(ledger.run_cases(run_id), RunCase, "run_cases", run_id):
        for record, names in ((item, _ALIKE_IN_RUN), (item.case, _ALIKE)):
            for name in names:
                value = getattr(record, name)
                msgspec.structs.force_setattr(record, name, shared.setdefault(value, value))
        cases.append(item)
    return tuple(cases)


def load_rejected_rows(ledger: Ledger, run_id: str) -> tuple[RejectedRow, ...]:
    """The rows of the dataset that a run could not use."""
    return tuple(read_rows(ledger.run_rejected(run_id), RejectedRow, "run_rejected", run_id))


def damaged_rows(ledger: Ledger, run_id: str) -> list[str]:
    """The cases and rejected rows of a run that cannot be read."""
    places: list[str] = []
    list(read_rows(ledger.run_cases(run_id), RunCase, "run_cases", run_id, places))
    list(read_rows(ledger.run_rejected(run_id), RejectedRow, "run_rejected", run_id, places))
    return places


def read_rows(
    texts: Iterable[str], kind: type[Item], table: str, run_id: str, damaged: list[str] | None = None
) -> Iterator[Item]:
    """Decode the JSON of rows in order; damaged ones are left out and added to `damaged`, where it is given."""
    decoder = msgspec.json.Decoder(kind)
    for position, text in enumerate(texts):
        try:
            yield decoder.decode(text)
        except msgspec.MsgspecError as fault:
            damage = DamagedRow(f"{table} {run_id} {position}", "case" if table == "run_cases" else "row", fault)
            if damaged is None:
                raise damage from None
            damaged.append(str(damage))
