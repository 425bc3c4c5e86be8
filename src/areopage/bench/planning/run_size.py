"""How many calls and model loads a run takes."""

from collections.abc import Collection, Sequence

from msgspec import Struct, structs

from areopage.bench.conversations.turns import most_child_calls, most_turns
from areopage.bench.results.coverage import JudgedTurns, selected_judgments
from areopage.bench.spec import RunCase, RunSpec
from areopage.jury import Judge
from areopage.models import ModelReference


class RunSize(Struct, frozen=True, kw_only=True):
    """The size of a run; it makes fewer calls where the ledger has judgments.

    Of conversations every turn counts, and each text of the child's model twice, as if none could be used: a run makes fewer
    calls where conversations end early. Where passes are adaptive, all passes of every judge count.

    Args:
        loads: how often a server that holds few models at once has to bring one into memory; `answer_loads` are those of the
            target and of the model that plays children.
        ruled_out: the pairs of case and criterion that rules take from the judges, which saves `saved_calls`.
        joint_saved: how many calls joint judging saves, against one call for each criterion.
    """

    cases: int
    criteria: int
    answer_calls: int
    child_calls: int = 0
    conversations: int = 0
    judge_calls: dict[str, int]
    loads: int
    answer_loads: int = 0
    ruled_out: int = 0
    saved_calls: int = 0
    joint_saved: int = 0

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.answer_calls + self.child_calls + sum(self.judge_calls.values())

    def with_judge_calls(self, most: int | None) -> "RunSize":
        """The size where the judges are asked that often at most; None: there is no limit."""
        total = sum(self.judge_calls.values())
        if most is None or most >= total:
            return self
        return structs.replace(self, judge_calls={name: round(calls * most / total) for name, calls in self.judge_calls.items()})


def run_size(spec: RunSpec, cases: Sequence[RunCase], reused: Collection[str] = ()) -> RunSize:
    """Count what a run takes.

    Args:
        reused: the ids of the cases whose answers the ledger has.
    """
    criteria, turns = spec.criteria_by_id(), JudgedTurns(cases)
    selected = selected_judgments(spec, cases, turns)
    asked = [item.case for item in cases if item.case.response is None and item.case.id not in reused] if spec.target else []
    answer_calls = sum(most_turns(case, spec) for case in asked)
    child_calls = sum(most_child_calls(case, spec) for case in asked)
    judge_calls = single_calls = {
        judge.name: judge.passes * sum(count for key, count in selected.items() if judge.may_judge(criteria[key]))
        for judge in spec.judges
    }
    if spec.joint:
        judge_calls = {judge.name: judge.passes * _calls_of_a_pass(spec, judge, cases, turns) for judge in spec.judges}
    answering, judging = _loaded(spec, answers=answer_calls > 0, turns=child_calls > 0)
    return RunSize(
        cases=len(cases),
        criteria=len(spec.criteria),
        answer_calls=answer_calls,
        child_calls=child_calls,
        conversations=sum(case.child is not None for case in asked),
        judge_calls=judge_calls,
        loads=_changes([*answering, *judging]),
        answer_loads=_changes(answering),
        ruled_out=sum(len(item.ruled_out) for item in cases),
        saved_calls=sum(
            judge.passes * sum(judge.may_judge(criteria[key]) for item in cases for key in item.ruled_out)
            for judge in spec.judges
        ),
        joint_saved=sum(single_calls.values()) - sum(judge_calls.values()),
    )


def _calls_of_a_pass(spec: RunSpec, judge: Judge, cases: Sequence[RunCase], turns: JudgedTurns) -> int:
    """How many calls one pass of a judge makes, identical cases not counted out."""
    groups_about = spec.call_groups(judge)
    return sum(len(turns.of(item.case.id, group[0])) for item in cases for group in groups_about(item))


def _loaded(spec: RunSpec, *, answers: bool, turns: bool) -> tuple[list[ModelReference], list[ModelReference]]:
    """The models that are brought into memory, in the order of the phases: those that answer, and the judges."""
    asked = [model for model, wanted in ((spec.target, answers), (spec.child, answers and turns)) if model is not None and wanted]
    every = ([model.reference for model in asked], [judge.reference for judge in spec.judges if judge.is_model])
    answering, judging = ([model for model in part if spec.settings.resident_models(model) is not None] for part in every)
    return answering, judging


def _changes(models: Sequence[ModelReference]) -> int:
    """How often another model follows, the first included."""
    return sum(position == 0 or model != models[position - 1] for position, model in enumerate(models))
