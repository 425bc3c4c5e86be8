"""How many judge calls joint judging and passes that are asked once save on the bundled suites.

    python benchmarks/fewer_calls.py

No model is asked: the plans are those of `bench run` with the suite's own judges, datasets and criteria. Responses that come with
the datasets are judged; where a suite asks a target, its answers are planned. One JSON line for each suite and language:

    one_by_one, joint       judge calls of the suite's own passes
    different_...           those of them with a key of their own: identical cases share a call
    prompt_tokens           of each way, planned as `bench run` does (four bytes a token)
    three_passes_at_0       judge calls of three equal passes at temperature 0, each asked, and asked once

A last line has the processor time of a score's expectation from an answer of 150 tokens with 20 alternatives each, beside that of
reading the answer (microseconds, the median of five rounds).
"""

import json
import statistics
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import PreparedRun, prepare_run
from areopage.bench.planning.run_plan import plan_run
from areopage.errors import UserError
from areopage.jury.expectations import EXPECTED, with_expected_scores
from areopage.jury.planning import JudgedCase
from areopage.jury.reader import read_answer
from areopage.models.port import Completion, TokenLogprob
from areopage.suites.loader import Suite, bundled_names, load_suite

TARGET = "ollama:any"


def prepared_run(suite: Suite, language: str, *, joint: bool) -> PreparedRun:
    """The plan of a run, with a stand-in for the target where cases have no response."""
    wishes = RunOptions(language=language, limit=-1, joint=joint)
    try:
        return prepare_run(suite, wishes)
    except UserError:
        return prepare_run(suite, msgspec.structs.replace(wishes, target=TARGET, answers="dataset"))


def different_calls(prepared: PreparedRun) -> int:
    """How many calls have a key of their own; a response that does not exist yet is taken for one that is like no other."""
    spec, criteria = prepared.spec, prepared.spec.criteria_by_id()
    judged = [
        JudgedCase(
            case=item.case
            if item.case.response is not None
            else msgspec.structs.replace(item.case, response=f"response to {item.case.id}"),
            criteria=tuple(criteria[id] for id in item.criteria),
        )
        for item in prepared.cases
    ]
    return len({call.key for call in spec.planned_calls(judged)})


def passes_at_0(prepared: PreparedRun, *, once: bool) -> int:
    """The judge calls of three passes at temperature 0 of each model."""
    judges = [
        msgspec.structs.replace(judge, pass_options=({**judge.pass_options[0], "temperature": 0},) * 3)
        if judge.is_model
        else judge
        for judge in prepared.spec.judges
    ]
    spec = msgspec.structs.replace(prepared.spec, judges=tuple(judge.asked_once() if once else judge for judge in judges))
    return sum(plan_run(spec, prepared.cases).size.judge_calls.values())


def measured(suite: Suite, language: str) -> Mapping[str, Any]:
    """The counts of one suite in one language."""
    single, joint = (prepared_run(suite, language, joint=joint) for joint in (False, True))
    plans = {"one_by_one": plan_run(single.spec, single.cases), "joint": plan_run(joint.spec, joint.cases)}
    calls = {name: sum(plan.size.judge_calls.values()) for name, plan in plans.items()}
    return {
        "suite": suite.name,
        "language": language,
        "cases": len(single.cases),
        "criteria": len(single.spec.criteria),
        "judges": len(single.spec.judges),
        "models": sum(judge.is_model for judge in single.spec.judges),
        **calls,
        "joint_share": round(calls["joint"] / calls["one_by_one"], 3),
        "prompt_tokens": {name: plan.prompt_tokens for name, plan in plans.items()},
        "different_one_by_one": different_calls(single),
        "different_joint": different_calls(joint),
        "three_passes_at_0": {"each": passes_at_0(single, once=False), "once": passes_at_0(single, once=True)},
    }


def expectation_time(calls: int = 500, rounds: int = 5) -> Mapping[str, Any]:
    """The processor time of reading an answer, and of the expectation of its score on top."""
    criterion = prepared_run(load_suite("answer_quality"), "en", joint=False).spec.criteria[0]
    words = [f" word{number}" for number in range(140)]
    parts = ['{"', "explanation", '":', ' "', *words, '",', ' "', "score", '":', " ", "7", ", ", '"evidence_extracts": []', "}"]
    tokens = tuple(TokenLogprob(part, -0.1, tuple((str(one), -3.0 - one) for one in range(20))) for part in parts)
    completion = Completion(text="".join(parts), logprobs=tokens)
    times: dict[str, list[float]] = {"read": [], "expected": []}
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            reading = read_answer(completion.text, "stop", [criterion], "What the judge was shown. " * 40)
        middle = time.process_time()
        for _ in range(calls):
            found = with_expected_scores(reading, completion, [criterion])
        times["read"].append(middle - start)
        times["expected"].append(time.process_time() - middle)
    assert EXPECTED in found.steps
    return {f"{name}_us": round(statistics.median(one) / calls * 1e6, 1) for name, one in times.items()}


def main() -> None:
    """Print the counts of all bundled suites, and the time of an expectation."""
    for name in bundled_names():
        suite = load_suite(name)
        for language in suite.config.languages:
            if suite.datasets(language):
                print(json.dumps(measured(suite, language)), flush=True)
    print(json.dumps(expectation_time()))


if __name__ == "__main__":
    main()
