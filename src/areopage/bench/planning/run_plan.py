"""The plan of a run before anything is paid: calls, tokens, prefixes, time and money by model, and the cases that are too long.

Every prompt is measured, see `areopage.criteria.prompt_sizes`. Earlier calls of the ledger tell how many bytes a token has, how
long answers are and how long a call takes; what they do not tell is assumed, and the plan says so.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, structs

from areopage.bench.conversations.turns import most_child_calls, most_turns
from areopage.bench.keys import answer_calls, given_in
from areopage.bench.planning.run_size import RunSize, run_size
from areopage.bench.spec import RunCase, RunSpec, Target
from areopage.criteria import WHOLE, PromptSizer, turns_to_judge
from areopage.jury import VERDICT_TOKENS, Fitting, Judge
from areopage.ledger import REPLIED, Ledger, Pace
from areopage.models import CHARACTERS_PER_TOKEN, Gauge, Options, Price, costs_of
from areopage.text import byte_length

LongKind = Literal["not_sent", "cut", "may_not_fit"]
"""`not_sent`: the prompt is too long, and the run says so in place of a call. `cut`: documents at the end are not shown.
`may_not_fit`: the prompt is sent, and the server may refuse it."""


class ModelPlan(Struct, frozen=True, kw_only=True):
    """What is asked of one judge, the target or the model that plays children.

    Args:
        name: of the judge, or the model's reference.
        prefixes: the distinct texts that its prompts begin with, which a server can keep between calls; 0 where not known.
        gauge: of its tokens and its window.
        pace: of its earlier calls; None without any.
        seconds: of all its calls, as many at once as the run makes; None without earlier calls.
        cost: in the currency of its price; None without a price.
    """

    name: str
    model: str
    calls: int
    prompt_tokens: int
    answer_tokens: int
    prefixes: int = 0
    gauge: Gauge = Gauge()
    pace: Pace | None = None
    seconds: float | None = None
    price: Price | None = None

    @property
    def cost(self) -> float | None:
        """What the calls cost."""
        return None if self.price is None else self.price.of(self.prompt_tokens, self.answer_tokens)


class LongCases(Struct, frozen=True, kw_only=True):
    """The cases that are too long for one model.

    Args:
        name: as in `ModelPlan`.
        cases: their ids, in the run's order; `prompts` is how many prompts that concerns in one pass.
        longest: about how many tokens the longest of these prompts has, before documents are cut; of prompts that may not fit,
            how many it may have.
        window: of the model, in tokens.
    """

    name: str
    kind: LongKind
    cases: tuple[str, ...]
    prompts: int
    longest: int
    window: int


class RunPlan(Struct, frozen=True, kw_only=True):
    """The plan of one run.

    Args:
        size: the number of calls and model loads.
        models: the target first, then the judges that are models.
        least: where passes are adaptive, the plan of a run that adds none to the first ones; this one is then what the run takes
            at most.
    """

    size: RunSize
    models: tuple[ModelPlan, ...]
    long: tuple[LongCases, ...]
    least: "RunPlan | None" = None

    @property
    def costs(self) -> dict[str, float]:
        """What it costs, by currency."""
        return costs_of((model.price, model.prompt_tokens, model.answer_tokens) for model in self.models)

    @property
    def prompt_tokens(self) -> int:
        """The tokens of all prompts."""
        return sum(model.prompt_tokens for model in self.models)

    @property
    def answer_tokens(self) -> int:
        """The tokens of all answers."""
        return sum(model.answer_tokens for model in self.models)

    @property
    def seconds(self) -> float | None:
        """How long it takes; None where that is not known of a model that is asked."""
        times = [model.seconds for model in self.models if model.calls]
        return None if None in times else sum(seconds or 0.0 for seconds in times)


def plan_run(spec: RunSpec, cases: Sequence[RunCase], ledger: Ledger | None = None) -> RunPlan:
    """Plan a run; no model is asked."""
    if spec.adaptive is None:
        return _plan(spec, cases, ledger, None)
    start, calls, cost = spec.adaptive.start, spec.adaptive.calls, spec.adaptive.cost
    first = tuple(judge.first(start) for judge in spec.judges)
    most = _plan(spec, cases, ledger, calls)
    if cost is not None and (total := sum(judge_costs(most, spec).values())) > cost:
        most = _plan(spec, cases, ledger, int(sum(most.size.judge_calls.values()) * cost / total))
    return structs.replace(most, least=_plan(structs.replace(spec, judges=first, adaptive=None), cases, ledger, None))


def judge_costs(plan: RunPlan, spec: RunSpec) -> dict[str, float]:
    """What the judges cost, by currency."""
    names = {judge.name for judge in spec.judges}
    judges = [model for model in plan.models if model.name in names]
    return costs_of((model.price, model.prompt_tokens, model.answer_tokens) for model in judges)


def _plan(spec: RunSpec, cases: Sequence[RunCase], ledger: Ledger | None, most_calls: int | None) -> RunPlan:
    """Plan a run in which every judge makes all of its passes, as far as a limit of judge calls allows."""
    reused = reused_cases(spec, cases, ledger)
    size, sizer = run_size(spec, cases, reused).with_judge_calls(most_calls), PromptSizer(spec.personas)
    models, long = _target_plans(spec, [item for item in cases if item.case.id not in reused], ledger, size)
    for judge in spec.judges:
        if judge.is_model:
            prompts = _Prompts(spec, judge, sizer, cases)
            models.append(_judge_plan(spec, judge, prompts, ledger, size.judge_calls[judge.name]))
            long += prompts.too_long.by_kind()
    return RunPlan(size=size, models=tuple(models), long=tuple(long))


def reused_cases(spec: RunSpec, cases: Sequence[RunCase], ledger: Ledger | None) -> frozenset[str]:
    """The ids of the cases for which a run takes an answer of the ledger; conversations are not counted."""
    if not spec.reuse_answers or ledger is None:
        return frozenset()
    calls = {call.case.id: call.key for call in answer_calls(spec, cases) if call.case.child is None}
    answered = {
        key
        for key, answer in ledger.answers.by_key(list(calls.values())).items()
        if answer.state in REPLIED and not answer.erased
    }
    return frozenset(id for id, key in calls.items() if key in answered)


def _target_plans(
    spec: RunSpec, cases: Sequence[RunCase], ledger: Ledger | None, size: RunSize
) -> tuple[list[ModelPlan], list[LongCases]]:
    """The target, and the model that plays children."""
    target = spec.target
    if target is None or not size.answer_calls:
        return [], []
    gauge = spec.gauges.get(str(target.reference), Gauge())
    too_long = _TooLong(str(target.reference), gauge, ASSUMED_ANSWER_TOKENS)
    total = characters = 0
    for call in answer_calls(spec, cases):
        bytes_of = sum(byte_length(message.content) for message in call.messages)
        too_long.look_at(call.case.id, bytes_of, target.options)
        characters += most_child_calls(call.case, spec) * (len(call.case.prompt_text) + ASSUMED_CHILD_PROMPT)
        turns = most_turns(call.case, spec)
        total += bytes_of * turns + sum(added_characters(turn) for turn in range(1, turns))
    models = [_model_plan(spec, target, ledger, size.answer_calls, gauge.tokens(total), ASSUMED_ANSWER_TOKENS)]
    if spec.child is not None and size.child_calls:
        tokens = int(characters / CHARACTERS_PER_TOKEN)
        models.append(_model_plan(spec, spec.child, ledger, size.child_calls, tokens, ASSUMED_TURN_TOKENS))
    return models, too_long.by_kind()


def _judge_plan(spec: RunSpec, judge: Judge, prompts: "_Prompts", ledger: Ledger | None, calls: int) -> ModelPlan:
    tokens = prompts.gauge.tokens(round(prompts.total / max(1, prompts.prompts) * calls))
    verdicts = prompts.verdicts / max(1, prompts.prompts)
    plan = _model_plan(spec, judge, ledger, calls, tokens, VERDICT_TOKENS * verdicts)
    return structs.replace(plan, name=judge.name, prefixes=len(prompts.prefixes), price=spec.price_of(judge))


def _model_plan(
    spec: RunSpec, asked: Target | Judge, ledger: Ledger | None, calls: int, prompt_tokens: int, answer_tokens: float
) -> ModelPlan:
    """What is asked of a model, by what earlier calls tell of it.

    Args:
        prompt_tokens: of all calls.
        answer_tokens: of one call, where earlier ones do not tell.
    """
    model = str(asked.reference)
    pace = ledger.spending.pace_of(model, judges_first=isinstance(asked, Judge)) if ledger is not None else None
    each = pace.answer_tokens if pace is not None and pace.answer_tokens else answer_tokens
    at_once = 1 if asked.reference.provider == "embedded" else spec.concurrency
    return ModelPlan(
        name=model,
        model=model,
        calls=calls,
        prompt_tokens=prompt_tokens,
        answer_tokens=round(calls * each),
        gauge=spec.gauges.get(model, Gauge()),
        pace=pace,
        seconds=calls * pace.seconds / min(at_once, max(1, calls)) if pace is not None else None,
        price=asked.price,
    )


ASSUMED_RESPONSE_CHARACTERS = 800
ASSUMED_TURN_CHARACTERS = 200
ASSUMED_CHILD_PROMPT = 4_000
ASSUMED_ANSWER_TOKENS = int(ASSUMED_RESPONSE_CHARACTERS / CHARACTERS_PER_TOKEN)
ASSUMED_TURN_TOKENS = 50


def added_characters(turns: int) -> int:
    """What the turns of a conversation add to its first prompt, the last reply included."""
    return turns * ASSUMED_RESPONSE_CHARACTERS + (turns - 1) * ASSUMED_TURN_CHARACTERS


class _TooLong:
    """Collects the cases that are too long for one model."""

    def __init__(self, name: str, gauge: Gauge, room: int) -> None:
        self._name, self._gauge, self._room = name, gauge, room
        self._prompts: dict[LongKind, list[tuple[str, int, int]]] = {"not_sent": [], "cut": [], "may_not_fit": []}
        """The prompts that are too long: the case, about how many tokens, and the window."""

    def look_at(self, case_id: str, size: int, options: Options, to_come: int = 0) -> None:
        """Args:
        size: of what the prompt has, in bytes.
        to_come: about how many bytes the target's response will add.
        """
        if self._gauge.refusal(size, options):
            self.note("not_sent", case_id, size, options)
        elif self._gauge.refusal(size + to_come, options) or self._gauge.may_not_fit(size + to_come, options, self._room):
            self.note("may_not_fit", case_id, size + to_come, options)

    def note(self, kind: LongKind, case_id: str, size: int, options: Options) -> None:
        tokens = self._gauge.most_tokens(size) if kind == "may_not_fit" else self._gauge.tokens(size)
        self._prompts[kind].append((case_id, tokens, self._gauge.window(options) or 0))

    def by_kind(self) -> list[LongCases]:
        """The cases that are too long, those that are not sent first."""
        return [
            LongCases(
                name=self._name,
                kind=kind,
                cases=tuple(dict.fromkeys(case_id for case_id, _, _ in prompts)),
                prompts=len(prompts),
                longest=max(0, *(tokens for _, tokens, _ in prompts)),
                window=prompts[-1][2],
            )
            for kind, prompts in self._prompts.items()
            if prompts
        ]


class _Prompts:
    """The prompts of one pass of a judge.

    `total` is their bytes, `prompts` how many there are, `verdicts` what they ask for, `prefixes` what they begin with.
    """

    def __init__(self, spec: RunSpec, judge: Judge, sizer: PromptSizer, cases: Sequence[RunCase]) -> None:
        self._spec, self._sizer = spec, sizer
        self.gauge = spec.gauges.get(str(judge.reference), Gauge())
        self._fitting = Fitting(judge, self.gauge, spec.personas, sizer)
        self._tightest = min(judge.pass_options, key=lambda options: self.gauge.window(options) or 1 << 40, default={})
        self.too_long = _TooLong(judge.name, self.gauge, VERDICT_TOKENS)
        self._groups_about = spec.call_groups(judge)
        self.total = self.prompts = self.verdicts = 0
        self.prefixes: set[str] = set()
        for item in cases:
            self._measure(item)

    def _measure(self, item: RunCase) -> None:
        groups = self._groups_about(item)
        if not groups:
            return
        case = item.case
        criteria = [criterion for group in groups for criterion in group]
        fitted = self._fitting.fitted(case, criteria, joint=self._spec.joint)
        if fitted is not case:
            whole = max(self._sizer.size(group, case) for group in groups)
            self.too_long.note("cut", case.id, whole, self._tightest)
        missing = added_characters(most_turns(case, self._spec)) if case.response is None else 0
        parts: dict[tuple[str, str, int], int] = {}
        for group in groups:
            constant = self._sizer.constant(group, case.maturity)
            self.prefixes.add(constant.prefix)
            for turn in turns_to_judge(group[0].scope, fitted, given_in(item)):
                is_whole = turn == WHOLE or fitted.response is None
                shown = fitted if is_whole else fitted.at(turn)
                part = (group[0].scope, group[0].language, turn)
                if part not in parts:
                    parts[part] = self._sizer.case_size(shown, group[0])
                size = constant.size + parts[part]
                self.too_long.look_at(case.id, size, self._tightest, missing)
                self.total += size + missing
                self.prompts += 1
                self.verdicts += len(group)
