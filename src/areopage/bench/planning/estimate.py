"""Estimate the calls, tokens and model loads of a run."""

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct, structs

from areopage.bench.conversations.turns import most_child_calls, most_turns
from areopage.bench.execution.context import AskedModels
from areopage.bench.planning.joint_calls import calls_of_a_pass
from areopage.bench.results.coverage import JudgedTurns, selected_judgments
from areopage.bench.spec import RunCase, RunSpec
from areopage.cases import Case
from areopage.criteria import judge_prompt
from areopage.jury import VERDICT_TOKENS, by_scope, sampled
from areopage.models import CHARACTERS_PER_TOKEN, ModelReference, ModelSettings, Price, costs_of, may_cost

ASSUMED_RESPONSE_CHARACTERS = 800
ASSUMED_TURN_CHARACTERS = 200
ASSUMED_CHILD_PROMPT = 4_000
ASSUMED_SYSTEM_CHARACTERS = 400
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Estimate(Struct, frozen=True, kw_only=True):
    """The size of a run.

    Tokens are approximate: four characters each. Responses that do not exist yet count as 200 tokens.

    `costs` are those of the models with a configured price, by currency; a run spends less where the ledger has judgments.

    Of conversations every turn counts, and each text of the child's model twice, as if none could be used: a run makes fewer
    calls where conversations end early.

    `loads` is how many times a server that holds few models at once has to bring one into memory, `answer_loads` those of the
    target and of the model that plays children.
    `child_prompt_tokens` are those of the model that plays children. `ruled_out` are the pairs of case and criterion that rules
    take from the judges, which saves `saved_calls`.

    `joint_saved` is how many calls joint judging saves, against one call for each criterion.

    `judge_costs` are the judges' part of `costs`. Where passes are adaptive all of this is what the run takes at most; `least` is
    what it takes if no pass is added to the first ones.
    """

    cases: int
    criteria: int
    answer_calls: int
    child_calls: int = 0
    conversations: int = 0
    judge_calls: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    loads: int
    answer_loads: int = 0
    child_prompt_tokens: int = 0
    costs: dict[str, float] = {}
    ruled_out: int = 0
    saved_calls: int = 0
    joint_saved: int = 0
    judge_costs: dict[str, float] = {}
    least: "Estimate | None" = None

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.answer_calls + self.child_calls + sum(self.judge_calls.values())


def estimate(spec: RunSpec, cases: Sequence[RunCase], reused: Collection[str] = ()) -> Estimate:
    """Estimate a run's size; judges' prompts are rendered for a sample of cases.

    Args:
        reused: the ids of the cases whose answers the ledger has.
    """
    if spec.adaptive is None:
        return _estimate(spec, cases, reused, None)
    start, bound, cost = spec.adaptive.start, spec.adaptive.calls, spec.adaptive.cost
    first = tuple(structs.replace(judge, pass_options=judge.pass_options[:start]) for judge in spec.judges)
    most = _estimate(spec, cases, reused, bound)
    if cost is not None and (total := sum(most.judge_costs.values())) > cost:
        most = _estimate(spec, cases, reused, int(sum(most.judge_calls.values()) * cost / total))
    return structs.replace(most, least=_estimate(structs.replace(spec, judges=first, adaptive=None), cases, reused, None))


def _estimate(spec: RunSpec, cases: Sequence[RunCase], reused: Collection[str], bound: int | None) -> Estimate:
    """Estimate a run in which every judge makes all of its passes, as far as a bound of judge calls allows."""
    criteria = spec.criteria_by_id()
    turns = JudgedTurns(cases)
    selected = selected_judgments(spec, cases, turns)
    put = [item.case for item in cases if item.case.response is None and item.case.id not in reused] if spec.target else []
    answer_calls = sum(most_turns(case, spec) for case in put)
    child_calls = sum(most_child_calls(case, spec) for case in put)
    verdicts = {
        judge.name: judge.passes * sum(count for key, count in selected.items() if judge.may_judge(criteria[key]))
        for judge in spec.judges
    }
    judge_calls = dict(verdicts)
    if spec.joint:
        a_pass = calls_of_a_pass(spec, cases, turns)
        judge_calls = {judge.name: judge.passes * a_pass[judge.name] for judge in spec.judges}
    joint_saved = sum(verdicts.values()) - sum(judge_calls.values())
    share = min(1.0, bound / max(1, sum(judge_calls.values()))) if bound is not None else 1.0
    judge_calls, verdicts = ({name: round(n * share) for name, n in one.items()} for one in (judge_calls, verdicts))
    model_calls, model_verdicts = (
        sum(one[judge.name] for judge in spec.judges if judge.is_model) for one in (judge_calls, verdicts)
    )
    asked = sum(_asked_characters(case, most_turns(case, spec)) for case in put)
    told = sum(most_child_calls(case, spec) * (len(case.prompt_text) + ASSUMED_CHILD_PROMPT) for case in put)
    prompts = _prompts(spec, sampled(cases))
    mean = sum(map(len, prompts)) / len(prompts) if prompts else 0.0
    characters = asked + told + model_calls * mean
    answered = answer_calls * ASSUMED_RESPONSE_CHARACTERS / CHARACTERS_PER_TOKEN
    written = child_calls * ASSUMED_TURN_CHARACTERS / CHARACTERS_PER_TOKEN
    answering, judging = _loaded(spec, answers=answer_calls > 0, turns=child_calls > 0)
    return Estimate(
        cases=len(cases),
        criteria=len(spec.criteria),
        answer_calls=answer_calls,
        child_calls=child_calls,
        conversations=sum(case.child is not None for case in put),
        judge_calls=judge_calls,
        prompt_tokens=int(characters / CHARACTERS_PER_TOKEN),
        completion_tokens=int(answered + written + model_verdicts * VERDICT_TOKENS),
        child_prompt_tokens=int(told / CHARACTERS_PER_TOKEN),
        costs=_costs(
            spec,
            (asked / CHARACTERS_PER_TOKEN, answered),
            (told / CHARACTERS_PER_TOKEN, written),
            judge_calls,
            verdicts,
            mean / CHARACTERS_PER_TOKEN,
        ),
        judge_costs=_judge_costs(spec, judge_calls, verdicts, mean / CHARACTERS_PER_TOKEN),
        loads=_changes([*answering, *judging]),
        answer_loads=_changes(answering),
        ruled_out=sum(len(item.ruled_out) for item in cases),
        saved_calls=sum(
            judge.passes * sum(judge.may_judge(criteria[key]) for item in cases for key in item.ruled_out)
            for judge in spec.judges
        ),
        joint_saved=joint_saved,
    )


