"""What a test claims of its answers, as the marker `areopage` states it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from areopage.errors import UserError, name_list
from areopage.testing.share_decisions import CONFIDENCE

WhenUndecided = Literal["skip", "fail", "pass"]
"""What becomes of a test that is not decided."""

_LISTS = ("criteria", "judges", "datasets")
_ALIASES = {"criterion": "criteria", "judge": "judges", "dataset": "datasets"}


class SampleClaim(Struct, frozen=True, kw_only=True):
    """A claim on a sample of answers.

    Args:
        suite: a bundled suite's name, or a suite's folder.
        criteria: which the answers are judged by, as for `--criteria`; none: the suite's selection.
        judges: names of the suite's judges, or references; none: all judges of the suite.
        datasets: files with the cases of the sample; none: those of the suite.
        at_least: the least share of answers that pass each criterion, in (0, 1]; None: no claim on shares.
        confidence: of a failure, in [0.5, 1): an unchanged system that is as good as claimed fails in at most the rest of all
            test runs.
        baseline: no criterion may be worse than in the run that is kept as the test's baseline.
        passes: how often each judge is asked; None: as the suite says.
        language: of the judges' prompts; None: the suite's own.
        undecided: what becomes of the test if it is not decided; None: what the configuration of pytest says.
    """

    suite: str
    criteria: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    datasets: tuple[Path, ...] = ()
    at_least: float | None = None
    confidence: float = CONFIDENCE
    baseline: bool = False
    passes: int | None = None
    language: str | None = None
    undecided: WhenUndecided | None = None

    @property
    def own_confidence(self) -> float:
        """The confidence of each single claim: two of them have half of the chance of a wrong failure each."""
        both = self.baseline and self.at_least is not None
        return 1.0 - (1.0 - self.confidence) / 2.0 if both else self.confidence


def claim_of(
    positional: Sequence[Any], named: Mapping[str, Any], *, suite: str, judges: Sequence[str], folder: Path
) -> SampleClaim:
    """Read the marker of a test.

    Args:
        positional: criteria.
        named: the marker's keywords.
        suite, judges: what holds where the marker names none.
        folder: of the test's file; relative paths of datasets start from there.

    Raises:
        UserError: a keyword is not known, or its value means nothing.
    """
    keywords = {_ALIASES.get(name, name): value for name, value in named.items()}
    if unknown := sorted(set(keywords) - set(SampleClaim.__struct_fields__)):
        raise UserError(f"the marker areopage has no {name_list(unknown)}: use {name_list(SampleClaim.__struct_fields__, 20)}")
    lists = {name: _several(name, keywords.get(name)) for name in _LISTS}
    undecided, baseline, passes = keywords.get("undecided"), keywords.get("baseline", False), keywords.get("passes")
    at_least, confidence = keywords.get("at_least"), keywords.get("confidence", CONFIDENCE)
    if not isinstance(baseline, bool):
        raise UserError(f"baseline={baseline!r:.40}: give True or False")
    if passes is not None and (isinstance(passes, bool) or not isinstance(passes, int) or passes < 1):
        raise UserError(f"passes={passes!r:.40}: give a whole number from 1 on")
    if at_least is not None and (
        isinstance(at_least, bool) or not isinstance(at_least, int | float) or not 0.0 < at_least <= 1.0
    ):
        raise UserError(f"at_least={at_least!r:.40}: give a share greater than 0 and at most 1")
    if not isinstance(confidence, float) or not 0.5 <= confidence < 1.0:
        raise UserError(f"confidence={confidence!r:.40}: give a number from 0.5 to under 1, such as 0.95")
    if undecided is not None and undecided not in get_args(WhenUndecided):
        raise UserError(f"undecided={undecided!r}: use {name_list(get_args(WhenUndecided))}")
    claim = SampleClaim(
        suite=str(keywords.get("suite") or suite),
        criteria=(*map(str, positional), *lists["criteria"]),
        judges=lists["judges"] or tuple(judges),
        datasets=tuple(folder / name for name in lists["datasets"]),
        at_least=None if at_least is None else float(at_least),
        confidence=confidence,
        baseline=baseline,
        passes=passes,
        language=keywords.get("language"),
        undecided=undecided,
    )
    if not claim.suite:
        raise UserError("name a suite: areopage_suite in pytest's configuration, or @pytest.mark.areopage(suite=...)")
    if claim.at_least is None and not claim.baseline:
        raise UserError("the marker areopage claims nothing: give at_least=0.9, baseline=True, or both")
    return claim


def _several(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str | Path):
        return (str(value),)
    if isinstance(value, Sequence) and all(isinstance(item, str | Path) for item in value):
        return tuple(map(str, value))
    raise UserError(f"{name}: give a text or a list of texts, not {value!r:.60}")
