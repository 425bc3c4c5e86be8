"""Estimate the calls, tokens and model loads of a run."""

from collections.abc import Sequence

from msgspec import Struct

from areopage.bench.spec import RunCase, RunSpec
from areopage.criteria.prompts import judge_prompt
from areopage.models.port import CHARACTERS_PER_TOKEN

ASSUMED_RESPONSE_CHARACTERS = 800
ASSUMED_VERDICT_TOKENS = 120
ASSUMED_SYSTEM_CHARACTERS = 400
SAMPLE = 40


class Estimate(Struct, frozen=True, kw_only=True):
    """The size of a run.

    Tokens are approximate: four characters each. Responses that do not exist yet count as 200 tokens.

    `loads` is how many times a server has to bring a model into memory when the phases run one after another.
    """

    cases: int
    criteria: int
    answer_calls: int
    judge_calls: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    loads: int

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.answer_calls + sum(self.judge_calls.values())


def estimate(spec: RunSpec, cases: Sequence[RunCase]) -> Estimate:
    """Estimate a run's size; judges' prompts are rendered for a sample of cases."""
    criteria = spec.criteria_by_id()
    answer_calls = sum(item.case.response is None for item in cases) if spec.target else 0
    judge_calls = {
        judge.name: len(judge.passes) * sum(judge.may_judge(criteria[key]) for item in cases for key in item.criteria)
        for judge in spec.judges
    }
    model_calls = sum(judge_calls[judge.name] for judge in spec.judges if judge.is_model)
    asked = sum(len(item.case.prompt_text) + ASSUMED_SYSTEM_CHARACTERS for item in cases if item.case.response is None)
    characters = (asked if spec.target else 0) + model_calls * _mean_prompt_length(spec, cases)
    loaded = [judge.reference for judge in spec.judges if judge.is_model]
    if answer_calls and spec.target is not None:
        loaded.insert(0, spec.target.reference)
    return Estimate(
        cases=len(cases),
        criteria=len(spec.criteria),
        answer_calls=answer_calls,
        judge_calls=judge_calls,
        prompt_tokens=int(characters / CHARACTERS_PER_TOKEN),
        completion_tokens=int(
            answer_calls * ASSUMED_RESPONSE_CHARACTERS / CHARACTERS_PER_TOKEN + model_calls * ASSUMED_VERDICT_TOKENS
        ),
        loads=sum(1 for position, one in enumerate(loaded) if position == 0 or one != loaded[position - 1]),
    )


def _mean_prompt_length(spec: RunSpec, cases: Sequence[RunCase]) -> float:
    """Mean length of a judge's prompt, in characters."""
    criteria = spec.criteria_by_id()
    step = max(1, len(cases) // SAMPLE)
    lengths: list[int] = []
    for item in cases[::step]:
        for key in item.criteria:
            prompt = judge_prompt((criteria[key],), item.case, spec.personas.get(item.case.maturity), b"")
            missing = ASSUMED_RESPONSE_CHARACTERS if item.case.response is None else 0
            lengths.append(len(prompt.system) + len(prompt.user) + missing)
    return sum(lengths) / len(lengths) if lengths else 0.0