def _loaded(spec: RunSpec, *, answers: bool, turns: bool) -> tuple[list[ModelReference], list[ModelReference]]:
    """The models that are brought into memory, in the order of the phases: those that answer, and the judges."""
    asked = [one for one, wanted in ((spec.target, answers), (spec.child, answers and turns)) if one is not None and wanted]
    every = ([one.reference for one in asked], [judge.reference for judge in spec.judges if judge.is_model])
    answering, judging = ([one for one in part if spec.settings.resident_models(one) is not None] for part in every)
    return answering, judging


def _changes(models: Sequence[ModelReference]) -> int:
    """How often another model follows, the first included."""
    return sum(position == 0 or one != models[position - 1] for position, one in enumerate(models))


def _judge_costs(
    spec: RunSpec, judge_calls: Mapping[str, int], verdicts: Mapping[str, int], prompt_tokens: float
) -> dict[str, float]:
    """What the judges with a price cost, by currency."""
    return _costs(structs.replace(spec, target=None, child=None), (0.0, 0.0), (0.0, 0.0), judge_calls, verdicts, prompt_tokens)


def _costs(
    spec: RunSpec,
    of_target: tuple[float, float],
    of_child: tuple[float, float],
    judge_calls: Mapping[str, int],
    verdicts: Mapping[str, int],
    prompt_tokens: float,
) -> dict[str, float]:
    """What the models with a price cost, by currency.

    Args:
        of_target, of_child: their tokens of prompts and of answers.
        verdicts: which the calls of each judge give.
        prompt_tokens: of one call to a judge, on average.
    """
    spent = [(one.price, *tokens) for one, tokens in ((spec.target, of_target), (spec.child, of_child)) if one is not None]
    for judge in spec.judges:
        calls = judge_calls[judge.name]
        spent.append((spec.price_of(judge), calls * prompt_tokens, verdicts[judge.name] * float(VERDICT_TOKENS)))
    return costs_of(spent)


def _prompts(spec: RunSpec, cases: Sequence[RunCase]) -> list[str]:
    """Judges' prompts about cases; a response that does not exist yet is filled up."""
    criteria = spec.criteria_by_id()
    prompts: list[str] = []
    for item in cases:
        asked = [criteria[key] for key in item.criteria]
        for group in by_scope(asked, item.case) if spec.joint else [(one,) for one in asked]:
            prompt = judge_prompt(group, item.case, spec.personas.get(item.case.maturity), b"")
            missing = "x" * (told_characters(most_turns(item.case, spec)) if item.case.response is None else 0)
            prompts.append(prompt.system + prompt.user + missing)
    return prompts


def told_characters(turns: int) -> int:
    """What the turns of a conversation add to its first prompt, the last reply included."""
    return turns * ASSUMED_RESPONSE_CHARACTERS + (turns - 1) * ASSUMED_TURN_CHARACTERS


def _asked_characters(case: Case, turns: int) -> int:
    """What the target reads in all turns: each call repeats the conversation so far."""
    before = sum(told_characters(turn) + ASSUMED_TURN_CHARACTERS for turn in range(1, turns))
    return turns * (len(case.prompt_text) + ASSUMED_SYSTEM_CHARACTERS) + before


def paid_models(spec: AskedModels, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The target and the judges that cost money: they have a price, or a key is sent to a server on another machine."""
    asked = [(str(one.reference), one.reference, one.price) for one in (spec.target, spec.child) if one is not None]
    asked += [(judge.name, judge.reference, judge.price) for judge in spec.judges]
    settings = structs.replace(spec.settings, environment=environment)
    return tuple(name for name, reference, price in asked if _has_price(price) or _needs_key(reference, settings))


def _has_price(price: Price | None) -> bool:
    return price is not None and not price.is_free and not price.listed  # a list price is that of a server that needs a key


def _needs_key(reference: ModelReference, settings: ModelSettings) -> bool:
    contact = settings.contact(reference) if may_cost(reference.provider) else None
    if contact is None or not contact.sent(settings.environment):
        return False
    return urlsplit(contact.address).hostname not in THIS_MACHINE
