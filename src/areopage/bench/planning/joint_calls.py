"""Joint judging in a run: one call asks a model about all criteria of a scope, and how many calls that saves."""

from collections.abc import Iterator, Sequence

from areopage.bench.results.coverage import JudgedTurns
from areopage.bench.spec import RunCase, RunSpec
from areopage.criteria import Criterion
from areopage.errors import ConfigError
from areopage.jury import groups_of
from areopage.locales import Note
from areopage.suites import Suite


def joint_remarks(suite: Suite, spec: RunSpec) -> Iterator[Note]:
    """A remark on models that are asked about several criteria in one call."""
    if not spec.joint:
        return
    if spec.adaptive is not None:
        message = "adaptive passes are added criterion by criterion: set joint to false (--no-joint), or give --passes N"
        raise ConfigError(message, path=suite.document.path, key="judge_system.evaluation.joint")
    models = tuple(judge.name for judge in spec.judges if judge.is_model)
    if models and len(spec.criteria) > 1:
        yield Note("asked_jointly", {"judges": models})


def calls_of_a_pass(spec: RunSpec, cases: Sequence[RunCase], turns: JudgedTurns) -> dict[str, int]:
    """How many calls one pass of each judge makes, by its name, identical cases not counted out."""
    criteria, counts = spec.criteria_by_id(), dict[str, int]()
    for judge in spec.judges:
        groups: dict[tuple[tuple[str, ...], bool], list[tuple[Criterion, ...]]] = {}
        counts[judge.name] = 0
        for item in cases:
            kind = (item.criteria, item.case.is_conversation)
            if kind not in groups:
                asked = [criteria[key] for key in item.criteria]
                groups[kind] = groups_of(judge, asked, item.case, joint=spec.joint and judge.is_model)
            counts[judge.name] += sum(len(turns.of(item.case.id, group[0])) for group in groups[kind])
    return counts
