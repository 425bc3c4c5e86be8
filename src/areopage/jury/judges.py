"""Judges: who they are, what a call to one holds, and what comes back.

A judge is a model (`jury.model_judge`), code (`jury.code_judge`) or a recording (`jury.replay_judge`). All implement
`JudgeBackend`: they take a planned call and return one outcome for each of its criteria.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, Self

from msgspec import Struct, field
from msgspec.structs import replace

from areopage.cases import Case, Persona
from areopage.criteria import HARDENED, WHOLE, Criterion, Hardening
from areopage.digest import digest_of
from areopage.ledger import Judgment, Repair, Verdict
from areopage.models import ModelReference, ModelStatus, Price, RecordedOrigin
from areopage.scoring import Outcome, Refused

JudgeKind = Literal["model", "code", "recording"]
PROMPT_CUT = "prompt_cut"
"""The step of a judgment whose prompt the judge did not see whole."""

ScoringMethod = Literal["sampled", "expected"]
"""`sampled`: the score that the judge writes; `expected`: its expectation from the log-probabilities at its place."""


class Judge(Struct, frozen=True, kw_only=True):
    """A member of the jury.

    Args:
        name: its name in the configuration; unique in a jury.
        reference: the model, the rules or the recording that judges.
        pass_options: the options of each pass, the judge's own laid under the pass's.
        criteria: ids, paths, sub-categories or categories that it may judge; empty: all.
        kind: by its provider, until the judge was checked.
        digest: identifies the model's weights, where the server tells it, or the code and its parameters.
        unfit: why it is unfit to judge; "" where nothing is known.
        recorded_model: the model whose answers it repeats, where it is a recording that says so.
        price: what its tokens cost, if stated.
        method: how a model's answer becomes a score.
    """

    name: str
    reference: ModelReference
    pass_options: tuple[dict[str, Any], ...] = field(name="passes")
    criteria: tuple[str, ...] = ()
    kind: JudgeKind = "model"
    digest: str = ""
    unfit: str = ""
    recorded_model: str = ""
    price: Price | None = None
    method: ScoringMethod = "sampled"

    @property
    def passes(self) -> int:
        """How often the judge is asked about each criterion of a case."""
        return len(self.pass_options)

    def first(self, passes: int | None) -> Self:
        """The judge with its first passes alone; None: with all."""
        return replace(self, pass_options=self.pass_options[:passes])

    @property
    def is_model(self) -> bool:
        """Whether a model is asked; code and recordings spend no tokens, and always refuse what they refused once."""
        return self.kind == "model"

    def may_judge(self, criterion: Criterion) -> bool:
        """Whether this judge is asked about a criterion."""
        return criterion.is_among(self.criteria)

    def copied_passes(self) -> tuple[tuple[int, ...], ...]:
        """The passes of a model that repeat each other, by their numbers from 1: equal options at temperature 0.

        A later one is nearly always a copy of the first. It costs a call and says nothing of how far a judge repeats itself, so
        that it is left out of a plan unless the user asks for it. Passes whose options differ in anything, a seed included, are
        different calls.
        """
        groups: dict[str, list[int]] = {}
        for number, options in enumerate(self.pass_options, 1):
            temperature = options.get("temperature")
            is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
            if self.is_model and is_number and temperature == 0:
                groups.setdefault(digest_of({**options, "temperature": 0}), []).append(number)
        return tuple(tuple(numbers) for numbers in groups.values() if len(numbers) > 1)

    def asked_once(self) -> Self:
        """The judge without the passes that repeat another one; the passes that are left are numbered anew."""
        copies = {number for _, *later in self.copied_passes() for number in later}
        kept = tuple(options for number, options in enumerate(self.pass_options, 1) if number not in copies)
        return replace(self, pass_options=kept) if copies else self

    def is_final(self, judgment: Judgment) -> bool:
        """Whether a stored judgment of this judge is final, so that the judge is not called again."""
        # a prompt that was too long and not answered is free, and another window may hold it
        was_too_long = PROMPT_CUT in judgment.steps and not judgment.raw_text
        return not judgment.is_open and not self.was_turned_away(judgment) and not was_too_long

    def was_turned_away(self, judgment: Judgment) -> bool:
        """Whether the server rejected the call before the model. Such a call is free and may succeed later."""
        is_refused = any(isinstance(verdict.outcome, Refused) for verdict in judgment.verdicts)
        return self.is_model and not judgment.raw_text and is_refused


class JudgeStatus(ModelStatus, frozen=True, kw_only=True):
    """What a check of a judge found.

    Args:
        kind: code gives the same outcomes each time, so one pass is enough.
        criteria: what it may judge, as paths or ids; empty: anything.
        recorded: for a recording, the criteria that each judge by name was asked about.
        passes: for a recording, how often each judge by name was asked, if that is bounded.
        origins: for a recording, whose answers each judge by name repeats; under "" those of a judge that it does not name.
    """

    kind: JudgeKind = "model"
    criteria: tuple[str, ...] = ()
    recorded: Mapping[str, tuple[str, ...]] = {}
    passes: Mapping[str, int] = {}
    origins: Mapping[str, RecordedOrigin] = {}


class PlannedCall(Struct, frozen=True, kw_only=True):
    """One call to one judge about one or more criteria of one scope; `plan` makes it. `pass_index` counts from 1.

    `turn` is the number of the reply that is judged, where criteria are judged on each reply: then `case` ends with it.
    `hardening` is complete in all calls but those of an audit.
    """

    key: str
    case: Case
    criteria: tuple[Criterion, ...]
    judge: Judge
    pass_index: int
    turn: int = WHOLE
    hardening: Hardening = HARDENED

    @property
    def options(self) -> dict[str, Any]:
        """The options of this pass."""
        return self.judge.pass_options[self.pass_index - 1]

    def without_answer(self, outcome: Outcome) -> "CallResult":
        """The result of a call that brought no answer: the same outcome for every criterion."""
        return CallResult(outcomes={criterion.id: outcome for criterion in self.criteria})


class CallContext(Struct, frozen=True, kw_only=True):
    """What all calls of a run share. `secret` is the ledger's, `personas` are the readers by maturity."""

    run_id: str
    secret: bytes
    personas: Mapping[str, Persona]
    language: str


