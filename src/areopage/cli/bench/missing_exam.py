"""What the exam takes that the judges of a run lack for the verdict PASS: a part of the run's plan."""

import shlex
from collections.abc import Iterator, Mapping

from areopage.bench import RunSpec, release_judges
from areopage.cli.asking import told_size
from areopage.errors import UserError, counted, name_list
from areopage.extensions import required
from areopage.jury import CallSize
from areopage.ledger import Ledger, exam_words, standings
from areopage.scoring import Lack, ReleaseJudge
from areopage.suites import BUNDLED, Suite, gold_criteria

_EXAMINED: Mapping[Lack, str] = {
    "not_qualified": "failed the exam",
    "undecided": "had too few gold rows or passes in the exam to tell",
}


def missing_exam_lines(suite: Suite, spec: RunSpec, ledger: Ledger | None, place: tuple[str, ...]) -> Iterator[str]:
    """Lines on the judges that are not qualified on the criteria that decide the verdict; `place` names the ledger in options."""
    if spec.release is None:
        return
    current = (
        standings(spec.judges, spec.criteria, {}, joint=spec.joint)
        if ledger is None
        else ledger.qualifications.standings(spec.judges, spec.criteria, joint=spec.joint)
    )
    lacking = list(ReleaseJudge.lacking(tuple(release_judges(spec, current)), spec.release.deciding(spec.criteria)))
    for gap in lacking:
        if gap.lack in _EXAMINED:
            yield f"no run can pass: {name_list(gap.judges)} {_EXAMINED[gap.lack]} on criteria of the release floors"
    wanted = dict.fromkeys(name for gap in lacking if gap.lack not in _EXAMINED for name in gap.judges)
    judges = [judge for judge in spec.judges if judge.name in wanted]
    if not judges:
        return
    named = name_list(judge.name for judge in judges)
    accepted = spec.release.unexamined == "accept"
    result = 'a run passes at best as "PASS, judges not examined"' if accepted else "no run can pass"
    yield f"{result}: {named} not examined on criteria of the release floors"
    if not gold_criteria(suite):
        yield "  the suite has no gold set, so its judges cannot be examined: see docs/reference/suites.md, The gold set"
        return
    asked = [judge for judge in judges if judge.reference.provider != "replay"]
    if not asked:
        return
    references = [(judge.name, str(judge.reference)) for judge in asked]
    try:
        size: CallSize = required("runs", "exam", "examining judges")(suite, references, joint=spec.joint)
    except UserError as fault:
        yield f"  the exam cannot be planned: {fault}"
        return
    amount = told_size(size.prompt_tokens, size.completion_tokens, size.costs)
    yield f"  the exam takes at most {counted(size.calls, 'call')}, {amount}; once for all runs of these judges:"
    folder = suite.name if suite.folder.parent == BUNDLED else str(suite.folder)
    yield f"  {shlex.join([*exam_words(folder, references, joint=spec.joint, floors=True), *place])}"
