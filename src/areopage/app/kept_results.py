"""Compare the figures of a results.json that was kept with those of the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from areopage.bench import RunView, record_results, run_result, view_run
from areopage.errors import UnknownRun
from areopage.ledger import Ledger
from areopage.scoring import Release, Verdict

_RUN = ("final_aggregate_score", "category_scores", "subcategory_scores", "detailed_criteria")
_RECORD = ("final_aggregate_score", "category_scores", "subcategory_scores", "detailed_criteria")
_METADATA = ("complete", "failures", "coverage")
_PASSED_OVER = {
    *("explanations", "evidence", "reason", "explanation", "evidence_extracts", "raw_response", "repair_response"),
    *("standing", "mapped", "calibrated"),
}
"""Texts, which may be erased, and what later exams and calibrations say."""
MOST_NAMED = 20
"""How many figures of a file are named that differ."""


def results_in(path: Path) -> dict[str, Any] | None:
    """The content of a results.json; None for any other file."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == "areopage/results/1" else None


def figure_differences(ledger: Ledger, results: Mapping[str, Any]) -> Iterator[str] | None:
    """Name the figures of a results.json that are not those that the ledger comes to; None where they cannot be compared.

    Compared are the release verdict, the scores of run and cases, and failures. Texts and what depends on later exams, labels and
    runs are not. Files of `bench rescore` hold other scores on purpose.
    """
    metadata = _member(results, "run", "metadata")
    run_id = _member(metadata, "run_id")
    if not isinstance(run_id, str) or _member(metadata, "variant"):
        return None
    try:
        run = next(one for one in ledger.runs() if one.id == run_id)
    except (StopIteration, UnknownRun):
        return iter([f"run {run_id}: the ledger does not hold it"])
    return _differences(view_run(run, ledger), results)


def _differences(view: RunView, results: Mapping[str, Any]) -> Iterator[str]:
    verdicts = _verdicts(view)
    verdict = _member(results, "release", "verdict") or "none"
    if verdict not in verdicts:
        yield f"release.verdict: {verdict}; the ledger: {' or '.join(verdicts)}"
    run = _as_json(run_result(view))
    yield from _compared("run", _picked(results.get("run"), _RUN), _picked(run, _RUN))
    metadata = _picked(_member(results, "run", "metadata"), _METADATA)
    yield from _compared("run.metadata", metadata, _picked(run["metadata"], _METADATA))
    records = results.get("records")
    pairs = zip_longest(records if isinstance(records, list) else (), record_results(view))
    for number, (held, record) in enumerate(pairs):
        computed = None if record is None else _picked(_as_json(record), _RECORD)
        yield from _compared(f"records[{number}]", _picked(held, _RECORD), computed)


def _verdicts(view: RunView) -> tuple[str, ...]:
    """The verdicts that a file of the run can hold: that of now, and those of before or after exams of its judges.

    Before its judges were examined a run was INCONCLUSIVE. Where a judge was never examined, no file ever held a verdict that
    rests on its exam.
    """
    release, by_scores = view.release, view.scores_release
    if release is None or by_scores is None:
        return ("none",)
    if by_scores.verdict not in Release.PASSES:
        return (release.verdict,)
    examined = all(standing.state != "never_examined" for standing in view.standings)
    accepts = view.spec.release is not None and view.spec.release.unexamined == "accept"
    passed: tuple[Verdict, ...] = ("PASS", Release.PROVISIONAL) if examined else ()
    passed += (Release.UNEXAMINED,) if accepts else ()
    if by_scores.verdict in Release.WITH_UNREAD.values():
        passed = tuple(Release.WITH_UNREAD[one] for one in passed)
    others: tuple[Verdict, ...] = ("INCONCLUSIVE", *passed)
    return tuple(dict.fromkeys((release.verdict, *others)))


def _as_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _picked(value: Any, names: Sequence[str]) -> Any:
    return {name: value.get(name) for name in names} if isinstance(value, dict) else None


def _member(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _compared(place: str, held: Any, computed: Any) -> Iterator[str]:
    """The values that differ, by their places."""
    if isinstance(computed, dict) and isinstance(held, dict):
        for name in dict.fromkeys((*computed, *held)):
            if name in _PASSED_OVER:
                continue
            yield from _compared(f"{place}.{name}", held.get(name), computed.get(name))
    elif isinstance(computed, list) and isinstance(held, list):
        for number, (mine, theirs) in enumerate(zip_longest(held, computed)):
            yield from _compared(f"{place}[{number}]", mine, theirs)
    elif held != computed:
        yield f"{place}: {_shown(held)}; the ledger: {_shown(computed)}"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)[:60]