class CallResult(Struct, frozen=True, kw_only=True):
    """What one call to a judge brought: an outcome for each criterion, by id. Other fields are as in `Judgment`.

    `cost` is that of the judge's price; None: that of its tokens. `raw_text` is "" for judges that are code: their outcomes are
    not read from a text.
    """

    outcomes: dict[str, Outcome]
    raw_text: str = ""
    repair_text: str = ""
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    repair: Repair = "none"
    steps: tuple[str, ...] = ()
    cost: float | None = None

    def judgment(self, call: PlannedCall, run_id: str) -> Judgment:
        """The ledger's record of a call."""
        price, cost = call.judge.price, None
        if price is not None:
            cost = price.of(self.prompt_tokens, self.completion_tokens) if self.cost is None else self.cost
        return Judgment(
            key=call.key,
            run_id=run_id,
            judge=call.judge.name,
            model=str(call.judge.reference),
            pass_index=call.pass_index,
            turn=call.turn,
            raw_text=self.raw_text,
            repair_text=self.repair_text,
            finish_reason=self.finish_reason,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            seconds=self.seconds,
            repair=self.repair,
            steps=self.steps,
            calls=2 if self.repair_text else 1,
            cost=cost,
            currency=price.currency if price else "",
            created_at=datetime.now(UTC),
            verdicts=tuple(Verdict(criterion=name, outcome=outcome) for name, outcome in self.outcomes.items()),
        )


class JudgeBackend(Protocol):
    """A judge that can be asked. One instance serves many concurrent calls up to `max_concurrency`."""

    @property
    def reference(self) -> ModelReference:
        """The user's name for it."""
        ...

    @property
    def max_concurrency(self) -> int | None:
        """How many calls it can take at once; None where the caller decides."""
        ...

    async def check(self) -> JudgeStatus:
        """Make sure that the judge can be asked."""
        ...

    async def judge(self, call: PlannedCall, context: CallContext) -> CallResult:
        """Carry one planned call out; a call that fails is an outcome."""
        ...

    async def aclose(self) -> None:
        """Release connections and memory."""
        ...
