"""One call to a model judge: at most one repair call, every failure an outcome, and only what no call can escape is raised."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from areopage.cases.records import Case
from areopage.criteria.prompts import answer_schema, judge_prompt
from areopage.criteria.records import Criterion
from areopage.errors import CallError, CallRejected, CallTimedOut, CallUnreachable
from areopage.jury.judges import CallContext, Judge, JudgeBackend, PlannedCall
from areopage.jury.model_judge import MAX_SHOWN_BACK, ModelJudge
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.ledger.tables.records import Judgment
from areopage.models.port import Completion, LanguageModel, Message, ModelStatus, Options, Schema
from areopage.models.reference import ModelReference
from areopage.scoring.outcome import NotApplicable, Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable

CONTEXT = CallContext(run_id="run", secret=b"s" * 32, personas={}, language="fr")
GOOD = Completion(text='{"score": 4, "explanation": "kind"}', prompt_tokens=100, completion_tokens=10, seconds=1.5)
PROSE = Completion(text="I would say four.", prompt_tokens=90, completion_tokens=5, seconds=0.5)


class ScriptedModel:
    """Answers with the next entry of its script, or raises it; notes every call."""

    def __init__(self, *script: Completion | CallError) -> None:
        self._script = list(script)
        self.asked: list[tuple[list[Message], Options, Schema | None, Case | None]] = []

    @property
    def reference(self) -> ModelReference:
        return ModelReference("fake", "m")

    @property
    def max_concurrency(self) -> int | None:
        return None

    async def check(self) -> ModelStatus:
        return ModelStatus()

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        self.asked.append((list(messages), options, schema, case))
        found = self._script.pop(0)
        if isinstance(found, CallError):
            raise found
        return found

    async def aclose(self) -> None:
        """Nothing to release."""


def scripted(*script: Completion | CallError) -> ScriptedModel:
    """A model, checked against the port by the type checker."""
    model = ScriptedModel(*script)
    _: LanguageModel = model
    return model


@pytest.fixture
def call(criterion: Criterion, case: Case, judge: Judge) -> PlannedCall:
    """The judge's second pass over the case."""
    return list(CallPlan(judge, [JudgedCase(case=case, criteria=(criterion,))], {}))[1]


def judged(call: PlannedCall, *script: Completion | CallError) -> tuple[Judgment, ScriptedModel]:
    model = scripted(*script)
    judge: JudgeBackend = ModelJudge(model)
    return asyncio.run(judge.judge(call, CONTEXT)).judgment(call, CONTEXT.run_id), model


def outcome_of(judgment: Judgment) -> Outcome:
    (verdict,) = judgment.verdicts
    assert verdict.criterion == "a.b.c__v1_0"
    return verdict.outcome


def test_a_good_answer_takes_one_call_and_is_recorded_whole(call: PlannedCall) -> None:
    judgment, model = judged(call, GOOD)
    assert outcome_of(judgment) == Scored(score=4, explanation="kind")
    assert (judgment.key, judgment.run_id, judgment.judge, judgment.model) == (call.key, "run", "one", "fake:m")
    assert (judgment.pass_index, judgment.raw_text, judgment.repair_text) == (2, GOOD.text, "")
    assert (judgment.prompt_tokens, judgment.completion_tokens, judgment.seconds) == (100, 10, 1.5)
    assert (judgment.repair, judgment.steps, judgment.finish_reason) == ("none", ("strict",), "stop")
    assert datetime.now(UTC) - judgment.created_at < timedelta(minutes=1)
    assert len(model.asked) == 1


def test_the_judge_is_asked_with_prompt_options_of_the_pass_and_schema(
    call: PlannedCall, criterion: Criterion, case: Case
) -> None:
    _, model = judged(call, GOOD)
    ((messages, options, schema, given),) = model.asked
    prompt = judge_prompt((criterion,), case, None, CONTEXT.secret)
    assert messages == [Message("system", prompt.system), Message("user", prompt.user, prompt.constant)]
    assert options == {"temperature": 0.2}
    assert (schema, given) == (answer_schema((criterion,)), None)


def test_an_answer_that_json_repair_mends_takes_no_second_call(call: PlannedCall) -> None:
    judgment, model = judged(call, Completion(text='{"score": 4, "explanation": "ki', finish_reason="length"))
    assert isinstance(outcome_of(judgment), Scored)
    assert (judgment.repair, len(model.asked), judgment.finish_reason) == ("heuristic", 1, "length")


def test_an_unreadable_answer_is_asked_about_once_more_and_both_are_kept(call: PlannedCall) -> None:
    judgment, model = judged(call, PROSE, GOOD)
    assert outcome_of(judgment) == Scored(score=4, explanation="kind")
    assert (judgment.raw_text, judgment.repair_text, judgment.repair) == (PROSE.text, GOOD.text, "model")
    assert judgment.steps == ("strict", "stripped", "repair_call", "strict")
    assert (judgment.prompt_tokens, judgment.completion_tokens, judgment.seconds) == (190, 15, 2.0)
    first, second = model.asked
    assert second[0][:2] == first[0]
    assert second[0][2] == Message("assistant", PROSE.text)
    assert "no JSON object in the answer" in second[0][3].content
    assert second[1:] == first[1:]


def test_there_is_never_a_third_call(call: PlannedCall) -> None:
    judgment, model = judged(call, PROSE, PROSE, GOOD)
    assert outcome_of(judgment) == Unparsed(reason="no JSON object in the answer")
    assert (len(model.asked), judgment.repair, judgment.repair_text) == (2, "none", PROSE.text)


def test_the_repair_request_speaks_the_criterions_language_and_quotes_without_formatting(
    call: PlannedCall, criterion: Criterion
) -> None:
    french = msgspec.structs.replace(call, criteria=(msgspec.structs.replace(criterion, language="fr"),))
    _, model = judged(french, Completion(text='{"score": "{x} %s {reason}"}'), GOOD)
    request = model.asked[1][0][3].content
    assert 'n’a pas pu être lue (the score is "{x} %s {reason}")' in request


def test_a_runaway_answer_is_not_sent_back_whole(call: PlannedCall) -> None:
    long = Completion(text="x" * 1_000_000)
    judgment, model = judged(call, long, GOOD)
    assert len(model.asked[1][0][2].content) == MAX_SHOWN_BACK
    assert judgment.raw_text == long.text


def test_unknown_token_counts_stay_unknown(call: PlannedCall) -> None:
    judgment, _ = judged(call, PROSE, Completion(text=GOOD.text))
    assert (judgment.prompt_tokens, judgment.completion_tokens) == (None, None)


def test_a_judge_that_was_shown_half_the_prompt_has_not_judged_and_is_not_asked_again(call: PlannedCall) -> None:
    judgment, model = judged(call, msgspec.structs.replace(GOOD, prompt_cut=True))
    assert outcome_of(judgment) == Unparsed(
        reason="the server cut the prompt: raise the server's context length or shorten the case"
    )
    assert (judgment.steps, len(model.asked), judgment.raw_text) == (("prompt_cut",), 1, GOOD.text)


def test_a_cut_prompt_of_the_repair_call_is_no_verdict_either(call: PlannedCall) -> None:
    judgment, _ = judged(call, PROSE, msgspec.structs.replace(GOOD, prompt_cut=True))
    assert outcome_of(judgment) == Unparsed(
        reason="the server cut the prompt: raise the server's context length or shorten the case"
    )


def test_a_judge_that_declines_is_not_asked_again(call: PlannedCall) -> None:
    judgment, model = judged(call, Completion(text="I'm sorry, I can't."))
    assert outcome_of(judgment) == Refused(reason="the judge declines")
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (CallTimedOut("no answer in 5 s"), TimedOut(reason="no answer in 5 s")),
        (CallUnreachable("503"), Unreachable(reason="503")),
        (CallUnreachable("429", retry_after=3.0), Unreachable(reason="429")),
        (CallRejected("too long", status=400), Refused(reason="too long")),
        (CallRejected("too long", status=413), Refused(reason="too long")),
        (CallRejected("nothing to measure"), Refused(reason="nothing to measure")),
    ],
)
def test_a_failed_call_is_an_outcome_and_no_number(call: PlannedCall, fault: CallError, expected: Outcome) -> None:
    judgment, model = judged(call, fault)
    assert outcome_of(judgment) == expected
    assert (judgment.raw_text, judgment.seconds, judgment.steps, len(model.asked)) == ("", 0.0, (), 1)


@pytest.mark.parametrize(
    "fault",
    [
        CallUnreachable("connection refused", unconnected=True),
        CallRejected("no key", status=401),
        CallRejected("forbidden", status=403),
        CallRejected("no such model", status=404),
    ],
)
def test_what_no_further_call_can_escape_is_raised(call: PlannedCall, fault: CallError) -> None:
    with pytest.raises(type(fault)) as caught:
        judged(call, fault)
    assert caught.value is fault


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (CallTimedOut("late"), TimedOut),
        (CallUnreachable("502"), Unreachable),
        (CallUnreachable("connection refused", unconnected=True), Unreachable),
        (CallRejected("too long", status=400), Unparsed),
        (CallRejected("no key", status=401), Unparsed),
    ],
)
def test_a_repair_call_that_fails_keeps_the_first_answer_and_stays_open_where_another_try_may_help(
    call: PlannedCall, fault: CallError, kind: type[Outcome]
) -> None:
    judgment, _ = judged(call, PROSE, fault)
    outcome = outcome_of(judgment)
    assert type(outcome) is kind
    assert not isinstance(outcome, Scored | NotApplicable)
    assert outcome.reason == f"no JSON object in the answer; the repair call failed: {fault}"
    assert (judgment.raw_text, judgment.repair_text, judgment.prompt_tokens) == (PROSE.text, "", 90)
    assert judgment.steps[-1] == "repair_call_failed"


def test_a_verdict_that_the_server_sent_as_reasoning_is_none_and_its_parser_is_named(call: PlannedCall) -> None:
    apart = Completion(text="", reasoning=GOOD.text)
    judgment, model = judged(call, apart, apart)
    reason = (
        "empty answer: the server sent the whole text as reasoning; correct its reasoning parser for this model, or switch it off"
    )
    assert (outcome_of(judgment), len(model.asked)) == (Unparsed(reason=reason), 2)
    judgment, _ = judged(call, Completion(text="", reasoning="Hm", finish_reason="length"), GOOD)
    assert outcome_of(judgment) == Scored(score=4.0, explanation="kind")
